"""A collection as a vector store of LangChain: texts are sanitized on their way in.

It is the collection that the server and the command line work with, written by the same ingest, so ids, the
ledger, erasure and what survives a kill are the same. Only ``langchain-core`` is needed, and the environment
cannot trace anything (``retrieval.langchain_adapters``).
"""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from langchain_core.documents import Document as LangChainDocument
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.base import VectorStoreRetriever
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from pydantic import Field

from app.compose import retriever_of
from app.data_dir import DataDir
from app.ingesting import ingest
from ingest.documents import Document
from ingest.keys import content_key
from ingest.read.doc_ids import digested_id
from ingest.read.reading import Reading
from models.errors import ConfigurationError
from retrieval.collection import Collection
from retrieval.documents import RetrievedPassage
from retrieval.errors import CollectionError
from retrieval.langchain_adapters import LetheEmbeddings, Untraced
from retrieval.retriever import HybridRetriever
from retrieval.search import room_of
from retrieval.system import System


class LetheVectorStore(VectorStore):
    """The sanitized passages of a collection, which the first texts make if it is not there.

    A result is a passage: its ``id`` is that of its document, and a text of more than
    ``system.passage_tokens`` tokens has several. Ids are those that collections store: keyed digests, unless
    the settings keep ids that look opaque. Every method takes an id as it was given or as it is stored. The
    scores are those that passages are ranked by (``RetrievedPassage.score``): higher is better. Who has the
    store has all that is in it: what ``retrieval`` sets for questions of others is not applied.

    Metadata is not sanitized. So only the keys in ``keep_metadata`` are stored, in clear, and go with their
    document. A text that is there already is not stored twice: it gets one more id and the newer metadata.

    Thread-safe. Where this process has the collection open elsewhere too, erase with ``lethe erase``: an
    erasure reads the files, which takes SQLite's locks away from the others.

    Args:
        system: the parts, as ``app.compose.system_of`` makes them.
        data: the data folder.
        name: the collection.
        keep_metadata: keys whose values are JSON and not private.
    """

    def __init__(self, system: System, data: DataDir, name: str, keep_metadata: Sequence[str] = ()) -> None:
        self._system = system
        self._data = data
        self._name = name
        self._folder = data.folder(name)
        self._keep_metadata = frozenset(keep_metadata)
        self._busy = threading.RLock()
        self._opened: tuple[Collection, HybridRetriever] | None = None

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> "LetheVectorStore":
        """A store with these texts; ``kwargs`` are the arguments of the class.

        Raises:
            ConfigurationError: ``embedding`` is not None: the system has an encoder.
        """
        if embedding is not None:
            raise ConfigurationError(
                "LetheVectorStore: the system's own encoder makes the vectors. Give None as the embedding; "
                "the settings name another encoder."
            )
        store = cls(**kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @property
    def embeddings(self) -> Embeddings:
        """Those that the passages were encoded with."""
        return LetheEmbeddings(self._system.encoder)

    def close(self) -> None:
        """Close the collection's files; the next call opens them again."""
        with self._busy:
            if self._opened:
                self._opened[0].store.close()
            self._opened = None

    # -- writing ---------------------------------------------------------------------------------------

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Sanitize texts and store them; the ids under which they are stored, in order.

        A text without an id gets a keyed digest of itself, so adding it again changes nothing. A text with
        an id that is there replaces the one before. ``batch_size``, which LangChain's indexing gives, is
        not needed: the batches are those of the settings.

        Raises:
            ConfigurationError: There are options, not one id and one metadata for each text, or kept
                metadata that is not JSON; nothing was stored.
            CollectionError: Some texts were not stored, or the collection cannot be written.
        """
        _refuse(kwargs)
        given = list(texts)
        public = self._ids_for(given, ids)
        kept = self._kept(given, metadatas)
        if not given:
            return []
        documents = map(Document, public, given)
        with self._writing():
            tally = ingest(
                self._system, self._data, self._name, (Reading(document, 0) for document in documents)
            )
            if Collection.exists(self._folder):
                with self._data.open(self._name) as collection:
                    # What is not stored may have left an older text in its place.
                    failed = {each.place for each in tally.failures}
                    pairs = zip(public, kept, strict=True)
                    collection.store.keep_metadata({name: one for name, one in pairs if name not in failed})
        if tally.failed:
            first = tally.failures[0]
            raise CollectionError(
                f"collection {self._name}: {tally.failed} of {len(given)} texts were not stored. The first: "
                f"{first.place}: {first.reason}"
            )
        return public

    def _ids_for(self, texts: Sequence[str], ids: Sequence[str | None] | None) -> list[str]:
        named = [None] * len(texts) if ids is None else list(ids)
        if len(named) != len(texts):
            raise ConfigurationError(
                f"There are {len(texts)} texts and {len(named)} ids; give each text one."
            )
        key = self._data.key
        return self._data.public_ids(
            [
                digested_id(content_key(text, key).hex(), key) if name is None else name
                for text, name in zip(texts, named, strict=True)
            ]
        )

    def _kept(self, texts: Sequence[str], metadatas: Sequence[Mapping[str, Any]] | None) -> list[str]:
        given = [{}] * len(texts) if metadatas is None else metadatas
        if len(given) != len(texts):
            raise ConfigurationError(
                f"There are {len(texts)} texts and {len(given)} metadatas; give each text one, or none."
            )
        kept = [{name: one for name, one in each.items() if name in self._keep_metadata} for each in given]
        try:
            return [json.dumps(each, allow_nan=False) for each in kept]
        except (TypeError, ValueError):
            # Without the cause, which may name what the value says.
            raise ConfigurationError(
                "keep_metadata: a value is not JSON. Leave its key out, or make it a text or a number."
            ) from None

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Erase documents, of None all, with vectors, ledger rows and metadata; search the files for traces.

        A text with several ids goes with all of them. Unknown ids are skipped.

        Raises:
            CollectionError: Traces are left, or another process is using the collection.
        """
        _refuse(kwargs)
        with self._writing():
            if not Collection.exists(self._folder):
                return True
            with self._data.open(self._name) as collection:
                names = (
                    [each.doc_id for each in collection.store.documents()]
                    if ids is None
                    else self._data.public_ids(ids)
                )
                left = sum(each.traces_found for each in collection.erase_all(names))
        if left:
            raise CollectionError(
                f"collection {self._name}: {left} traces of erased documents are left. Erase them again."
            )
        return True

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """No file of the collection is open here meanwhile (``Store.apart``)."""
        with self._busy:
            self.close()
            yield

    # -- reading ---------------------------------------------------------------------------------------

    def get_by_ids(self, ids: Sequence[str], /) -> list[LangChainDocument]:
        """The whole sanitized texts of those that are there, each under the id that it was asked for."""
        with self._reading() as opened:
            if opened is None:
                return []
            store = opened[0].store
            public = list(dict.fromkeys(self._data.public_ids(ids)))
            passages = {name: found for name in public if (found := store.passages_of(name))}
            metadata = store.metadata_of([found[0].doc_id for found in passages.values()])
        return [
            LangChainDocument(
                "".join(each.text for each in found),
                id=name,
                metadata=json.loads(metadata.get(found[0].doc_id, "{}")),
            )
            for name, found in passages.items()
        ]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[LangChainDocument]:
        """The best ``k`` passages for a question; raises ConfigurationError for options, or k below 1."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[LangChainDocument, float]]:
        """As ``similarity_search``, with the scores."""
        _refuse(kwargs)
        with self._reading() as opened:
            if opened is None:
                return []
            found = self._found(opened, query, k)
            return list(zip(_documents(opened[0], found), (each.score for each in found), strict=True))

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[LangChainDocument]:
        """``k`` of the best ``fetch_k`` passages that are near the question and far from each other.

        ``lambda_mult`` in [0, 1] is the weight of the first beside the second.
        """
        _refuse(kwargs)
        with self._reading() as opened:
            if opened is None:
                return []
            proposed = self._found(opened, query, max(k, fetch_k) if k > 0 else k)
            found = {each.passage.passage_id: each for each in proposed}
            numbers, vectors = opened[0].store.vectors_of(list(found))
            question = self._system.encoder.encode([query])[0]
            chosen = maximal_marginal_relevance(question, list(vectors), lambda_mult, k) if numbers else []
            return _documents(opened[0], [found[numbers[place]] for place in chosen])

    def _found(
        self, opened: tuple[Collection, HybridRetriever], query: str, k: int
    ) -> list[RetrievedPassage]:
        if k < 1:
            raise ConfigurationError(f"LetheVectorStore: k is {k}; ask for 1 passage or more.")
        return opened[1].retrieve([query], k)[0]

    @contextmanager
    def _reading(self) -> Iterator[tuple[Collection, HybridRetriever] | None]:
        """The collection, opened once, and what searches it; None as long as there is none."""
        with self._busy:
            if self._opened is None and Collection.exists(self._folder):
                collection = self._data.open(self._name)
                try:
                    retriever = retriever_of(collection, self._system.encoder, self._system.search)
                except BaseException:
                    collection.store.close()
                    raise
                self._opened = collection, retriever
            yield self._opened

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        most = 1 + self._system.search.words * room_of(self._system.encoder)
        return lambda score: float(np.clip(score / most, 0, 1))

    def as_retriever(self, **kwargs: Any) -> VectorStoreRetriever:
        """As LangChain has it, but the environment cannot trace it."""
        return _StoreRetriever(vectorstore=self, **kwargs)


class _StoreRetriever(Untraced, VectorStoreRetriever):
    search_kwargs: dict[str, Any] = Field(default_factory=dict, repr=False)


def _refuse(options: Mapping[str, Any]) -> None:
    if options:
        # The names of options only: a filter may quote a name.
        raise ConfigurationError(
            f"LetheVectorStore does not know {', '.join(sorted(options))}; leave it out."
        )


def _documents(collection: Collection, found: Sequence[RetrievedPassage]) -> list[LangChainDocument]:
    metadata = collection.store.metadata_of([each.passage.doc_id for each in found])
    return [
        LangChainDocument(
            each.passage.text,
            id=each.passage.doc_id,
            metadata=json.loads(metadata.get(each.passage.doc_id, "{}")),
        )
        for each in found
    ]
