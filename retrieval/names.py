"""Which ids a kept text goes by. Its document has one of them; each of the others is an alias of it.

Every id names one text, and a text is kept as long as an id names it. All functions work inside the
caller's transaction.
"""

import sqlite3
from collections.abc import Sequence

from ingest.protocols import Arrival, Standing

FRESH = (Standing.NEW, Standing.CHANGED)


def standing_of_first(
    connection: sqlite3.Connection, job_id: int, arrivals: Sequence[Arrival]
) -> list[Standing]:
    """The standing of as many of the first as can be told before any of them is kept, at least one.

    What shares its id or its text with one that is yet to be kept has to wait for the outcome.
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
    if not same_text:
        return Standing.CHANGED if named else Standing.NEW
    if named and named[:1] == same_text:
        seen = {"job": job_id, "id": arrival.doc_id}
        connection.execute("UPDATE documents SET job_id = :job WHERE doc_id = :id", seen)
        connection.execute("UPDATE aliases SET job_id = :job WHERE alias = :id", seen)
    else:
        release(connection, arrival.doc_id)
        row = (arrival.doc_id, same_text[0], job_id)
        connection.execute("INSERT INTO aliases VALUES (?, ?, ?)", row)
    return Standing.DUPLICATE


def release(connection: sqlite3.Connection, doc_id: str) -> None:
    """Let an id name nothing. A text that still has another id lives on under that one."""
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
