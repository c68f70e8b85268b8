"""Rows of a collection: the ids of texts, the files that they come from, and what is being erased.

Every id names one text, which is kept as long as it has an id: its document has one, the others are aliases.
An id may come from several files; these and the folders above them are known by keyed digests of their paths.
All functions work inside the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.documents import Arrival, Source, Standing
from retrieval.store.chain import AUDIT_LOG

_BELOW = """
    WITH RECURSIVE below(key) AS (
        SELECT key FROM {start}
        UNION
        SELECT source_key FROM sources JOIN below ON folder_key = below.key {but}
    )
"""
_BELOW_FAILED = _BELOW.format(start="failed", but="")
_BELOW_ASKED = _BELOW.format(
    start="asked WHERE key NOT IN (SELECT key FROM failed)",
    but="WHERE source_key NOT IN (SELECT key FROM failed)",
)
_BEGINNING = 64
"""How many bytes of a vector or a sealed original are searched for in files; of words 48 characters."""


def standing_of_first(
    connection: sqlite3.Connection, job_id: int, arrivals: Sequence[Arrival]
) -> list[Standing]:
    """The standing of the longest prefix that can be decided before any of them is stored, at least one.

    An arrival that shares its id or text with a pending one has to wait for its outcome.
    """
    waiting: set[str | bytes] = set()
    standings: list[Standing] = []
    for arrival in arrivals:
        if waiting & {arrival.doc_id, arrival.content_key}:
            break
        standings.append(_standing(connection, job_id, arrival))
        if standings[-1] in (Standing.NEW, Standing.CHANGED, Standing.TAKEN):
            waiting |= {arrival.doc_id, arrival.content_key}
    return standings


def _standing(connection: sqlite3.Connection, job_id: int, arrival: Arrival) -> Standing:
    named = connection.execute(
        "SELECT doc_id, job_id FROM documents WHERE doc_id = :id "
        "UNION ALL SELECT doc_id, job_id FROM aliases WHERE alias = :id",
        {"id": arrival.doc_id},
    ).fetchone()
    by_text = "SELECT doc_id FROM documents WHERE content_key = ?"
    same_text = connection.execute(by_text, (arrival.content_key,)).fetchone()
    if named and named[1] == job_id and named[:1] != same_text:
        return Standing.CLASH
    for_some = "SELECT 1 FROM readers WHERE doc_id = ? LIMIT 1"
    if named and not arrival.readers and connection.execute(for_some, named[:1]).fetchone():
        return Standing.CLOSED
    if not same_text:
        if not named:
            return Standing.NEW
        # Taken over, if the id is known from other files only.
        query = "SELECT count(*), total(source_key = ?) FROM origins WHERE id = ?"
        source = arrival.source.key if arrival.source else None
        known, same = connection.execute(query, (source, arrival.doc_id)).fetchone()
        return Standing.TAKEN if known and not same else Standing.CHANGED
    if named and named[:1] == same_text:
        seen = {"job": job_id, "id": arrival.doc_id}
        connection.execute("UPDATE documents SET job_id = :job WHERE doc_id = :id", seen)
        connection.execute("UPDATE aliases SET job_id = :job WHERE alias = :id", seen)
    else:
        release(connection, arrival.doc_id)
        row = (arrival.doc_id, same_text[0], job_id)
        connection.execute("INSERT INTO aliases VALUES (?, ?, ?)", row)
    note_origin(connection, job_id, arrival.doc_id, arrival.source)
    return Standing.MOVED if named and named[:1] != same_text else Standing.DUPLICATE


def release(connection: sqlite3.Connection, doc_id: str) -> None:
    """Remove an id. A text with another id is kept under that one."""
    _forget_origins(connection, [doc_id])
    if connection.execute("DELETE FROM aliases WHERE alias = ?", (doc_id,)).rowcount:
        return
    heirs = "SELECT alias, job_id FROM aliases WHERE doc_id = ? ORDER BY job_id DESC, alias LIMIT 1"
    heir = connection.execute(heirs, (doc_id,)).fetchone()
    if heir is None:
        connection.execute("DELETE FROM documents WHERE doc_id = ?", (doc_id,))
        return
    connection.execute("DELETE FROM aliases WHERE alias = ?", heir[:1])
    connection.execute("UPDATE documents SET doc_id = ?, job_id = ? WHERE doc_id = ?", (*heir, doc_id))


def all_names(connection: sqlite3.Connection, doc_id: str) -> list[str]:
    """Every id of the text that ``doc_id`` names, its document's own first; empty if it names none."""
    found = connection.execute(
        "SELECT doc_id FROM documents WHERE doc_id = :id "
        "UNION ALL SELECT doc_id FROM aliases WHERE alias = :id",
        {"id": doc_id},
    ).fetchone()
    if found is None:
        return []
    aliases = "SELECT alias FROM aliases WHERE doc_id = ? ORDER BY alias"
    return [found[0], *(alias for (alias,) in connection.execute(aliases, found))]


def note_origin(connection: sqlite3.Connection, job_id: int, doc_id: str, source: Source | None) -> None:
    """Record that a run found an id in a file, and the place of the file in the tree."""
    if source is None:
        return
    chain = (source.key, *source.folders)
    for key, folder in zip(chain, (*source.folders, None), strict=True):
        if not connection.execute("INSERT OR IGNORE INTO sources VALUES (?, ?)", (key, folder)).rowcount:
            break  # what is above it is there as well
    connection.execute("INSERT OR REPLACE INTO origins VALUES (?, ?, ?)", (doc_id, source.key, job_id))


