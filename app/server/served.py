"""What a server serves: collections by name, and the encoder that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from app.compose import answering, encoder_of, generating_model_of, sanitizer_of, searching
from app.data_dir import DataDir
from app.rows import collection_row
from app.server.errors import UnknownCollection
from ingest.protocols import Encoder
from retrieval.collection import Collection
from retrieval.errors import CollectionError
from retrieval.protocols import Generator, Retriever


@dataclass(frozen=True, slots=True)
class ServedCollection:
    """The retriever and the generator of a collection; several threads call them at once."""

    retriever: Retriever
    generator: Generator
    k: int


class Collections(Protocol):
    """Collections by name. Safe to share between threads.

    ``get``, ``row`` and ``documents`` raise UnknownCollection for a name that is not, or no longer, among the
    ``names``, and CollectionError for one that cannot be used.
    """

    @property
    def encoder(self) -> Encoder: ...

    def names(self) -> Sequence[str]: ...

    def serves(self, name: str) -> bool: ...

    def get(self, name: str) -> ServedCollection: ...

    def row(self, name: str) -> Mapping[str, object]: ...

    def documents(self, name: str) -> int: ...


class DataCollections:
    """The collections of a data folder, or ``only`` one of them.

    Each is opened when it is first asked for, and again if another has taken its place.
    """

    def __init__(self, data: DataDir, only: str | None = None) -> None:
        self._data, self._only = data, only
        self.encoder = encoder_of(data.settings)
        self._model = generating_model_of(data.settings)
        self._opened: dict[str, tuple[Collection, ServedCollection]] = {}
        self._opening = Lock()
        if only is not None:
            # What is wrong with it is said at the start.
            data.open(only).store.close()
            self.get(only)

    def serves(self, name: str) -> bool:
        """Whether a collection of this name is or would be among those that it has."""
        return self._only in (None, name)

    def names(self) -> list[str]:
        """Those that exist now, in the order of their names."""
        there = [name for name in self._data.collections() if self._only in (None, name)]
        with self._opening:
            # What is deleted is let go: an open file would keep it on the disk.
            for gone in self._opened.keys() - there:
                del self._opened[gone]
        return there

    def counts(self) -> Mapping[str, int]:
        """How many there are, and how many of them are open."""
        return {"kept": len(self.names()), "open": len(self._opened)}

    def get(self, name: str) -> ServedCollection:
        """A collection to ask; raises CollectionError if it is not there, or has another encoder."""
        with self._opening:
            opened = self._opened.get(name)
            if opened is None or not _is_there(opened[0]):
                self._opened.pop(name, None)
                opened = self._opened[name] = self._served(name)
            return opened[1]

    def row(self, name: str) -> Mapping[str, object]:
        """Its figures and settings."""
        with self._collection(name) as collection:
            return collection_row(name, collection)

    def documents(self, name: str) -> int:
        """How many documents it has."""
        with self._collection(name) as collection:
            return collection.store.count_documents()

    def _collection(self, name: str) -> Collection:
        if not Collection.exists(self._data.folder(name)):
            raise UnknownCollection(())
        return self._data.open(name)

    def _served(self, name: str) -> tuple[Collection, ServedCollection]:
        settings = self._data.settings
        collection = self._collection(name)
        sanitizer = sanitizer_of(settings, collection, self.encoder)
        retriever = searching(settings, collection, self.encoder, sanitizer)
        generator = answering(settings, collection, self.encoder, self._model, sanitizer)
        return collection, ServedCollection(retriever, generator, settings.retrieval.k)


def _is_there(collection: Collection) -> bool:
    """Whether the folder still holds the collection that was opened."""
    try:
        collection.store.state()
    except CollectionError:
        return False
    return True
