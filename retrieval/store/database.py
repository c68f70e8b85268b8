"""The database of a collection: documents, passages with their vectors, the ledger, jobs, the audit log.

A batch is written in one transaction, vectors included, so a process killed at any time leaves only whole
batches.
"""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ingest.documents import Arrival, SanitizedDocument, Span, Standing, Unread
from models.vectors import Vectors
from retrieval.documents import Groups, KeptDocument, Noted, Passage, Sealed, SealedOriginal, title_of
from retrieval.errors import CollectionError
from retrieval.store import words
from retrieval.store.chain import AUDIT_LOG, now
from retrieval.store.connection import in_memory, open_database, readable_errors, transaction
from retrieval.store.rows import (
    PendingErasure,
    all_names,
    ids_from,
    lost,
    note_origin,
    release,
    standing_of_first,
    take_out,
)

_VECTORS_AT_ONCE = 8192
_DOCUMENTS_AT_ONCE = 1024
_ORIGINALS_AT_ONCE = 64
_DOCUMENTS_ENCODED = 64
_READABLE = """(
    :groups IS NULL
    OR doc_id NOT IN (SELECT doc_id FROM readers)
    OR doc_id IN (SELECT doc_id FROM readers WHERE name IN (SELECT value FROM json_each(:groups)))
)"""
"""The condition of a query for what a reader may read, with the groups of ``_asked`` among its values."""
_NAMES = """(SELECT json_group_array(alias) FROM aliases a WHERE a.doc_id = d.doc_id),
    (SELECT json_group_array(name) FROM readers r WHERE r.doc_id = d.doc_id)"""
_BEGINNING = """(SELECT substr(first.text, 1, 500) FROM passages first
    WHERE first.doc_id = {}.doc_id ORDER BY first.passage_id LIMIT 1)"""
"""How the sanitized text of a document begins, by the name of its row."""
_KEPT = f"""
    SELECT doc_id, {_NAMES}, kept_at, characters,
    (SELECT count(*) FROM passages p WHERE p.doc_id = d.doc_id), risk_before, risk_after,
    unread, doubts, (SELECT at FROM reviewed r WHERE r.doc_id = d.doc_id), {_BEGINNING.format("d")}
    FROM documents d
"""
REVIEW = "review"
"""The source of what a person masked where nothing had been found; its rows are behind all others."""
_ORIGINALS = f"""
    SELECT d.doc_id, {_NAMES}, d.content_key, v.key_id, v.sealed
    FROM documents d LEFT JOIN vault v USING (doc_id)
"""


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage to store: its span in the sanitized text, its text, and its words without descriptors."""

    span: Span
    text: str = field(repr=False)
    kept: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CutDocument:
    """A sanitized document, cut into passages. ``vectors`` has one row per passage.

    ``sealed`` is its original, None where originals are not kept.
    """

    document: SanitizedDocument
    passages: Sequence[Cut] = field(repr=False)
    vectors: Vectors = field(repr=False)
    sealed: Sealed | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A stored document as a review leaves it: its passages with their vectors, and its ledger."""

    doc_id: str
    passages: Sequence[Cut] = field(repr=False)
    vectors: Vectors = field(repr=False)
    ledger: Sequence[Noted] = field(repr=False)


