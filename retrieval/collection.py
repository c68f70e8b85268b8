"""A collection: a folder with a manifest, a database and an index that can be rebuilt from it.

The index lies in a file of the folder or in a vector database; the database of the collection is the record.
"""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ingest.private_files import close_to_others, private_folder
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.errors import CollectionBusy, CollectionError, unwritable
from retrieval.index.faiss import EXACT_UP_TO, FaissIndex
from retrieval.index.vector_store import Table, VectorStoreIndex, answering
from retrieval.manifest import Manifest, read_manifest, table_in, write_manifest
from retrieval.passages import encoded
from retrieval.protocols import VectorIndex
from retrieval.store.connection import create_database
from retrieval.store.database import Store
from retrieval.store.rows import PendingErasure

_REBUILT_AT_ONCE = 8192


class IndexFile:
    """FAISS in a file of the collection's folder; it is only used if its digest and ids match.

    It is exact up to ``EXACT_UP_TO`` passages. A larger one is grouped into lists when it is published, and
    again when it has doubled; ``noted`` then has the recall that was measured.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        if manifest.index != "faiss":
            raise ConfigurationError(f"collection {folder.name} has its vectors in {manifest.index}.")
        self._path = folder / "vectors.faiss"
        self._dim = manifest.dim

    def load(self, store: Store) -> FaissIndex:
        """The index of the passages in the store, those that are not in the file yet among them."""
        written = noted(store)
        last = written.get("last", 0)
        try:
            # Read once: a writer may replace the file at any time.
            content = self._path.read_bytes()
        except FileNotFoundError:
            content = b""
        known = bool(content) and hashlib.sha256(content).hexdigest() == written.get("sha256")
        index = FaissIndex.deserialize(content) if known else FaissIndex(self._dim)
        if not (known and len(index) == written.get("count") == store.count_passages(up_to=last)):
            last, index = 0, FaissIndex(self._dim)
        add_vectors(store, index, after=last)
        return index

    def publish(self, store: Store) -> None:
        """Write the file, then its digest: after a kill between the two, the index is rebuilt."""
        index = self.load(store)
        grouping = None if index.exact else noted(store).get("lists")
        if len(index) > max(EXACT_UP_TO, 2 * grouping["vectors"] if grouping else 0):
            grouping = asdict(index.group())
        try:
            index.save(self._path)
        except (OSError, RuntimeError):
            raise CollectionError(
                f"{self._path}: the index could not be written (is the disk full?). The passages are safe in "
                "the database; free some space and run the same command again."
            ) from None
        with self._path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        written = {"sha256": digest, "count": len(index), "last": store.last_passage()}
        store.set_meta("index", json.dumps({**written, "lists": grouping}))

    def count_of(self, passage_ids: Sequence[int]) -> int:
        return FaissIndex.deserialize(self._path.read_bytes()).count_of(passage_ids)

    def drop(self) -> None:
        """Nothing: the file goes with the folder."""


class IndexTable:
    """A table of a vector database.

    Passages are written to the store first. What was noted as published lies in the table whatever happens,
    since only the holder of the lock takes rows out of it; everything after that is written again, which
    changes nothing where it is there already.
    """

    def __init__(self, folder: Path, table: Table) -> None:
        self._name = folder.name
        self._table = table

    def load(self, store: Store) -> VectorStoreIndex:
        """The index as it was published last."""
        if noted(store).get("last"):
            with answering(self._table, self._name):
                lost = self._table.opened() is None
            if lost:
                raise CollectionError(
                    f"collection {self._name}: its table is not in the vector database ({self._table.kind}). "
                    "Check retrieval.index_address; if the table is lost, any ingest into this collection "
                    "makes it again."
                )
        return self._rows(store)

    def _rows(self, store: Store) -> VectorStoreIndex:
        return VectorStoreIndex(self._table, store.passages, self._name)

    def publish(self, store: Store) -> None:
        """Write what came since the last time, and compare the ids if the numbers of rows differ."""
        index = self._rows(store)
        add_vectors(store, index, after=noted(store).get("last", 0))
        if len(index) != store.count_passages():
            there, wanted = index.ids(), np.array(store.passage_ids(), dtype=np.int64)
            index.remove(np.setdiff1d(there, wanted).tolist())
            missing = np.setdiff1d(wanted, there).tolist()
            for first in range(0, len(missing), _REBUILT_AT_ONCE):
                index.add(*store.vectors_of(missing[first : first + _REBUILT_AT_ONCE]))
        store.set_meta("index", json.dumps({"last": store.last_passage()}))

    def count_of(self, passage_ids: Sequence[int]) -> int:
        with answering(self._table, self._name):
            return self._table.held(passage_ids)

    def drop(self) -> None:
        with answering(self._table, self._name):
            self._table.drop()


KeptIndex = IndexFile | IndexTable
"""The index of one collection.

