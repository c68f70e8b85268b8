"""A collection: a folder with a manifest, a database and an index that can be rebuilt from it."""

import fcntl
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from ingest.documents import SanitizedDocument
from ingest.protocols import Arrival, Encoder, Standing
from retrieval.errors import CollectionError, unwritable
from retrieval.faiss_index import FaissIndex
from retrieval.manifest import Manifest, read_manifest, write_manifest
from retrieval.passages import passages_of
from retrieval.protocols import VectorIndex
from retrieval.store import Record, Store

_FINGERPRINT_CHARACTERS = 48
_FINGERPRINT_BYTES = 64


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The right to write to a folder: one process at a time, given back by the kernel if that one dies."""
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
    """The proof of an erasure: what went, and how many bytes were searched for what is left of it."""

    doc_id: str
    passages: int
    ledger_rows: int
    bytes_searched: int
    traces_found: int


class Collection:
    """One open collection. Close it, or use it in a ``with`` statement."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.store = Store(folder / "collection.db")

    @classmethod
    def create(cls, folder: Path, manifest: Manifest) -> "Collection":
        """A new collection in ``folder``; the caller holds its lock."""
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
        path = self.folder / "vectors.faiss"
        last = noted.get("last", 0)
        if not (
            path.is_file()
            and self.store.count_passages(up_to=last) == noted.get("count")
            and _digest(path) == noted.get("sha256")
        ):
            last, index = 0, FaissIndex(self.manifest.dim)
        else:
            index = FaissIndex.load(path)
        add_vectors(self.store, index, after=last)
        return index

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
        """Remove a document's passages, vectors and ledger rows, and search every file for what is left."""
        with locked(self.folder):
            removed = self.store.erase(doc_id)
            if removed is None:
                raise CollectionError(
                    f"{self.folder}: there is no document {doc_id}. `lethe search` shows ids."
                )
            self.publish()
        traces = [passage.vector[:_FINGERPRINT_BYTES] for passage in removed.passages]
        for passage in removed.passages:
            piece = passage.text.strip()[:_FINGERPRINT_CHARACTERS]
            # What another document says word for word is no trace of this one.
            if piece and not self.store.says(piece):
                traces.append(piece.encode())
        searched, found = 0, len(self.store.passages([p.passage_id for p in removed.passages]))
        for path in sorted(self.folder.iterdir()):
            content = path.read_bytes()
            searched += len(content)
            found += sum(trace in content for trace in traces)
        return Erasure(doc_id, len(removed.passages), removed.ledger_rows, searched, found)


class Writer:
    """Sanitized documents into a store: the sink of the ingest pipeline."""

    def __init__(self, store: Store, encoder: Encoder, passage_tokens: int) -> None:
        self._store = store
        self._encoder = encoder
        self._passage_tokens = passage_tokens
        self.job_id = store.start_job()

    def standing(self, arrivals: Sequence[Arrival]) -> list[Standing]:
        """How each stands to what is stored."""
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
