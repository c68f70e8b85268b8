"""A collection: a folder with a manifest, a database and an index that can be rebuilt from it."""

import fcntl
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from ingest.documents import SanitizedDocument
from ingest.protocols import Arrival, Encoder, Standing
from retrieval.database import create_database
from retrieval.erasure import Fingerprint, Pending, found_in
from retrieval.errors import CollectionError, unwritable
from retrieval.faiss_index import FaissIndex
from retrieval.manifest import Manifest, read_manifest, write_manifest
from retrieval.passages import passages_of
from retrieval.protocols import VectorIndex
from retrieval.store import Record, Store

_DATABASE = "collection.db"


class UnknownDocument(CollectionError):
    """An id that names nothing in a collection."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The right to write to a folder: one process at a time, given back by the kernel if that one dies.

    Erasures that a killed process left undone are done first.
    """
    with _held(folder):
        if Collection.exists(folder):
            with Collection.open(folder) as collection:
                collection.finish_erasures()
        yield


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        opened = (folder / "lock").open("w")
    except OSError as error:
        raise CollectionError(f"{folder}: {unwritable(error)}") from None
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CollectionError(
                f"{folder}: another process is writing to this collection. "
                "Wait for it to end, then run the same command again."
            ) from None
        # What a killed writer left unfinished: a copy of the index may hold what is to be erased.
        for unfinished in folder.glob(".*.tmp"):
            unfinished.unlink()
        yield


@dataclass(frozen=True, slots=True)
class Erasure:
    """The proof of an erasure: what went, and how many bytes were searched for what is left of it.

    A text that came under several ids is kept once, and goes with all of them. ``resumed`` says that the
    process that began it did not end it: words and vectors were gone with that process, so that only the
    ids of the passages were looked for, in the database and in the index.
    """

    doc_id: str
    also_known_as: Sequence[str] = field(repr=False)
    passages: int
    ledger_rows: int
    bytes_searched: int
    traces_found: int
    resumed: bool


class Collection:
    """One open collection. Close it, or use it in a ``with`` statement."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.store = Store(folder / _DATABASE)
        self._resumed: list[Erasure] = []

    @classmethod
    def create(cls, folder: Path, manifest: Manifest) -> "Collection":
        """A new collection in ``folder``; the caller holds its lock."""
        # The manifest comes last, since it is what makes the collection exist.
        create_database(folder / _DATABASE)
        write_manifest(manifest, folder / "manifest.json")
        return cls(folder, manifest)

    @classmethod
    def open(cls, folder: Path) -> "Collection":
        """The collection in ``folder``; raises CollectionError if there is none."""
        return cls(folder, read_manifest(folder / "manifest.json"))

    @classmethod
    def exists(cls, folder: Path) -> bool:
        """Whether there is one; a folder without a manifest is none yet."""
        return (folder / "manifest.json").is_file()

    def __enter__(self) -> "Collection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    def load_index(self) -> FaissIndex:
        """The index as the database has it; the file is only trusted where its digest and ids agree."""
        noted = json.loads(self.store.get_meta("index") or "{}")
        last = noted.get("last", 0)
        index = self._index_in_file(noted)
        if index is None or len(index) != self.store.count_passages(up_to=last):
            last, index = 0, FaissIndex(self.manifest.dim)
        add_vectors(self.store, index, after=last)
        return index

    def _index_in_file(self, noted: Mapping[str, Any]) -> FaissIndex | None:
        try:
            # Read once: a writer may put another file in its place at any time.
            content = (self.folder / "vectors.faiss").read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(content).hexdigest() != noted.get("sha256"):
            return None
        index = FaissIndex.deserialize(content)
        return index if len(index) == noted.get("count") else None

    def publish(self) -> None:
        """Write the index, then note its digest: a kill between the two means that it is rebuilt."""
        index = self.load_index()
        path = self.folder / "vectors.faiss"
        try:
            index.save(path)
        except (OSError, RuntimeError):
            raise CollectionError(
                f"{path}: the index could not be written (is the disk full?). The passages are safe in the "
                "database; free some space and run the same command again."
            ) from None
        noted = {"sha256": _digest(path), "count": len(index), "last": self.store.last_passage()}
        self.store.set_meta("index", json.dumps(noted))

    def erase(self, doc_id: str) -> Erasure:
        """Remove what an id names: passages, vectors, ledger rows and all other ids of the same text.

        Every file is searched for what is left. An erasure that was begun before is brought to its end.

        Raises:
            UnknownDocument: The id names nothing.
            CollectionError: Another process is writing, or kept reading: the erasure is begun, and the
                next command that writes takes it up.
        """
        with _held(self.folder):
            self._resumed += self.finish_erasures()
            for erasure in self._resumed:
                if doc_id in (erasure.doc_id, *erasure.also_known_as):
                    return erasure
            taken = self.store.erase(doc_id)
            if taken is None:
                raise UnknownDocument(
                    f"{self.folder}: there is no document {doc_id}. `lethe search` shows ids."
                )
            return self._finish(*taken)

    def finish_erasures(self) -> list[Erasure]:
        """Bring erasures that were interrupted to their end; the caller holds the lock."""
        return [self._finish(pending, None) for pending in self.store.pending_erasures()]

    def _finish(self, pending: Pending, fingerprints: Sequence[Fingerprint] | None) -> Erasure:
        self.store.settle()
        self.publish()
        ids = pending.passage_ids
        left = self.store.count_of(ids) + self.load_index().count_of(ids)
        searched, found = self._search(fingerprints or ())
        if not left + found:
            self.store.strike_out(pending)
        doc_id, *others = pending.names
        resumed = fingerprints is None
        return Erasure(doc_id, others, len(ids), pending.ledger_rows, searched, left + found, resumed)

    def _search(self, fingerprints: Sequence[Fingerprint]) -> tuple[int, int]:
        """Bytes searched and traces found; what another document says word for word is no trace."""
        words = {each.words.encode(): each.words for each in fingerprints if each.words}
        vectors = {each.vector for each in fingerprints}
        with self.store.apart():
            searched, found = found_in(self.folder, [*words, *vectors])
        traces = [
            trace
            for trace in found
            if not (self.store.says(words[trace]) if trace in words else self.store.has_vector(trace))
        ]
        return searched, len(traces)


class Writer:
    """Sanitized documents into a store: the sink of the ingest pipeline."""

    def __init__(self, store: Store, encoder: Encoder, passage_tokens: int) -> None:
        self._store = store
        self._encoder = encoder
        self._passage_tokens = passage_tokens
        self.job_id = store.start_job()

    def standing(self, arrivals: Sequence[Arrival]) -> list[Standing]:
        """How the first of them stand to what is stored."""
        return self._store.standing(self.job_id, arrivals)

    def keep(self, documents: Sequence[tuple[Arrival, SanitizedDocument]]) -> int:
        """Cut, encode and write a batch in one transaction; the number of its passages."""
        cut = [passages_of(document, self._encoder, self._passage_tokens) for _, document in documents]
        vectors = self._encoder.encode([text for passages in cut for _, text in passages])
        records, first = [], 0
        for (arrival, document), passages in zip(documents, cut, strict=True):
            rows = vectors[first : first + len(passages)]
            records.append(Record(arrival, document, passages, rows))
            first += len(passages)
        self._store.write(self.job_id, records)
        return len(vectors)


def add_vectors(store: Store, index: VectorIndex, after: int) -> None:
    """Bring passages with ids above ``after`` from the store into an index."""
    for ids, vectors in store.vectors(after):
        index.add(ids, vectors)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