``load`` is for searching. The others are for the holder of the collection's lock: ``publish`` adds what is
missing and removes what is gone, ``count_of`` says how many of these passages it still holds, ``drop`` takes
all of it away. All raise CollectionError where it cannot be read or written.
"""
Keeping = Callable[[Path, Manifest], KeptIndex]
"""From the folder and the manifest of a collection to its index. Nothing is read or connected to yet."""


def add_vectors(store: Store, index: VectorIndex, after: int) -> int:
    """Add passages with ids above ``after`` from the store to an index; the highest id it then holds."""
    for ids, vectors in store.vectors(after):
        index.add(ids, vectors)
        after = ids[-1]
    return after


def noted(store: Store) -> dict[str, Any]:
    """What was noted of an index when it was published last."""
    written: dict[str, Any] = json.loads(store.get_meta("index") or "{}")
    return written


_DATABASE = "collection.db"
_MANIFEST = "manifest.json"
_CHUNK_BYTES = 1 << 20
UNFINISHED = "an unfinished reindexing"
"""Stands for the encoder while vectors are made again."""


class UnknownDocument(CollectionError):
    """An id that is not in the collection."""


@contextmanager
def locked(folder: Path, keeping: Keeping = IndexFile) -> Iterator[None]:
    """The write lock of a folder: one process at a time, released by the kernel if it dies.

    Erasures interrupted by a kill are finished first. Where an error ends this before a document is stored,
    nothing is left of a folder that was made here.
    """
    there = folder.exists()
    with _held(folder):
        if Collection.exists(folder):
            with Collection.open(folder, keeping) as collection:
                collection.finish_erasures()
        try:
            yield
        except BaseException:
            # What ended the writing is reported, and not what else a full disk forbids.
            with suppress(CollectionError):
                if not there and not _has_documents(folder, keeping):
                    _remove(folder, keeping)
            raise


def _has_documents(folder: Path, keeping: Keeping) -> bool:
    if not Collection.exists(folder):
        return False
    with Collection.open(folder, keeping) as collection:
        return collection.store.count_documents() > 0


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    try:
        private_folder(folder)
        close_to_others(folder)
        opened = os.fdopen(os.open(folder / "lock", os.O_WRONLY | os.O_CREAT, 0o600), "w")
    except OSError as error:
        with suppress(OSError):
            folder.rmdir()
        raise CollectionError(f"{folder}: {unwritable(error)}") from None
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CollectionBusy(
                f"{folder}: another process is writing to this collection. "
                "Wait for it to end, then run the same command again."
            ) from None
        # Left by a killed writer: a temporary copy of the index may hold erased vectors.
        for unfinished in folder.glob(".*.tmp"):
            unfinished.unlink()
        yield


def delete(folder: Path, keeping: Keeping = IndexFile) -> None:
    """Delete the collection in ``folder``, or what is left of one, with its index and the folder.

    Raises CollectionError if another process is writing to it, or the index or folder cannot be deleted.
    """
    with _held(folder):
        _remove(folder, keeping)


def _remove(folder: Path, keeping: Keeping) -> None:
    _drop_index(folder, keeping)
    try:
        # The manifest first: after an interruption, the rest is not taken for a collection.
        (folder / _MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(folder)
    except OSError as error:
        raise CollectionError(f"{folder}: {unwritable(error)}") from None


def _drop_index(folder: Path, keeping: Keeping) -> None:
    if not Collection.exists(folder):
        return
    try:
        manifest = read_manifest(folder / _MANIFEST)
    except CollectionError:
        if table := table_in(folder / _MANIFEST):
            raise CollectionError(
                f"{folder}: its manifest cannot be read, and its vectors are in a vector database, in the "
                f"table {table}. Drop that table there, delete {_MANIFEST}, and run the same command again."
            ) from None
        return
    keeping(folder, manifest).drop()


@dataclass(frozen=True, slots=True)
class Erasure:
    """The proof of an erasure: what was removed, and how many bytes were searched for traces.

    A text with several ids is kept once and removed with all of them. ``resumed`` says that the erasure was
    begun before and cut short: the text and vectors are no longer known, so no byte was searched for them,
    and only the passage ids were looked for in the database and in the index.
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

    def __init__(self, folder: Path, manifest: Manifest, keeping: Keeping = IndexFile) -> None:
        self.folder = folder
        self.manifest = manifest
        self._keeping = keeping
        self.store = Store(folder / _DATABASE)
        self._resumed: list[Erasure] = []

    @classmethod
    def create(cls, folder: Path, manifest: Manifest, keeping: Keeping = IndexFile) -> "Collection":
        """A new collection in ``folder``; the caller holds its lock."""
        # The manifest comes last: it marks the collection as complete.
        create_database(folder / _DATABASE)
        write_manifest(manifest, folder / _MANIFEST)
        return cls(folder, manifest, keeping)

    @classmethod
    def open(cls, folder: Path, keeping: Keeping = IndexFile) -> "Collection":
        """The collection in ``folder``; raises CollectionError if there is none."""
        return cls(folder, cls.manifest_in(folder), keeping)

    @staticmethod
    def manifest_in(folder: Path) -> Manifest:
        """The manifest of the collection in ``folder``; raises CollectionError if there is none."""
        return read_manifest(folder / _MANIFEST)

    @classmethod
    def exists(cls, folder: Path) -> bool:
        """Whether there is a collection; a folder without a manifest is not one."""
        return (folder / _MANIFEST).is_file()

    def __enter__(self) -> "Collection":
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    @cached_property
    def index(self) -> KeptIndex:
        """Where the vectors lie."""
        return self._keeping(self.folder, self.manifest)

    def load_index(self) -> VectorIndex:
        """The index to search with."""
        return self.index.load(self.store)

    def publish(self) -> None:
        """Make the index hold what the database holds; the caller holds the lock.

        Words of replaced documents are removed from the files, as far as no reader prevents it.
        """
        self.store.compact()
        self.index.publish(self.store)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The write lock of this collection; raises CollectionError if another process is writing."""
        with _held(self.folder):
            yield

    def reindex(self, encoder: Encoder) -> None:
        """Make all vectors again, by another encoder, from what is stored.

        After an interruption the collection is refused until this has been done whole. Raises CollectionError
        if another process is writing, or the vectors lie in a database and have another length.
        """
        with _held(self.folder):
            manifest = self.manifest
            if manifest.index != "faiss" and manifest.dim != encoder.dim:
                raise CollectionError(
                    f"{self.folder}: its table in {manifest.index} is for vectors of {manifest.dim} numbers, "
                    f"and {encoder.name} makes {encoder.dim}. Ingest the documents into a new collection."
                )
            write_manifest(replace(manifest, encoder=UNFINISHED), self.folder / _MANIFEST)
            self.store.encode_again(lambda documents: encoded(documents, encoder, manifest.search))
            self.manifest = replace(manifest, encoder=encoder.name, dim=encoder.dim)
            self.__dict__.pop("index", None)
            self.publish()
            write_manifest(self.manifest, self.folder / _MANIFEST)

    def erase_all(self, doc_ids: Sequence[str]) -> list[Erasure]:
        """Remove documents: passages, vectors, ledger rows and all other ids of the same texts.

        Every file is searched for traces. Pending erasures are finished, unknown ids are skipped. Raises
        CollectionError if another process is writing or reading: the next command that writes finishes them.
        """
        with _held(self.folder):
            self._resumed += self.finish_erasures()
            done = [each for each in self._resumed if {each.doc_id, *each.also_known_as} & {*doc_ids}]
            return [*done, *self._finish(self.store.erase_all(doc_ids))]

    def erase_lost(
        self, job_id: int, folders: Sequence[bytes], present: Iterable[bytes], failed: Iterable[bytes]
    ) -> tuple[list[Erasure], int]:
        """Erase documents whose source below some folders is gone; the caller holds the lock.

        Arguments and the second value are those of ``retrieval.store.rows.lost``. A text with another id
        is kept.
        """
        taken, unsure = self.store.let_go(job_id, folders, present, failed)
        return self._finish(taken), unsure

    def finish_erasures(self) -> list[Erasure]:
        """Finish interrupted erasures; the caller holds the lock."""
        return self._finish(self.store.pending_erasures())

    def _finish(self, taken: Sequence[PendingErasure]) -> list[Erasure]:
        if not taken:
            return []
        self.store.settle()
        self.publish()
        traces = {trace: words for each in taken for trace, words in (each.traces or {}).items()}
        searched, found = self._search(traces)
        erasures = []
        for pending in taken:
            ids, own = pending.passage_ids, pending.traces or {}
            left = self.store.count_of(ids) + self.index.count_of(ids) + sum(trace in own for trace in found)
            # Single words cannot be searched for in the files: the index writes only how they differ.
            left += not self.store.is_compact()
            if not left:
                self.store.strike_out(pending)
            doc_id, *others = pending.names
            resumed, read = pending.traces is None, searched if own else 0
            erasures.append(Erasure(doc_id, others, len(ids), pending.ledger_rows, read, left, resumed))
        return erasures

    def _search(self, traces: Mapping[bytes, str]) -> tuple[int, list[bytes]]:
        """Bytes searched and traces found, once a file; what another document shares is not a trace."""
        # Closing a file of the database takes SQLite's locks on it away from the whole process: no connection
        # of this process may be open.
        with self.store.apart():
            files = [_found_in(path, traces) for path in sorted(self.folder.iterdir()) if path.is_file()]
        found = [trace for _, here in files for trace in here]
        says, has_vector = self.store.says, self.store.has_vector
        left = [each for each in found if not (says(traces[each]) if traces[each] else has_vector(each))]
        return sum(size for size, _ in files), left


def _found_in(path: Path, traces: Iterable[bytes]) -> tuple[int, list[bytes]]:
    """How many bytes a file has, and which of the traces stand in it."""
    overlap = max(map(len, traces), default=1) - 1
    size, before, found, left = 0, b"", list[bytes](), list(traces)
    # A reader that ends takes SQLite's side files away with it.
    with suppress(FileNotFoundError), path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            size += len(chunk)
            window = before + chunk
            here = [trace for trace in left if trace in window]
            found += here
            left = [trace for trace in left if trace not in here] if here else left
            before = window[-overlap:] if overlap else b""
    return size, found
