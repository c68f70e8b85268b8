"""Remove a document from the database, and search the files for traces of it.

An erasure is recorded in the transaction that removes the rows, and deleted when done, so the next writing
process finishes an interrupted one. Only passage ids are recorded: the text exists only in the process that
began the erasure.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from retrieval.store import names, vault
from retrieval.store.chain import AUDIT_LOG
from retrieval.store.sources import forget_origins

_FINGERPRINT_CHARACTERS = 48
_FINGERPRINT_BYTES = 64
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class PendingErasure:
    """A pending erasure; ``names`` are all ids of the document, its own first."""

    names: Sequence[str] = field(repr=False)
    passage_ids: Sequence[int]
    ledger_rows: int


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """First bytes to search for in files: of a passage's text, and of what is kept of it as bytes.

    ``content`` is the beginning of its vector, or of a sealed original.
    """

    words: str = field(repr=False)
    content: Sequence[bytes] = field(repr=False)


def take_out(connection: sqlite3.Connection, doc_id: str) -> tuple[PendingErasure, list[Fingerprint]] | None:
    """Remove the document that ``doc_id`` names, note it as pending; None if there is none."""
    ids = names.all_names(connection, doc_id)
    if not ids:
        return None
    query = (
        f"SELECT passage_id, substr(text, 1, {_FINGERPRINT_CHARACTERS}), "
        f"substr(vector, 1, {_FINGERPRINT_BYTES}) FROM passages WHERE doc_id = ?"
    )
    rows = connection.execute(query, ids[:1]).fetchall()
    (ledger_rows,) = connection.execute("SELECT count(*) FROM ledger WHERE doc_id = ?", ids[:1]).fetchone()
    original = vault.original(connection, ids[0])
    connection.execute("DELETE FROM documents WHERE doc_id = ?", ids[:1])
    forget_origins(connection, ids)
    pending = PendingErasure(ids, [row[0] for row in rows], ledger_rows)
    connection.execute("INSERT INTO erasing VALUES (?, ?, ?, ?)", _row_of(pending))
    AUDIT_LOG.append(connection, {"erased": ids[0], "also": ids[1:], "passages": len(rows)})
    fingerprints = [Fingerprint(words.strip(), [vector]) for _, words, vector in rows]
    if original and original.sealed:
        fingerprints.append(Fingerprint("", [original.sealed.content[:_FINGERPRINT_BYTES]]))
    return pending, fingerprints


def pending_erasures(connection: sqlite3.Connection) -> list[PendingErasure]:
    """What was begun and is not done, in the order of the ids."""
    rows = connection.execute("SELECT names, passage_ids, ledger_rows FROM erasing ORDER BY doc_id")
    return [PendingErasure(json.loads(ids), json.loads(numbers), count) for ids, numbers, count in rows]


def strike_out(connection: sqlite3.Connection, pending: PendingErasure) -> None:
    """Note that an erasure is done."""
    connection.execute("DELETE FROM erasing WHERE doc_id = ?", pending.names[:1])
    AUDIT_LOG.append(connection, {"erasure_completed": pending.names[0]})


def _row_of(pending: PendingErasure) -> tuple[object, ...]:
    ids, numbers = json.dumps(list(pending.names)), json.dumps(list(pending.passage_ids))
    return (pending.names[0], ids, numbers, pending.ledger_rows)


def found_in(folder: Path, traces: Sequence[bytes]) -> tuple[int, list[bytes]]:
    """How many bytes the files of a folder have, and which of the traces stand in them (once a file).

    Closing a file of the database takes SQLite's locks on it away from the whole process: no connection
    of this process may be open.
    """
    searched, found = 0, []
    for path in sorted(folder.iterdir()):
        if path.is_file():
            size, here = _found_in_file(path, traces)
            searched += size
            found += here
    return searched, found


def _found_in_file(path: Path, traces: Sequence[bytes]) -> tuple[int, list[bytes]]:
    overlap = max(map(len, traces), default=1) - 1
    size, before, left, found = 0, b"", list(traces), []
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                size += len(chunk)
                window = before + chunk
                here = [trace for trace in left if trace in window]
                found += here
                left = [trace for trace in left if trace not in here] if here else left
                before = window[-overlap:] if overlap else b""
    except FileNotFoundError:
        # A reader that ends takes SQLite's side files away with it.
        pass
    return size, found
