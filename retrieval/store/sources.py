"""The sources of stored ids: files and folders in a tree, by keyed digests of their paths.

An id may come from several files. All functions work inside the caller's transaction.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from ingest.documents import Source

_BELOW = """
    WITH RECURSIVE below(key) AS (
        SELECT key FROM asked WHERE key NOT IN (SELECT key FROM failed)
        UNION
        SELECT source_key FROM sources JOIN below ON folder_key = below.key
        WHERE source_key NOT IN (SELECT key FROM failed)
    )
"""


def note_origin(connection: sqlite3.Connection, job_id: int, doc_id: str, source: Source | None) -> None:
    """Record that a run found an id in a file, and the place of the file in the tree."""
    if source is None:
        return
    chain = (source.key, *source.folders)
    for key, folder in zip(chain, (*source.folders, None), strict=True):
        if not connection.execute("INSERT OR IGNORE INTO sources VALUES (?, ?)", (key, folder)).rowcount:
            break  # what is above it is there as well
    connection.execute("INSERT OR REPLACE INTO origins VALUES (?, ?, ?)", (doc_id, source.key, job_id))


def comes_from_elsewhere(connection: sqlite3.Connection, doc_id: str, source: Source | None) -> bool:
    """Whether an id is known from files other than this one."""
    query = "SELECT count(*), total(source_key = ?) FROM origins WHERE id = ?"
    known, same = connection.execute(query, (source.key if source else None, doc_id)).fetchone()
    return bool(known and not same)


def forget_origins(connection: sqlite3.Connection, doc_ids: Sequence[str]) -> None:
    """Remove the origins of ids; files without ids and empty folders leave the tree."""
    for doc_id in doc_ids:
        removed = "DELETE FROM origins WHERE id = ? RETURNING source_key"
        _prune(connection, [key for (key,) in connection.execute(removed, (doc_id,)).fetchall()])


def ids_from(connection: sqlite3.Connection, source: bytes, *, below: bool) -> list[str]:
    """Ids that come from a file; or, if ``below``, from a file or from below a folder."""
    if not below:
        query = "SELECT id FROM origins WHERE source_key = ? ORDER BY id"
        return [doc_id for (doc_id,) in connection.execute(query, (source,))]
    _tables(connection, asked=[source], failed=())
    query = (
        f"{_BELOW} SELECT DISTINCT id FROM origins WHERE source_key IN (SELECT key FROM below) ORDER BY id"
    )
    return [doc_id for (doc_id,) in connection.execute(query)]


def lost(
    connection: sqlite3.Connection,
    job_id: int,
    folders: Sequence[bytes],
    present: Iterable[bytes],
    failed: Iterable[bytes],
) -> tuple[list[str], int]:
    """Ids from below some folders that a run over all of these did not find again.

    ``present`` are the existing files, ``failed`` the files and folders that could not be read completely:
    ids from these are not lost, and their number is the second value. Obsolete origins of ids are removed.
    """
    _tables(connection, asked=folders, present=present, failed=failed)
    query = (
        f"{_BELOW} SELECT id, source_key FROM origins WHERE source_key IN (SELECT key FROM below) "
        "AND (job_id <> ? OR source_key NOT IN (SELECT key FROM present))"
    )
    stale = connection.execute(query, (job_id,)).fetchall()
    connection.executemany("DELETE FROM origins WHERE id = ? AND source_key = ?", stale)
    still = "SELECT EXISTS (SELECT 1 FROM origins WHERE id = ?)"
    ids = sorted({doc_id for doc_id, _ in stale})
    gone = [doc_id for doc_id in ids if not connection.execute(still, (doc_id,)).fetchone()[0]]
    _prune(connection, [key for _, key in stale])
    return gone, _unsure(connection, job_id)


def _unsure(connection: sqlite3.Connection, job_id: int) -> int:
    """The number of ids from failed places, or from below them, that were not found."""
    query = """
        WITH RECURSIVE below(key) AS (
            SELECT key FROM failed
            UNION SELECT source_key FROM sources JOIN below ON folder_key = below.key
        )
        SELECT count(DISTINCT id) FROM origins WHERE source_key IN (SELECT key FROM below) AND job_id <> ?
    """
    return int(connection.execute(query, (job_id,)).fetchone()[0])


def _tables(connection: sqlite3.Connection, **keys: Iterable[bytes]) -> None:
    """Lists of keys as temporary tables, since they may be too long for parameters."""
    for table, each in keys.items():
        connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (key BLOB PRIMARY KEY) WITHOUT ROWID")
        connection.execute(f"DELETE FROM {table}")
        connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?)", ((key,) for key in each))


def _prune(connection: sqlite3.Connection, keys: Iterable[bytes | None]) -> None:
    for key in set(keys):
        while key is not None and not _holds_something(connection, key):
            connection.execute("DELETE FROM quarantine WHERE source_key = ?", (key,))
            row = connection.execute(
                "DELETE FROM sources WHERE source_key = ? RETURNING folder_key", (key,)
            ).fetchone()
            key = row[0] if row else None


def _holds_something(connection: sqlite3.Connection, key: bytes) -> bool:
    query = (
        "SELECT EXISTS (SELECT 1 FROM origins WHERE source_key = :key) "
        "OR EXISTS (SELECT 1 FROM sources WHERE folder_key = :key)"
    )
    return bool(connection.execute(query, {"key": key}).fetchone()[0])