class Store:
    """SQLite behind a lock: safe to share between threads; one process may write at a time."""

    def __init__(self, path: Path | None) -> None:
        """Open what ``create_database`` made; ``None`` keeps everything in memory."""
        self._lock = threading.RLock()
        self._path = path
        self._connection = in_memory() if path is None else open_database(path)
        self._tokenizer = words.tokenizer()
        self._file = _file_at(path)
        self._counted: tuple[object, ...] = ()
        self._common: dict[str, int] = {}

    def close(self) -> None:
        """Close the file; the store cannot be used afterwards."""
        self._connection.close()
        self._tokenizer.close()

    def start_job(self) -> int:
        """A number for a new run; runs that were killed are marked as stopped."""
        with self._transaction():
            self._connection.execute("UPDATE jobs SET state = 'stopped' WHERE state = 'running'")
            row = (now(), "running")
            cursor = self._connection.execute("INSERT INTO jobs (started, state) VALUES (?, ?)", row)
            return int(cursor.lastrowid or 0)

    def finish_job(self, job_id: int, event: Mapping[str, object]) -> None:
        """Mark a run as done and add it to the audit log."""
        with self._transaction():
            row = (now(), "done", job_id)
            self._connection.execute("UPDATE jobs SET finished = ?, state = ? WHERE job_id = ?", row)
            AUDIT_LOG.append(self._connection, event)

    def quarantine(self, job_id: int, failed: Iterable[bytes]) -> None:
        """Note the files of which a run could not store all; what it read without a failure is no longer."""
        with self._transaction():
            read = "SELECT source_key FROM origins WHERE job_id = ?"
            self._connection.execute(f"DELETE FROM quarantine WHERE source_key IN ({read})", (job_id,))
            rows = [(key,) for key in failed]
            self._connection.executemany("INSERT OR REPLACE INTO quarantine VALUES (?)", rows)

    def quarantined(self) -> set[bytes]:
        """The files of which not all is stored, by digest."""
        return {bytes(key) for (key,) in self._read("SELECT source_key FROM quarantine")}

    def standing(self, job_id: int, arrivals: Sequence[Arrival]) -> list[Standing]:
        """As ``Sink.standing``; ids of duplicates are recorded, and as seen by the job."""
        with self._transaction():
            return standing_of_first(self._connection, job_id, arrivals)

    def named_texts(self) -> list[tuple[str, bytes]]:
        """Every id with the content key of the text that it names."""
        return self._read(
            "SELECT doc_id, content_key FROM documents UNION ALL "
            "SELECT alias, content_key FROM aliases JOIN documents USING (doc_id)"
        )

    def write(self, job_id: int, batch: Sequence[tuple[Arrival, CutDocument]]) -> None:
        """Write a batch atomically. An id then names the new text only."""
        with self._transaction():
            for arrival, cut in batch:
                release(self._connection, arrival.doc_id)
                self._insert(job_id, arrival, cut)

    def _insert(self, job_id: int, arrival: Arrival, cut: CutDocument) -> None:
        doc_id, document = arrival.doc_id, cut.document
        risks = round(document.risk.before, 2), round(document.risk.after, 2)
        doubts = json.dumps([asdict(each) for each in document.unread]), json.dumps(list(document.doubts))
        row = (doc_id, arrival.content_key, job_id, len(document.text), *risks, now(), *doubts)
        self._connection.execute(f"INSERT INTO documents VALUES ({', '.join('?' * 9)})", row)
        note_origin(self._connection, job_id, doc_id, arrival.source)
        named = [(doc_id, name) for name in sorted(arrival.readers)]
        self._connection.executemany("INSERT INTO readers VALUES (?, ?)", named)
        self._insert_parts(doc_id, cut.passages, cut.vectors, _ledger_rows(document))
        if cut.sealed:
            original = (doc_id, cut.sealed.key_id, cut.sealed.content)
            self._connection.execute("INSERT OR REPLACE INTO vault VALUES (?, ?, ?)", original)

    def _insert_parts(
        self, doc_id: str, passages: Sequence[Cut], vectors: Vectors, ledger: Iterable[Noted]
    ) -> None:
        self._connection.executemany(
            "INSERT INTO passages (doc_id, start, stop, text, kept, vector) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (doc_id, each.span.start, each.span.end, each.text, each.kept, _kept(vector))
                for each, vector in zip(passages, vectors, strict=True)
            ],
        )
        self._connection.executemany(
            f"INSERT INTO ledger VALUES ({', '.join('?' * 14)})", [(doc_id, *each) for each in ledger]
        )

    def rewrite(self, reviewed: str, rewritten: Sequence[Rewritten]) -> None:
        """Put what a review made in place of what was stored, atomically, and note who was looked through."""
        with self._transaction():
            for each in rewritten:
                for table in ("passages", "ledger"):
                    self._connection.execute(f"DELETE FROM {table} WHERE doc_id = ?", (each.doc_id,))
                self._insert_parts(each.doc_id, each.passages, each.vectors, each.ledger)
                characters = sum(len(part.text) for part in each.passages)
                query = "UPDATE documents SET characters = ? WHERE doc_id = ?"
                self._connection.execute(query, (characters, each.doc_id))
            self._connection.execute("INSERT OR REPLACE INTO reviewed VALUES (?, ?)", (reviewed, now()))
            event = {"reviewed": reviewed, "rewritten": [each.doc_id for each in rewritten]}
            AUDIT_LOG.append(self._connection, event)

    def keep_metadata(self, contents: Mapping[str, str]) -> None:
        """Put these in place of what was kept with the documents that ids name; unknown ids are skipped."""
        with self._transaction():
            for doc_id, content in contents.items():
                for name in all_names(self._connection, doc_id)[:1]:
                    self._connection.execute(
                        "INSERT OR REPLACE INTO kept_metadata VALUES (?, ?)", (name, content)
                    )

    def metadata_of(self, doc_ids: Sequence[str]) -> dict[str, str]:
        """What is kept with these documents, by their own ids."""
        query = "SELECT doc_id, content FROM kept_metadata WHERE doc_id IN (SELECT value FROM json_each(?))"
        return dict(self._read(query, (json.dumps(list(doc_ids)),)))

    def original(self, doc_id: str) -> SealedOriginal | None:
        """The sealed original of the document that an id names; None if there is no such document."""
        which = "d.doc_id = :id OR d.doc_id IN (SELECT doc_id FROM aliases WHERE alias = :id)"
        rows = self._read(f"{_ORIGINALS} WHERE {which}", {"id": doc_id})
        return _original(*rows[0]) if rows else None

    def originals(self, but_under: str | None = None) -> Iterator[SealedOriginal]:
        """Every sealed original in the order of ids, in blocks; if asked, those not under one key."""
        query = f"{_ORIGINALS} WHERE v.doc_id > ? AND v.key_id IS NOT ? ORDER BY v.doc_id LIMIT ?"
        after = ""
        while rows := self._read(query, (after, but_under, _ORIGINALS_AT_ONCE)):
            yield from (_original(*row) for row in rows)
            after = rows[-1][0]

    def originals_by_key(self) -> dict[str, int]:
        """The number of originals under each key."""
        return dict(self._read("SELECT key_id, count(*) FROM vault GROUP BY key_id ORDER BY key_id"))

    def reseal(self, resealed: Iterable[tuple[SealedOriginal, Sealed]]) -> None:
        """Put originals under another key atomically, but for those that were replaced meanwhile."""
        rows = [
            (sealed.key_id, sealed.content, each.doc_id, each.sealed.content)
            for each, sealed in resealed
            if each.sealed
        ]
        with self._transaction():
            query = "UPDATE vault SET key_id = ?, sealed = ? WHERE doc_id = ? AND sealed = ?"
            self._connection.executemany(query, rows)

    def treated(self, doc_id: str) -> list[tuple[str, str, int, int]]:
        """Label, action and place in the sanitized text of each decision, in the order they were made."""
        return [(each.label, each.action, each.start, each.end) for each in self.ledger(doc_id)]

    def ledger(self, doc_id: str) -> list[Noted]:
        """All decisions about a document, given by its own id, in the order they were made."""
        columns = "start, stop, label, identifier, confidence, source, link, risk, divergence, relevance"
        query = f"SELECT {columns}, priority, action, reason FROM ledger WHERE doc_id = ? ORDER BY rowid"
        return [Noted(*row) for row in self._read(query, (doc_id,))]

    def ids_from(self, source: bytes, *, below: bool) -> list[str]:
        """Ids that came from a file; or, if ``below``, from a file or from below a folder."""
        with self._transaction():
            return ids_from(self._connection, source, below=below)

    def erase_all(self, doc_ids: Sequence[str]) -> list[PendingErasure]:
        """Remove the documents that these ids name with all their rows; unknown ids are skipped.

        An erasure is pending until ``settle``, the search of the files and ``strike_out`` are done.
        """
        with self._transaction():
            return [taken for doc_id in doc_ids if (taken := take_out(self._connection, doc_id))]

    def let_go(
        self, job_id: int, folders: Sequence[bytes], present: Iterable[bytes], failed: Iterable[bytes]
    ) -> tuple[list[PendingErasure], int]:
        """Remove the ids of ``retrieval.store.rows.lost``; a text with another id is kept under that.

        The erasures are pending, as after ``erase_all``. The second value is the number of undecided ids.
        """
        with self._transaction():
            leaving, unsure = lost(self._connection, job_id, folders, present, failed)
            going = set(leaving)
            erased: list[PendingErasure] = []
            for doc_id in leaving:
                if going.issuperset(all_names(self._connection, doc_id)):
                    erased += filter(None, [take_out(self._connection, doc_id)])
                else:
                    release(self._connection, doc_id)
            return erased, unsure

    def compact(self) -> bool:
        """Remove what was deleted from index and log; whether no reader prevented it.

        Deleted words stay in older parts of the index until it is merged. Deleted pages are zeroed
        (secure_delete), but not in the write-ahead log.
        """
        with self._lock, readable_errors(self._path):
            words.compact(self._connection)
            # Counts of words that are gone.
            self._common = {}
            (busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def is_compact(self) -> bool:
        """Whether the index of words holds no deleted word."""
        with self._lock, readable_errors(self._path):
            return words.is_compact(self._connection)

    def settle(self) -> None:
        """As ``compact``; raises CollectionError if another process keeps reading for five seconds."""
        if not self.compact():
            where = self._path.parent if self._path else "memory"
            raise CollectionError(
                f"{where}: the erasure is begun, not done: another process is reading; stop it and run the "
                "same command again."
            )

    def pending_erasures(self) -> list[PendingErasure]:
        """What was begun and is not done, in the order of the ids."""
        rows = self._read("SELECT names, passage_ids, ledger_rows FROM erasing ORDER BY doc_id")
        return [PendingErasure(json.loads(ids), json.loads(numbers), count) for ids, numbers, count in rows]

    def strike_out(self, pending: PendingErasure) -> None:
        """Record that an erasure is done."""
        with self._transaction():
            self._connection.execute("DELETE FROM erasing WHERE doc_id = ?", pending.names[:1])
            AUDIT_LOG.append(self._connection, {"erasure_completed": pending.names[0]})

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Close the connection for the duration, so that the file can be read; other threads wait."""
        assert self._path is not None
        with self._lock:
            self._connection.close()
            try:
                yield
            finally:
                self._connection = open_database(self._path)
                self._file = _file_at(self._path)

    def state(self) -> tuple[object, ...]:
        """A version that changes with every write, by this process or another; cheap to read.

        Raises CollectionError if the file that was opened is no longer there, or another is in its place.
        """
        with self._lock, readable_errors(self._path):
            if self._path is not None and _file_at(self._path) != self._file:
                raise CollectionError(
                    # The name only, no path: clients of a server read this.
                    f"collection {self._path.parent.name} was deleted or replaced while it was open. Restart "
                    "the server, or run the same command again."
                )
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            # Versions of different connections are not comparable, and exclude own writes.
            return self._connection, version, self._connection.total_changes

    def passages(self, passage_ids: Sequence[int], groups: Groups = None) -> dict[int, Passage]:
        """The existing ones of these passages that a reader with these groups may read, by id."""
        query = (
            "SELECT passage_id, doc_id, start, stop, text, doubts, "
            f"{_BEGINNING.format('passages')} FROM passages JOIN documents USING (doc_id) "
            f"WHERE passage_id IN (SELECT value FROM json_each(:ids)) AND {_READABLE}"
        )
        values = {"ids": json.dumps(list(passage_ids)), **_asked(groups)}
        return {
            number: Passage(number, doc_id, start, stop, text, tuple(json.loads(doubts)), title_of(beginning))
            for number, doc_id, start, stop, text, doubts, beginning in self._read(query, values)
        }

    def readable(self, groups: Groups) -> NDArray[np.int64] | None:
        """The passages that a reader with these groups may read, by id; None if that is all of them."""
        if groups is None or not self._read("SELECT 1 FROM readers LIMIT 1"):
            return None
        query = f"SELECT passage_id FROM passages WHERE {_READABLE} ORDER BY passage_id"
        found = self._read(query, _asked(groups))
        return np.array([row[0] for row in found], dtype=np.int64)

    def documents_called(self, names: Sequence[str], groups: Groups = None) -> list[str]:
        """The documents that these ids name and a reader with these groups may read, each by its own id."""
        query = f"""
            SELECT doc_id FROM documents WHERE {_READABLE} AND (
                doc_id IN (SELECT value FROM json_each(:names))
                OR doc_id IN (SELECT doc_id FROM aliases WHERE alias IN (SELECT value FROM json_each(:names)))
            ) ORDER BY doc_id
        """
        values = {"names": json.dumps(list(names)), **_asked(groups)}
        return [doc_id for (doc_id,) in self._read(query, values)]

    def passages_of(self, doc_id: str, groups: Groups = None) -> list[Passage]:
        """The passages of the document that an id names, in order; none if this reader finds none."""
        query = "SELECT passage_id FROM passages WHERE doc_id = ? ORDER BY passage_id"
        ids = [
            row[0] for name in self.documents_called([doc_id], groups) for row in self._read(query, (name,))
        ]
        return list(self.passages(ids).values())

    def copied(self, doc_ids: Sequence[str] | None = None) -> "Store":
        """A store in memory with all documents, or those that these ids name, as they are now. Close it.

        What is written to one does not reach the other.
        """
        copy = Store(None)
        # One transaction reads: another process may write or erase meanwhile.
        with copy._transaction(), self._transaction("DEFERRED"):
            named = [] if doc_ids is None else [json.dumps(self.documents_called(doc_ids))]
            chosen = "WHERE doc_id IN (SELECT value FROM json_each(?))" if named else ""
            for table in ("documents", "aliases", "readers", "passages", "ledger"):
                for row in self._connection.execute(f"SELECT * FROM {table} {chosen}", named):
                    places = ", ".join("?" * len(row))
                    copy._connection.execute(f"INSERT INTO {table} VALUES ({places})", row)
        return copy

    def documents(self, after: str = "", groups: Groups = None) -> Iterator[KeptDocument]:
        """Every document behind an id that a reader with these groups may read, in the order of ids."""
        query = f"{_KEPT} WHERE doc_id > :after AND {_READABLE} ORDER BY doc_id LIMIT {_DOCUMENTS_AT_ONCE}"
        while rows := self._read(query, {"after": after, **_asked(groups)}):
            yield from (_kept_document(*row) for row in rows)
            after = rows[-1][0]

    def to_review(self, first: str, most: int, groups: Groups = None) -> tuple[list[KeptDocument], int]:
        """Documents that nobody has looked through, the most urgent first, and how many there are in all.

        First those with a doubt ``first``, then with another, then what was not read whole, then by risk.
        """
        left = f"WHERE doc_id NOT IN (SELECT doc_id FROM reviewed) AND {_READABLE}"
        order = """
            instr(doubts, :first) > 0 DESC, doubts <> '[]' DESC, unread <> '[]' DESC, risk_after DESC, doc_id
        """
        rows = self._read(
            f"{_KEPT} {left} ORDER BY {order} LIMIT :most", {"first": first, "most": most, **_asked(groups)}
        )
        ((count,),) = self._read(f"SELECT count(*) FROM documents {left}", _asked(groups))
        return [_kept_document(*row) for row in rows], int(count)

    def holders(self, question: str, readable: NDArray[np.int64] | None = None) -> list[NDArray[np.int64]]:
        """For each word of a question the passages that hold it (``retrieval.store.words.holders``)."""
        text = question.encode("utf-8", "replace").decode("utf-8")
        with self._lock, readable_errors(self._path):
            state = self.state()
            if state != self._counted:
                self._counted, self._common = state, {}
            terms = words.terms_of(self._tokenizer, text)
            return words.holders(self._connection, terms, self._common, readable)

    def vectors_of(self, passage_ids: Sequence[int]) -> tuple[list[int], Vectors]:
        """The existing ones of these passages, in order, and a row for each."""
        query = (
            "SELECT passage_id, vector FROM passages "
            "WHERE passage_id IN (SELECT value FROM json_each(?)) ORDER BY passage_id"
        )
        return _arrays(self._read(query, (json.dumps(list(passage_ids)),)))

    def vectors(self, after: int) -> Iterator[tuple[list[int], Vectors]]:
        """Ids and vectors of the passages with ids above ``after``, in order, in blocks."""
        query = "SELECT passage_id, vector FROM passages WHERE passage_id > ? ORDER BY passage_id LIMIT ?"
        while rows := self._read(query, (after, _VECTORS_AT_ONCE)):
            yield _arrays(rows)
            after = rows[-1][0]

    def encode_again(
        self, encoded: Callable[[Sequence[Sequence[tuple[str, str]]]], Iterable[Vectors]]
    ) -> None:
        """Give every passage another vector, all at once or none.

        ``encoded`` gives the vectors of documents from the texts of their passages, each with its words
        without descriptors. What is noted of the index is forgotten.
        """
        query = "SELECT passage_id, text, kept FROM passages WHERE doc_id = ? ORDER BY passage_id"
        with self._transaction():
            ids = [doc_id for (doc_id,) in self._connection.execute("SELECT doc_id FROM documents")]
            for first in range(0, len(ids), _DOCUMENTS_ENCODED):
                some = ids[first : first + _DOCUMENTS_ENCODED]
                rows = [self._connection.execute(query, (doc_id,)).fetchall() for doc_id in some]
                of = encoded([[(text, kept) for _, text, kept in each] for each in rows])
                self._connection.executemany(
                    "UPDATE passages SET vector = ? WHERE passage_id = ?",
                    [
                        (_kept(vector), row[0])
                        for each, vectors in zip(rows, of, strict=True)
                        for row, vector in zip(each, vectors, strict=True)
                    ],
                )
            self._connection.execute("DELETE FROM meta WHERE name = 'index'")

    def count_passages(self, up_to: int | None = None) -> int:
        """The number of passages, or of those with ids up to ``up_to``."""
        if up_to is None:
            return int(self._read("SELECT count(*) FROM passages")[0][0])
        return int(self._read("SELECT count(*) FROM passages WHERE passage_id <= ?", (up_to,))[0][0])

    def passage_ids(self) -> list[int]:
        """The ids of all passages, in any order."""
        return [row[0] for row in self._read("SELECT passage_id FROM passages")]

    def count_of(self, passage_ids: Sequence[int]) -> int:
        """How many of these ids are there."""
        query = "SELECT count(*) FROM passages WHERE passage_id IN (SELECT value FROM json_each(?))"
        return int(self._read(query, (json.dumps(list(passage_ids)),))[0][0])

    def last_passage(self) -> int:
        """The highest passage id, 0 if there is none."""
        return int(self._read("SELECT coalesce(max(passage_id), 0) FROM passages")[0][0])

    def says(self, piece: str) -> bool:
        """Whether any passage contains these words, as they stand or without its descriptors."""
        query = "SELECT 1 FROM passages WHERE instr(text, ?) OR instr(kept, ?) LIMIT 1"
        return bool(self._read(query, (piece, piece)))

    def saying(self, piece: str, *, any_case: bool = False) -> list[tuple[str, str]]:
        """The documents that contain these words, in small letters or capitals if asked: ids and texts."""
        query = f"""
            SELECT doc_id, group_concat(text, '') AS whole
            FROM (SELECT doc_id, text FROM passages ORDER BY passage_id)
            GROUP BY doc_id HAVING instr({"folded(whole)" if any_case else "whole"}, ?)
        """
        return self._read(query, (piece.casefold() if any_case else piece,))

    def has_vector(self, piece: bytes) -> bool:
        """Whether the vector of any passage contains these bytes."""
        return bool(self._read("SELECT 1 FROM passages WHERE instr(vector, ?) LIMIT 1", (piece,)))

    def count_documents(self, groups: Groups = None) -> int:
        """The number of documents, or of those that a reader with these groups may read."""
        query = f"SELECT count(*) FROM documents WHERE {_READABLE}"
        return int(self._read(query, _asked(groups))[0][0])

    def entities_by_action(self) -> dict[str, int]:
        """Ledger counts by action."""
        return dict(self._read("SELECT action, count(*) FROM ledger GROUP BY action ORDER BY action"))

    def entities_by_reason(self) -> dict[tuple[str, str], int]:
        """Ledger counts by action and reason, the most frequent first."""
        rows = self._read(
            "SELECT action, reason, count(*) AS n FROM ledger GROUP BY action, reason ORDER BY n DESC, 2"
        )
        return {(action, reason): count for action, reason, count in rows}

    def interrupted(self) -> bool:
        """Whether a run is in progress, or was killed and not resumed."""
        last = self._read("SELECT state FROM jobs ORDER BY job_id DESC LIMIT 1")
        return bool(last) and last[0][0] != "done"

    def broken_audit_entry(self) -> int | None:
        """The first entry of the audit log that does not fit its chain."""
        with self._lock, readable_errors(self._path):
            return AUDIT_LOG.first_broken(self._connection)

    def get_meta(self, name: str) -> str | None:
        """A stored value."""
        found = self._read("SELECT value FROM meta WHERE name = ?", (name,))
        return str(found[0][0]) if found else None

    def set_meta(self, name: str, value: str) -> None:
        """Store a value."""
        with self._transaction():
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def _read(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Any]:
        with self._lock, readable_errors(self._path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _transaction(self, kind: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE") -> Iterator[None]:
        with self._lock, readable_errors(self._path), transaction(self._connection, kind):
            yield


def _file_at(path: Path | None) -> tuple[int, int] | None:
    """The device and inode of a path; None if there is no file."""
    try:
        status = path.stat() if path else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status else None


def _asked(groups: Groups) -> dict[str, str | None]:
    return {"groups": None if groups is None else json.dumps(sorted(groups))}


def _original(
    doc_id: str, aliases: str, readers: str, content_key: bytes, key_id: str | None, content: bytes
) -> SealedOriginal:
    sealed = None if key_id is None else Sealed(key_id, content)
    names = sorted(json.loads(aliases))
    return SealedOriginal(doc_id, names, frozenset(json.loads(readers)), content_key, sealed)


def _arrays(rows: Sequence[tuple[int, bytes]]) -> tuple[list[int], Vectors]:
    ids = [row[0] for row in rows]
    kept = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.float16)
    return ids, kept.reshape(len(ids), -1 if ids else 0).astype(np.float32)


def _kept(vector: Vectors) -> bytes:
    """In half precision, as the index keeps it."""
    return vector.astype(np.float16).tobytes()


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 2)


def _ledger_rows(document: SanitizedDocument) -> Iterator[Noted]:
    for decision, (start, stop) in zip(document.decisions, document.places, strict=True):
        entity, scores = decision.entity, decision.scores
        measured: Sequence[float | None] = (None,) * 4
        if scores is not None:
            own = scores.marginal_privacy_risk, scores.knowledge_divergence
            measured = *own, scores.topical_relevance, scores.priority
        risk, divergence, relevance, priority = map(_rounded, measured)
        yield Noted(
            start=start,
            end=stop,
            label=entity.label,
            identifier=str(entity.identifier),
            confidence=round(entity.confidence, 2),
            source=entity.source,
            link=entity.link,
            risk=risk,
            divergence=divergence,
            relevance=relevance,
            priority=priority,
            action=str(decision.action),
            reason=decision.reason,
        )


def _kept_document(
    doc_id: str,
    aliases: str,
    names: str,
    kept_at: str,
    characters: int,
    passages: int,
    before: float,
    after: float,
    unread: str,
    doubts: str,
    reviewed: str | None,
    text: str | None,
) -> KeptDocument:
    own = sorted(json.loads(aliases)), sorted(json.loads(names))
    read = [Unread(**each) for each in json.loads(unread)], json.loads(doubts)
    risk, title = (before, after), title_of(text)
    return KeptDocument(doc_id, *own, kept_at, characters, passages, risk, *read, title, reviewed)
