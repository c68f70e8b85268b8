"""The database of a collection: documents, passages with their vectors, the ledger, jobs, the audit log.

Everything of a batch is written in one transaction, vectors included, so that a process killed at any
instant leaves whole batches behind and nothing else.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ingest.documents import SanitizedDocument, Span
from ingest.protocols import Arrival, Standing
from models.vectors import Vectors
from retrieval import audit_log
from retrieval.database import in_memory, open_database, telling
from retrieval.documents import Passage
from retrieval.erasure import Fingerprint, Pending, pending_erasures, strike_out, take_out
from retrieval.errors import CollectionError
from retrieval.names import release, standing_of_first

_VECTORS_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class Record:
    """A sanitized document on its way in, cut into passages. ``vectors`` has one row per passage."""

    arrival: Arrival
    document: SanitizedDocument
    passages: Sequence[tuple[Span, str]] = field(repr=False)
    vectors: Vectors = field(repr=False)


class Store:
    """SQLite behind a lock: safe to share between threads; one process may write at a time."""

    def __init__(self, path: Path | None) -> None:
        """Open what ``create_database`` made; ``None`` keeps everything in memory."""
        self._lock = threading.RLock()
        self._path = path
        self._connection = in_memory() if path is None else open_database(path)

    def close(self) -> None:
        """Close the file; the store is of no use afterwards."""
        self._connection.close()

    # -- jobs and documents ----------------------------------------------------------------------------

    def start_job(self) -> int:
        """A number for a new run; runs that were killed are marked as stopped."""
        with self._transaction():
            self._connection.execute("UPDATE jobs SET state = 'stopped' WHERE state = 'running'")
            row = (audit_log.now(), "running")
            cursor = self._connection.execute("INSERT INTO jobs (started, state) VALUES (?, ?)", row)
            return int(cursor.lastrowid or 0)

    def finish_job(self, job_id: int, event: Mapping[str, object]) -> None:
        """Mark a run as done and tell the audit log."""
        with self._transaction():
            row = (audit_log.now(), "done", job_id)
            self._connection.execute("UPDATE jobs SET finished = ?, state = ? WHERE job_id = ?", row)
            audit_log.append(self._connection, event)

    def standing(self, job_id: int, arrivals: Sequence[Arrival]) -> list[Standing]:
        """As ``Sink.standing``; the ids of duplicates are noted, and as seen by the job."""
        with self._transaction():
            return standing_of_first(self._connection, job_id, arrivals)

    def write(self, job_id: int, records: Sequence[Record]) -> None:
        """Write a batch: all of it or nothing. An id then names the new text and no other."""
        with self._transaction():
            for record in records:
                release(self._connection, record.arrival.doc_id)
                self._insert(job_id, record)

    def _insert(self, job_id: int, record: Record) -> None:
        doc_id, document = record.arrival.doc_id, record.document
        row = (
            doc_id,
            record.arrival.content_key,
            job_id,
            len(document.text),
            round(document.risk.before, 2),
            round(document.risk.after, 2),
        )
        self._connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", row)
        self._connection.executemany(
            "INSERT INTO passages (doc_id, start, stop, text, vector) VALUES (?, ?, ?, ?, ?)",
            [
                (doc_id, span.start, span.end, text, vector.tobytes())
                for (span, text), vector in zip(record.passages, record.vectors, strict=True)
            ],
        )
        self._connection.executemany(
            f"INSERT INTO ledger VALUES ({', '.join('?' * 14)})", list(_ledger_rows(doc_id, document))
        )

    # -- erasing ---------------------------------------------------------------------------------------

    def erase(self, doc_id: str) -> tuple[Pending, list[Fingerprint]] | None:
        """Remove what an id names with all that was kept of it; None if it names nothing.

        The erasure is pending until ``settle``, the search of the files and ``strike_out`` are done.
        """
        with self._transaction():
            return take_out(self._connection, doc_id)

    def settle(self) -> None:
        """Empty the log: deleted pages are zeroed (secure_delete), but their old state still stands in it.

        Raises:
            CollectionError: Another process kept reading for as long as SQLite waits, five seconds.
        """
        with self._lock, self._telling():
            (busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            where = self._path.parent if self._path else "memory"
            raise CollectionError(
                f"{where}: the erasure is begun, not done: another process is reading; stop it and run the "
                "same command again."
            )

    def pending_erasures(self) -> list[Pending]:
        """What was begun and is not done."""
        with self._lock, self._telling():
            return pending_erasures(self._connection)

    def strike_out(self, pending: Pending) -> None:
        """Note that an erasure is done."""
        with self._transaction():
            strike_out(self._connection, pending)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """No connection to the file while this lasts, so that it can be read as a file; others wait."""
        assert self._path is not None
        with self._lock:
            self._connection.close()
            try:
                yield
            finally:
                self._connection = open_database(self._path)

    # -- reading ---------------------------------------------------------------------------------------

    def passages(self, passage_ids: Sequence[int]) -> dict[int, Passage]:
        """Those of the passages that are there, by id."""
        marks = ", ".join("?" * len(passage_ids))
        query = "SELECT passage_id, doc_id, start, stop, text FROM passages WHERE passage_id IN"
        rows = self._read(f"{query} ({marks})", passage_ids)
        return {row[0]: Passage(*row) for row in rows}

    def vectors(self, after: int) -> Iterator[tuple[list[int], Vectors]]:
        """Ids and vectors of the passages with ids above ``after``, in order, a block at a time."""
        query = "SELECT passage_id, vector FROM passages WHERE passage_id > ? ORDER BY passage_id LIMIT ?"
        while rows := self._read(query, (after, _VECTORS_AT_ONCE)):
            ids = [row[0] for row in rows]
            vectors = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float32)
            yield ids, vectors.reshape(len(ids), -1)
            after = ids[-1]

    def count_passages(self, up_to: int | None = None) -> int:
        """How many passages there are, or how many have ids up to ``up_to``."""
        if up_to is None:
            return int(self._read("SELECT count(*) FROM passages")[0][0])
        return int(self._read("SELECT count(*) FROM passages WHERE passage_id <= ?", (up_to,))[0][0])

    def count_of(self, passage_ids: Sequence[int]) -> int:
        """How many of these ids are there."""
        query = "SELECT count(*) FROM passages WHERE passage_id IN (SELECT value FROM json_each(?))"
        return int(self._read(query, (json.dumps(list(passage_ids)),))[0][0])

    def last_passage(self) -> int:
        """The highest passage id, 0 if there is none."""
        return int(self._read("SELECT coalesce(max(passage_id), 0) FROM passages")[0][0])

    def says(self, piece: str) -> bool:
        """Whether some passage contains these words."""
        return bool(self._read("SELECT 1 FROM passages WHERE instr(text, ?) LIMIT 1", (piece,)))

    def has_vector(self, beginning: bytes) -> bool:
        """Whether the vector of some passage begins so."""
        query = "SELECT 1 FROM passages WHERE substr(vector, 1, ?) = ? LIMIT 1"
        return bool(self._read(query, (len(beginning), beginning)))

    def count_documents(self) -> int:
        """How many documents there are."""
        return int(self._read("SELECT count(*) FROM documents")[0][0])

    def entities_by_action(self) -> dict[str, int]:
        """The ledger in numbers."""
        return dict(self._read("SELECT action, count(*) FROM ledger GROUP BY action ORDER BY action"))

    def entities_by_reason(self) -> dict[tuple[str, str], int]:
        """The ledger in numbers, by action and reason, the most frequent first."""
        rows = self._read(
            "SELECT action, reason, count(*) AS n FROM ledger GROUP BY action, reason ORDER BY n DESC, 2"
        )
        return {(action, reason): count for action, reason, count in rows}

    def interrupted(self) -> bool:
        """Whether a run is under way, or was killed and not taken up again."""
        last = self._read("SELECT state FROM jobs ORDER BY job_id DESC LIMIT 1")
        return bool(last) and last[0][0] != "done"

    def broken_audit_entry(self) -> int | None:
        """The first entry of the audit log that does not fit its chain."""
        with self._lock, self._telling():
            return audit_log.first_broken(self._connection)

    def get_meta(self, name: str) -> str | None:
        """A noted value."""
        found = self._read("SELECT value FROM meta WHERE name = ?", (name,))
        return str(found[0][0]) if found else None

    def set_meta(self, name: str, value: str) -> None:
        """Note a value."""
        with self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def _read(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock, self._telling():
            return self._connection.execute(query, tuple(values)).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, self._telling():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _telling(self) -> AbstractContextManager[None]:
        return telling(self._path)


def _ledger_rows(doc_id: str, document: SanitizedDocument) -> Iterator[tuple[object, ...]]:
    for decision, (start, stop) in zip(document.decisions, document.places, strict=True):
        entity, scores = decision.entity, decision.scores
        measured = (
            (None,) * 4
            if scores is None
            else (
                round(scores.marginal_privacy_risk, 2),
                round(scores.knowledge_divergence, 2),
                round(scores.topical_relevance, 2),
                round(scores.priority, 2),
            )
        )
        confidence = round(entity.confidence, 2)
        found = (entity.label, str(entity.identifier), confidence, entity.source, entity.link)
        yield (doc_id, start, stop, *found, *measured, str(decision.action), decision.reason)
