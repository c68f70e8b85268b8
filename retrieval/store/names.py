"""The ids of a stored text. Its document has one of them; the others are aliases.

Every id names one text, and a text is kept as long as it has an id. All functions work inside the
caller's transaction.
"""

import sqlite3
from collections.abc import Sequence

from ingest.documents import Arrival, Standing
from retrieval.store.readers import names_any
from retrieval.store.sources import comes_from_elsewhere, forget_origins, note_origin

FRESH = (Standing.NEW, Standing.CHANGED, Standing.TAKEN)


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
        if standings[-1] in FRESH:
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
    if named and not arrival.readers and names_any(connection, named[0]):
        return Standing.CLOSED
    if not same_text:
        if not named:
            return Standing.NEW
        elsewhere = comes_from_elsewhere(connection, arrival.doc_id, arrival.source)
        return Standing.TAKEN if elsewhere else Standing.CHANGED
    if named and named[:1] == same_text:
        seen = {"job": job_id, "id": arrival.doc_id}
        connection.execute("UPDATE documents SET job_id = :job WHERE doc_id = :id", seen)
        connection.execute("UPDATE aliases SET job_id = :job WHERE alias = :id", seen)
    else:
        release(connection, arrival.doc_id)
        row = (arrival.doc_id, same_text[0], job_id)
        connection.execute("INSERT INTO aliases VALUES (?, ?, ?)", row)
    note_origin(connection, job_id, arrival.doc_id, arrival.source)
    return Standing.DUPLICATE


def release(connection: sqlite3.Connection, doc_id: str) -> None:
    """Remove an id. A text with another id is kept under that one."""
    forget_origins(connection, [doc_id])
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
