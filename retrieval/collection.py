"""A collection: a folder with a manifest, a database and an index that can be rebuilt from it."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ingest.private_files import close_to_others, private_folder
from ingest.protocols import Encoder
from retrieval.errors import CollectionBusy, CollectionError, unwritable
from retrieval.keeping import IndexFile, Keeping, KeptIndex
from retrieval.manifest import Manifest, read_manifest, table_in, write_manifest
from retrieval.passages import encoded
from retrieval.protocols import VectorIndex
from retrieval.store.connection import create_database
from retrieval.store.database import Store
from retrieval.store.rows import PendingErasure

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

    Raises:
        CollectionError: Another process is writing to it, its vector database does not answer, or the folder
            cannot be deleted.
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

    def reindex(self, encoder: Encoder) -> None:
        """Make all vectors again, by another encoder, from what is stored.

        After an interruption the collection is refused until this has been done whole.

        Raises:
            CollectionError: Another process is writing, or the vectors lie in a database and have another
                length.
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

        Every file is searched for traces. Pending erasures are finished, unknown ids are skipped.

        Raises:
            CollectionError: Another process is writing or reading: the erasures are pending, and the next
                command that writes finishes them.
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
