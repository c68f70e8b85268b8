"""A collection: a folder with a manifest, a database and an index that can be rebuilt from it."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType

from ingest.private_files import close_to_others, private_folder
from ingest.protocols import Encoder
from models.vectors import Vectors
from retrieval.errors import CollectionBusy, CollectionError, unwritable
from retrieval.keeping import IndexFile, Keeping, KeptIndex
from retrieval.manifest import Manifest, read_manifest, table_in, write_manifest
from retrieval.passages import Read, encoded
from retrieval.protocols import VectorIndex
from retrieval.store.connection import create_database
from retrieval.store.database import Store
from retrieval.store.erasure import Fingerprint, PendingErasure, found_in

_DATABASE = "collection.db"
_MANIFEST = "manifest.json"
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
            if not there:
                _remove_if_empty(folder, keeping)
            raise


def _remove_if_empty(folder: Path, keeping: Keeping) -> None:
    """Remove a collection without documents, or what is left of one; the caller holds the lock."""
    # What ended the writing is reported, and not what else a full disk forbids.
    with suppress(CollectionError):
        if Collection.exists(folder):
            with Collection.open(folder, keeping) as collection:
                if collection.store.count_documents():
                    return
        _remove(folder, keeping)


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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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

            def of(documents: Sequence[Sequence[tuple[str, str]]]) -> Iterable[Vectors]:
                rows = [[Read(*each) for each in of_one] for of_one in documents]
                return encoded(rows, encoder, manifest.search)

            self.store.encode_again(of)
            self.manifest = replace(manifest, encoder=encoder.name, dim=encoder.dim)
            self.__dict__.pop("index", None)
            self.publish()
            write_manifest(self.manifest, self.folder / _MANIFEST)

    def erase(self, doc_id: str) -> Erasure:
        """Remove a document: passages, vectors, ledger rows and all other ids of the same text.

        Every file is searched for traces. A pending erasure is finished.

        Raises:
            UnknownDocument: The id is not in the collection.
            CollectionError: Another process is writing or reading: the erasure is pending, and the next
                command that writes finishes it.
        """
        erasures = self.erase_all([doc_id])
        if not erasures:
            raise UnknownDocument(
                f"{self.folder}: there is no document {doc_id}. `lethe documents` shows ids."
            )
        return erasures[0]

    def erase_all(self, doc_ids: Sequence[str]) -> list[Erasure]:
        """As ``erase``, for several ids; unknown ids are skipped."""
        with _held(self.folder):
            self._resumed += self.finish_erasures()
            done = [each for each in self._resumed if {each.doc_id, *each.also_known_as} & {*doc_ids}]
            return [*done, *self._finish(self.store.erase_all(doc_ids))]

    def erase_lost(
        self, job_id: int, folders: Sequence[bytes], present: Iterable[bytes], failed: Iterable[bytes]
    ) -> tuple[list[Erasure], int]:
        """Erase documents whose source below some folders is gone; the caller holds the lock.

        Arguments and the second value are those of ``retrieval.store.sources.lost``. A text with another id
        is kept.
        """
        taken, unsure = self.store.let_go(job_id, folders, present, failed)
        return self._finish(taken), unsure

    def finish_erasures(self) -> list[Erasure]:
        """Finish interrupted erasures; the caller holds the lock."""
        return self._finish([(pending, None) for pending in self.store.pending_erasures()])

    def _finish(self, taken: Sequence[tuple[PendingErasure, Sequence[Fingerprint] | None]]) -> list[Erasure]:
        if not taken:
            return []
        self.store.settle()
        self.publish()
        searched, found = self._search([each for _, fingerprints in taken for each in fingerprints or ()])
        erasures = []
        for pending, fingerprints in taken:
            doc_id, *others = pending.names
            ids = pending.passage_ids
            own = {piece for each in fingerprints or () for piece in (each.words.encode(), *each.content)}
            left = self.store.count_of(ids) + self.index.count_of(ids) + sum(trace in own for trace in found)
            # Single words cannot be searched for in the files: the index writes only how they differ.
            left += not self.store.is_compact()
            if not left:
                self.store.strike_out(pending)
            resumed, read = fingerprints is None, searched if fingerprints else 0
            erasures.append(Erasure(doc_id, others, len(ids), pending.ledger_rows, read, left, resumed))
        return erasures

    def _search(self, fingerprints: Sequence[Fingerprint]) -> tuple[int, list[bytes]]:
        """Bytes searched and traces found; text that another document shares is not a trace."""
        words = {each.words.encode(): each.words for each in fingerprints if each.words}
        others = {piece for each in fingerprints for piece in each.content}
        with self.store.apart():
            searched, found = found_in(self.folder, [*words, *others])
        return searched, [
            trace
            for trace in found
            if not (self.store.says(words[trace]) if trace in words else self.store.has_vector(trace))
        ]
