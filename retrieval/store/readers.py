"""The groups that may read a document. One without any is for everybody.

All functions work inside the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Iterable

SCHEMA = """
    CREATE TABLE IF NOT EXISTS readers (
        doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
        name TEXT NOT NULL,
        PRIMARY KEY (doc_id, name)
    ) STRICT, WITHOUT ROWID
"""
READABLE = """(
    :groups IS NULL
    OR doc_id NOT IN (SELECT doc_id FROM readers)
    OR doc_id IN (SELECT doc_id FROM readers WHERE name IN (SELECT value FROM json_each(:groups)))
)"""
"""The condition of a query for what a reader may read, with ``asked`` among its values."""

Groups = frozenset[str] | None
"""Those of a reader; None reads everything, and without any it is what is for everybody."""


def asked(groups: Groups) -> dict[str, str | None]:
    """The value that ``READABLE`` needs."""
    return {"groups": None if groups is None else json.dumps(sorted(groups))}


def names_any(connection: sqlite3.Connection, doc_id: str) -> bool:
    """Whether a document is for some readers only."""
    found = connection.execute("SELECT 1 FROM readers WHERE doc_id = ? LIMIT 1", (doc_id,))
    return found.fetchone() is not None


def note(connection: sqlite3.Connection, doc_id: str, readers: Iterable[str]) -> None:
    """Write the readers of a document that is new."""
    connection.executemany("INSERT INTO readers VALUES (?, ?)", [(doc_id, name) for name in sorted(readers)])