def ids_from(connection: sqlite3.Connection, source: bytes, *, below: bool) -> list[str]:
    """Ids that come from a file; or, if ``below``, from a file or from below a folder."""
    _fill(connection, asked=[source], failed=())
    places = f"{_BELOW_ASKED} SELECT key FROM below" if below else "SELECT key FROM asked"
    query = f"SELECT DISTINCT id FROM origins WHERE source_key IN ({places}) ORDER BY id"
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
    _fill(connection, asked=folders, present=present, failed=failed)
    query = (
        f"{_BELOW_ASKED} SELECT id, source_key FROM origins WHERE source_key IN (SELECT key FROM below) "
        "AND (job_id <> ? OR source_key NOT IN (SELECT key FROM present))"
    )
    stale = connection.execute(query, (job_id,)).fetchall()
    connection.executemany("DELETE FROM origins WHERE id = ? AND source_key = ?", stale)
    still = "SELECT EXISTS (SELECT 1 FROM origins WHERE id = ?)"
    ids = sorted({doc_id for doc_id, _ in stale})
    gone = [doc_id for doc_id in ids if not connection.execute(still, (doc_id,)).fetchone()[0]]
    _prune(connection, [key for _, key in stale])
    query = (
        f"{_BELOW_FAILED} SELECT count(DISTINCT id) FROM origins WHERE source_key IN (SELECT key FROM below) "
        "AND job_id <> ?"
    )
    return gone, int(connection.execute(query, (job_id,)).fetchone()[0])


def _fill(connection: sqlite3.Connection, **keys: Iterable[bytes]) -> None:
    """Lists of keys as temporary tables, since they may be too long for parameters."""
    for table, each in keys.items():
        connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (key BLOB PRIMARY KEY) WITHOUT ROWID")
        connection.execute(f"DELETE FROM {table}")
        connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?)", ((key,) for key in each))


def _forget_origins(connection: sqlite3.Connection, doc_ids: Sequence[str]) -> None:
    removed = "DELETE FROM origins WHERE id = ? RETURNING source_key"
    for doc_id in doc_ids:
        _prune(connection, [key for (key,) in connection.execute(removed, (doc_id,)).fetchall()])


def _prune(connection: sqlite3.Connection, keys: Iterable[bytes | None]) -> None:
    """Take files without ids and empty folders out of the tree."""
    used = (
        "SELECT 1 FROM origins WHERE source_key = :key UNION ALL "
        "SELECT 1 FROM sources WHERE folder_key = :key LIMIT 1"
    )
    removed = "DELETE FROM sources WHERE source_key = ? RETURNING folder_key"
    for key in set(keys):
        while key is not None and not connection.execute(used, {"key": key}).fetchone():
            connection.execute("DELETE FROM quarantine WHERE source_key = ?", (key,))
            row = connection.execute(removed, (key,)).fetchone()
            key = row[0] if row else None


@dataclass(frozen=True, slots=True)
class PendingErasure:
    """An erasure that is begun and not done; ``names`` are all ids of the document, its own first.

    ``traces`` are bytes to search for in files, the beginnings of passages, vectors and a sealed original,
    with the words that they are, "" for none. They are recorded nowhere: None if another process began it.
    """

    names: Sequence[str] = field(repr=False)
    passage_ids: Sequence[int]
    ledger_rows: int
    traces: Mapping[bytes, str] | None = field(default=None, repr=False)


def take_out(connection: sqlite3.Connection, doc_id: str) -> PendingErasure | None:
    """Remove the document that ``doc_id`` names, and record that as pending; None if there is none.

    The record goes when the erasure is done, so that the next writing process finishes an interrupted one.
    """
    ids = all_names(connection, doc_id)
    if not ids:
        return None
    begun = f"passage_id, substr(text, 1, 48), substr(vector, 1, {_BEGINNING})"
    rows = connection.execute(f"SELECT {begun} FROM passages WHERE doc_id = ?", ids[:1]).fetchall()
    (ledger_rows,) = connection.execute("SELECT count(*) FROM ledger WHERE doc_id = ?", ids[:1]).fetchone()
    vault = f"SELECT substr(sealed, 1, {_BEGINNING}) FROM vault WHERE doc_id = ?"
    sealed = [content for (content,) in connection.execute(vault, ids[:1])]
    connection.execute("DELETE FROM documents WHERE doc_id = ?", ids[:1])
    _forget_origins(connection, ids)
    numbers = [number for number, _, _ in rows]
    row = (ids[0], json.dumps(ids), json.dumps(numbers), ledger_rows)
    connection.execute("INSERT INTO erasing VALUES (?, ?, ?, ?)", row)
    AUDIT_LOG.append(connection, {"erased": ids[0], "also": ids[1:], "passages": len(rows)})
    traces = dict.fromkeys([*(vector for _, _, vector in rows), *sealed], "")
    traces |= {words.strip().encode(): words.strip() for _, words, _ in rows if words.strip()}
    return PendingErasure(ids, numbers, ledger_rows, traces)
