"""Dense retrieval: questions to passages."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from retrieval.collection import add_vectors
from retrieval.documents import RetrievedPassage
from retrieval.protocols import VectorIndex
from retrieval.store.database import Store

if TYPE_CHECKING:
    from ingest.protocols import Encoder


class DenseRetriever:
    """Encode, search, fetch. Before each search the index is synchronized with the store.

    Thread-safe; other processes may write to the store.
    """

    def __init__(self, encoder: "Encoder", index: VectorIndex, store: Store) -> None:
        self._encoder = encoder
        self._index = index
        self._store = store
        self._following = threading.Lock()
        self._followed: tuple[object, ...] = ()

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        """For each question up to ``k`` passages, best first.

        Raises:
            CollectionError: The collection was deleted or replaced.
        """
        if not questions:
            return []
        vectors = self._encoder.encode(questions)
        self._follow()
        found = self._index.search(vectors, k)
        wanted = sorted({number for row in found for number, _ in row})
        passages = self._store.passages(wanted)
        return [
            # Passages erased since the search are left out.
            [RetrievedPassage(passages[number], score) for number, score in row if number in passages]
            for row in found
        ]

    def _follow(self) -> None:
        with self._following:
            # Read the state first: later writes are picked up by the next search.
            state = self._store.state()
            if state == self._followed:
                return
            add_vectors(self._store, self._index, after=int(self._index.ids().max(initial=0)))
            # Ids are never reused, so equal counts mean equal ids.
            if len(self._index) != self._store.count_passages():
                gone = np.setdiff1d(self._index.ids(), self._store.passage_ids())
                self._index.remove(gone.tolist())
            self._followed = state
