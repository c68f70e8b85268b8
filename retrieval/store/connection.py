"""The database file of a store: creation, version check, and readable errors."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

import numpy as np

from retrieval.errors import DISK_FULL, CollectionError
from retrieval.store.chain import AUDIT_LOG
from retrieval.store.words import open_views

SCHEMA_VERSION = 12
_STEPS = {
    5: ("CREATE TABLE quarantine (source_key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID",),
    6: (
        """
        CREATE TABLE IF NOT EXISTS vault (
            doc_id TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
            key_id TEXT NOT NULL,
            sealed BLOB NOT NULL
        ) STRICT
        """,
        "CREATE INDEX IF NOT EXISTS vault_of_key ON vault (key_id)",
    ),
    7: (
        """
        CREATE TABLE kept_metadata (
            doc_id TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
            content TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
    ),
    # A file of vectors in single precision is not used any more: it is made again from these.
    8: (
        "UPDATE passages SET vector = half(vector)",
        """DELETE FROM meta WHERE name = 'index' AND value LIKE '%"sha256"%'""",
    ),
    9: ("ALTER TABLE passages ADD COLUMN units BLOB NOT NULL DEFAULT x''",),
    10: (
        """
        CREATE TABLE IF NOT EXISTS readers (
            doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
            name TEXT NOT NULL,
            PRIMARY KEY (doc_id, name)
        ) STRICT, WITHOUT ROWID
        """,
    ),
    # Sentences are read with the question, so they have no vectors.
    11: ("ALTER TABLE passages DROP COLUMN units",),
    12: (
        """
        CREATE TABLE reviewed (
            doc_id TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
            at TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
    ),
}
"""The statements that make each version out of the one before it."""
_OLDEST = min(_STEPS) - 1
_SCHEMA = Path(__file__).with_name("schema.sql")
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON")


def in_memory() -> sqlite3.Connection:
    """A new database that nothing is written of."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _make(connection)
    open_views(connection)
    return connection


def create_database(path: Path) -> None:
    """Make the file, or take the one that a killed creation left, which holds nothing yet.

    Raises CollectionError if there are documents in it, or it cannot be written.
    """
    # Made before SQLite makes it, which would let others read it; its log and index take its mode.
    with readable_errors(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    with readable_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        _make(connection)
        _check_version(connection, path)
        if connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone():
            raise CollectionError(
                f"{path.parent}: there are documents here, but manifest.json is missing. Restore it from a "
                "backup, or delete the folder and ingest again."
            )


def open_database(path: Path) -> sqlite3.Connection:
    """The database at ``path``, made over to this version if an older one wrote it.

    Raises CollectionError if it is missing, or its version is newer or too old.
    """
    if not path.is_file():
        raise CollectionError(f"{path.parent}: {_MISSING}")
    # Never made here: what a reader makes beside a writer would be an empty collection.
    place = f"{path.absolute().as_uri()}?mode=rw"
    with readable_errors(path):
        connection = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
        try:
            _check_version(connection, path)
            _set_up(connection)
            _make_over(connection)
            open_views(connection)
        except BaseException:
            connection.close()
            raise
        return connection


_MISSING = (
    "the database collection.db is missing or empty. Restore it from a backup, or delete the folder and "
    "ingest again."
)


def _make(connection: sqlite3.Connection) -> None:
    _set_up(connection)
    with transaction(connection):
        # Checked inside the transaction: another process may have created it meanwhile.
        if _version(connection) == 0:
            written = _statements(_SCHEMA.read_text(encoding="utf-8"))
            for statement in (*written, AUDIT_LOG.schema, *_STEPS[6], *_STEPS[10]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _make_over(connection: sqlite3.Connection) -> None:
    """Whole or not at all, so a kill leaves the version that was there."""
    if _version(connection) == SCHEMA_VERSION:
        return
    connection.create_function("half", 1, lambda row: np.frombuffer(row, "f4").astype("f2").tobytes())
    with transaction(connection):
        # Looked at again: another process may have done it meanwhile.
        for version in range(_version(connection) + 1, SCHEMA_VERSION + 1):
            for statement in _STEPS[version]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {version}")


@contextmanager
def transaction(
    connection: sqlite3.Connection, kind: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE"
) -> Iterator[None]:
    """All that is written in the block, or nothing."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _set_up(connection: sqlite3.Connection) -> None:
    # SQLite itself knows the small letters of plain Latin alone.
    connection.create_function("folded", 1, str.casefold, deterministic=True)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)
    if version == 0:
        raise CollectionError(f"{path.parent}: {_MISSING}")
    if version > SCHEMA_VERSION:
        raise CollectionError(
            f"{path.parent}: written by a newer Lethe (database version {version}, this one reads "
            f"{SCHEMA_VERSION}). Use that version, or ingest into a new collection."
        )
    if version < _OLDEST:
        raise CollectionError(
            f"{path.parent}: written by an older Lethe (database version {version}, this one reads "
            f"{_OLDEST} to {SCHEMA_VERSION}). Ingest the documents again into a new collection."
        )


def _statements(script: str) -> Iterator[str]:
    """One at a time, since ``executescript`` would end the transaction it is called in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def readable_errors(path: Path | None) -> Iterator[None]:
    """Translate SQLite errors into one sentence with the folder and a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        where = "memory" if path is None else str(path.parent)
        raise CollectionError(f"{where}: {_remedy(error)}") from None


def _remedy(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if name in {"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_SHMSIZE"}:
        return DISK_FULL
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "another process is writing to this collection. Wait for it to end, then try again."
    if name in {"SQLITE_CORRUPT", "SQLITE_NOTADB"}:
        return "the database is damaged. Restore it from a backup, or delete the collection and ingest again."
    return f"the database answered {name}. Check that the folder exists and can be written."
