"""Retrieval: questions to passages, by vectors and words."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval.documents import Passage, RetrievedPassage
from retrieval.keeping import add_vectors
from retrieval.protocols import VectorIndex
from retrieval.search import CANDIDATES, HYBRID, NEAREST, Search, coverage
from retrieval.store.database import Store

if TYPE_CHECKING:
    from ingest.protocols import Encoder
    from models.vectors import Vectors


class _Candidate(NamedTuple):
    """The id of a passage, its similarity to the question, and its score."""

    number: int
    similarity: float
    score: float


class HybridRetriever:
    """Vectors and words each propose passages; the best by cosine plus weighted coverage are returned.

    Without a weight for words it searches by vectors alone. Before each search the index is synchronized
    with the store, unless it is shared: its writer does that, and what a running ingest has written is found
    by its words until the ingest ends. Thread-safe; other processes may write to the store.
    """

    def __init__(self, encoder: "Encoder", index: VectorIndex, store: Store, search: Search = HYBRID) -> None:
        self._encoder = encoder
        self._index = index
        self._store = store
        self._search = search
        self._following = threading.Lock()
        self._followed: tuple[object, ...] = ()
        self._passages = 0

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        """For each question up to ``k`` passages, best first, none with the words of a better one.

        Raises:
            CollectionError: The collection was deleted or replaced.
        """
        if not questions:
            return []
        # A lone surrogate is no text for the encoder or the database.
        texts = [question.encode("utf-8", "replace").decode("utf-8") for question in questions]
        vectors = self._encoder.encode(texts)
        self._follow()
        near = self._index.search(vectors, max(k, NEAREST))
        ranked = [
            self._ranked(question, vector, found)
            for question, vector, found in zip(texts, vectors, near, strict=True)
        ]
        # Twice as many, since passages may repeat each other.
        best = [each[: 2 * k] for each in ranked]
        passages = self._store.passages(sorted({each.number for row in best for each in row}))
        return [_distinct(row, passages)[:k] for row in best]

    def _ranked(
        self, question: str, vector: "Vectors", near: Sequence[tuple[int, float]]
    ) -> list[_Candidate]:
        """Candidates, best first; equal scores in the order of the ids."""
        similar, covered = dict(near), dict[int, float]()
        if self._search.words:
            ids, shares = coverage(self._store.holders(question), self._passages)
            covered = dict(zip(ids.tolist(), shares.tolist(), strict=True))
            proposed = ids[np.lexsort((ids, -shares))[:CANDIDATES]].tolist()
            further, rows = self._store.vectors_of([number for number in proposed if number not in similar])
            similar.update(zip(further, (rows @ vector).tolist() if further else (), strict=True))
        found = [
            _Candidate(number, similarity, similarity + self._search.words * covered.get(number, 0.0))
            for number, similarity in similar.items()
        ]
        return sorted(found, key=lambda each: (-each.score, each.number))

    def _follow(self) -> None:
        with self._following:
            # Read the state first: later writes are picked up by the next search.
            state = self._store.state()
            if state == self._followed:
                return
            if not self._index.shared:
                self._follow_rows()
            self._passages = self._store.count_passages()
            self._followed = state

    def _follow_rows(self) -> None:
        add_vectors(self._store, self._index, after=int(self._index.ids().max(initial=0)))
        # Ids are never reused, so equal counts mean equal ids.
        if len(self._index) != self._store.count_passages():
            gone = np.setdiff1d(self._index.ids(), self._store.passage_ids())
            self._index.remove(gone.tolist())


def _distinct(ranked: Sequence[_Candidate], passages: dict[int, Passage]) -> list[RetrievedPassage]:
    """The passages that still exist, without those that repeat the words of a better one."""
    said: dict[str, RetrievedPassage] = {}
    for each in ranked:
        if passage := passages.get(each.number):
            said.setdefault(passage.text, RetrievedPassage(passage, each.similarity, each.score))
    return list(said.values())
