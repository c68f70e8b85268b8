"""What a server serves: collections by name, and the models that they share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import Generic, Protocol, TypeVar

from app.compose import (
    answering,
    defending,
    encoder_of,
    generating_model_of,
    retriever_of,
    sanitizer_of,
    search_of,
    searching,
    system_of,
)
from app.data_dir import DataDir
from app.machine import cores
from app.rows import collection_row
from app.server.errors import UnknownCollection
from app.server.joined import JoinedEncoder
from ingest.protocols import Encoder
from retrieval.collection import Collection
from retrieval.documents import Groups
from retrieval.errors import CollectionError
from retrieval.protocols import Generator, Retriever

_Loaded = TypeVar("_Loaded")


@dataclass(frozen=True, slots=True)
class ServedCollection:
    """The retriever and the generator of a collection; several threads call them at once.

    ``retriever_for`` finds what a reader with these groups may read. ``bare`` finds what questions may not:
    the proof of an erasure searches with it.
    """

    retriever_for: Callable[[Groups], Retriever]
    generator: Generator
    k: int
    bare: Retriever


class Collections(Protocol):
    """Collections by name. Safe to share between threads.

    ``get``, ``row`` and ``documents`` raise UnknownCollection for a name that is not, or no longer, among the
    ``names``, and CollectionError for one that cannot be used.
    """

    @property
    def encoder(self) -> Encoder: ...

    def forget_questions(self) -> None: ...

    def names(self) -> Sequence[str]: ...

    def serves(self, name: str) -> bool: ...

    def get(self, name: str) -> ServedCollection: ...

    def row(self, name: str) -> Mapping[str, object]: ...

    def documents(self, name: str, groups: Groups = None) -> int: ...


class Once(Generic[_Loaded]):
    """Loads when it is first needed, for all threads."""

    def __init__(self, load: Callable[[], _Loaded]) -> None:
        self._kept, self._lock = cache(load), Lock()

    def __call__(self) -> _Loaded:
        with self._lock:
            return self._kept()

    def loaded(self) -> int:
        """1 once it is loaded, else 0."""
        return self._kept.cache_info().currsize


@dataclass(slots=True, repr=False)
class _Opened:
    """A collection that is open, and what asks it."""

    collection: Collection
    served: ServedCollection


class DataCollections:
    """The collections of a data folder, or ``only`` one of them.

    Each is opened when it is first asked for, and again if another has taken its place. ``system`` has the
    models for all of them and is loaded when it is first needed.
    """

    def __init__(self, data: DataDir, only: str | None = None) -> None:
        self._data, self._only = data, only
        # One thread each: the models are small, and requests that run side by side fill the cores.
        encoder = encoder_of(data.settings, threads=1)
        self.encoder = JoinedEncoder(encoder, cores())
        self.system = Once(lambda: system_of(data.settings, encoder=encoder))
        self._model = generating_model_of(data.settings)
        self._around = defending(data.settings, self._model)
        self._opened: dict[str, _Opened] = {}
        self._lock = Lock()
        self._turns: dict[str, Lock] = {}
        if only is not None:
            # What is wrong with it is said at the start.
            data.open(only).store.close()
            self.get(only)

    def forget_questions(self) -> None:
        """Remember no question any more, in whose words something that is erased may be."""
        self.encoder.forget()

    def serves(self, name: str) -> bool:
        """Whether a collection of this name is or would be among those that it has."""
        return self._only in (None, name)

    def names(self) -> list[str]:
        """Those that exist now, in the order of their names."""
        there = [name for name in self._data.collections() if self._only in (None, name)]
        with self._lock:
            # What is deleted is let go: an open file would keep it on the disk.
            for gone in self._opened.keys() - there:
                self._opened.pop(gone, None)
        return there

    def counts(self) -> Mapping[str, int]:
        """How many there are, and how many of them are open."""
        return {"kept": len(self.names()), "open": len(self._opened)}

    def get(self, name: str) -> ServedCollection:
        """A collection to ask; raises CollectionError if it is not there, or has another encoder."""
        with self._lock:
            turn = self._turns.setdefault(name, Lock())
        # While one is opened, the others answer.
        with turn:
            opened = self._opened.get(name)
            if opened is None or not _is_there(opened.collection):
                self._opened.pop(name, None)
                opened = self._opened[name] = self._open(name)
            return opened.served

    def row(self, name: str) -> Mapping[str, object]:
        """Its figures and settings."""
        with self._collection(name) as collection:
            return collection_row(name, collection)

    def documents(self, name: str, groups: Groups = None) -> int:
        """How many documents it has that a reader with these groups may read."""
        with self._collection(name) as collection:
            return collection.store.count_documents(groups)

    def _collection(self, name: str) -> Collection:
        if not Collection.exists(self._data.folder(name)):
            raise UnknownCollection(())
        return self._data.open(name)

    def _open(self, name: str) -> _Opened:
        settings = self._data.settings
        collection = self._collection(name)
        sanitizer = sanitizer_of(settings, collection, self.encoder, self.system)
        bare = retriever_of(collection, self.encoder, search_of(settings))
        retriever_for = partial(searching, collection, bare, sanitizer, self._around)
        generator = answering(settings, collection, self.encoder, self._model, sanitizer)
        return _Opened(collection, ServedCollection(retriever_for, generator, settings.retrieval.k, bare))


def _is_there(collection: Collection) -> bool:
    """Whether the folder still holds the collection that was opened."""
    try:
        collection.store.state()
    except CollectionError:
        return False
    return True
