"""Where the vectors of a collection lie between runs: in a file of its folder, or in a vector database.

Either is derived from the database of the collection, which is the record, and can be rebuilt from it.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from models.errors import ConfigurationError
from retrieval.errors import CollectionError
from retrieval.index.faiss import EXACT_UP_TO, FaissIndex
from retrieval.index.vector_store import Table, VectorStoreIndex, answering
from retrieval.manifest import Manifest
from retrieval.protocols import VectorIndex
from retrieval.store.database import Store

_REBUILT_AT_ONCE = 8192


class KeptIndex(Protocol):
    """The index of one collection.

    ``load`` is for searching. The others are for the holder of the collection's lock: ``publish`` adds what
    is missing and removes what is gone, ``count_of`` says how many of these passages it still holds, ``drop``
    removes all of it. All raise CollectionError where it cannot be read or written.
    """

    def load(self, store: Store) -> VectorIndex: ...

    def publish(self, store: Store) -> None: ...

    def count_of(self, passage_ids: Sequence[int]) -> int: ...

    def drop(self) -> None: ...


Keeping = Callable[[Path, Manifest], KeptIndex]
"""From the folder and the manifest of a collection to its index. Nothing is read or connected to yet."""


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
