"""The originals of documents as sealed bytes, for collections that keep them.

The store never opens them. A row goes with its document, in the same transaction. All functions work inside
the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SCHEMA = (
    """
    CREATE TABLE IF NOT EXISTS vault (
        doc_id TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
        key_id TEXT NOT NULL,
        sealed BLOB NOT NULL
    ) STRICT
    """,
    "CREATE INDEX IF NOT EXISTS vault_of_key ON vault (key_id)",
)
"""Statements that make it."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """An original that only the key of this id opens."""

    key_id: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SealedOriginal:
    """A document's original, None if it has none, the keyed digest of its text, its other ids and readers."""

    doc_id: str
    aliases: Sequence[str] = field(repr=False)
    readers: frozenset[str] = field(repr=False)
    content_key: bytes = field(repr=False)
    sealed: Sealed | None


def keep(connection: sqlite3.Connection, doc_id: str, sealed: Sealed) -> None:
    """Write the original of a document that is there."""
    row = (doc_id, sealed.key_id, sealed.content)
    connection.execute("INSERT OR REPLACE INTO vault VALUES (?, ?, ?)", row)


def original(connection: sqlite3.Connection, doc_id: str) -> SealedOriginal | None:
    """The original of the document with this id; None if there is no such document."""
    found = _select(connection, "WHERE d.doc_id = ?", (doc_id,))
    return next(found, None)


def originals(
    connection: sqlite3.Connection, after: str, count: int, but_under: str | None = None
) -> list[SealedOriginal]:
    """The first originals with ids above ``after``, in their order; if asked, those not under one key."""
    which = "WHERE v.doc_id > ? AND v.key_id IS NOT ? ORDER BY v.doc_id LIMIT ?"
    return list(_select(connection, which, (after, but_under, count)))


def _select(connection: sqlite3.Connection, which: str, values: Sequence[object]) -> Iterator[SealedOriginal]:
    query = (
        "SELECT d.doc_id, (SELECT json_group_array(alias) FROM aliases a WHERE a.doc_id = d.doc_id), "
        "(SELECT json_group_array(name) FROM readers r WHERE r.doc_id = d.doc_id), "
        f"d.content_key, v.key_id, v.sealed FROM documents d LEFT JOIN vault v USING (doc_id) {which}"
    )
    for doc_id, aliases, readers, content_key, key_id, content in connection.execute(query, values):
        sealed = None if key_id is None else Sealed(key_id, content)
        names = sorted(json.loads(aliases))
        yield SealedOriginal(doc_id, names, frozenset(json.loads(readers)), content_key, sealed)


def count_by_key(connection: sqlite3.Connection) -> dict[str, int]:
    """The number of originals under each key."""
    return dict(connection.execute("SELECT key_id, count(*) FROM vault GROUP BY key_id ORDER BY key_id"))


def reseal(connection: sqlite3.Connection, doc_id: str, before: Sealed, after: Sealed) -> None:
    """Put an original under another key, unless its document was replaced meanwhile."""
    connection.execute(
        "UPDATE vault SET key_id = ?, sealed = ? WHERE doc_id = ? AND sealed = ?",
        (after.key_id, after.content, doc_id, before.content),
    )
