"""Retrieval: questions to passages, by vectors and words."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from ingest.protocols import Encoder
from models.vectors import Vectors
from retrieval.collection import add_vectors
from retrieval.documents import Groups, Passage, RetrievedPassage
from retrieval.protocols import Reranker, Retriever, VectorIndex
from retrieval.search import CANDIDATES, HYBRID, NEAREST, Search, coverage, room_of
from retrieval.store.database import Store

COMPARED, PROPOSED = 20_000, 16_000
"""Passages of a reader that are compared one by one; from more of them the index proposes up to so many, and
if too few of these are readable, all are compared after all."""
READ_FOR_EACH = 4
"""Passages that a reranker reads for each that is wanted."""
WIDENED, BESIDE = 5, 2
"""So many passages of a question are given with so many on either side."""
_REMEMBERED = 64
"""Readers of which is remembered what they may read."""
_Candidate = tuple[int, float, float]
"""The id of a passage, its similarity to the question, and its score."""


class HybridRetriever:
    """Vectors and words each propose passages; the best by cosine plus weighted coverage are returned.

    Without a weight for words it searches by vectors alone. Before each search the index is synchronized
    with the store, unless it is shared: its writer does that, and what a running ingest has written is found
    by its words until the ingest ends. Thread-safe; other processes may write to the store.
    """

    def __init__(self, encoder: Encoder, index: VectorIndex, store: Store, search: Search = HYBRID) -> None:
        self._encoder = encoder
        self._index = index
        self._store = store
        self._search = search
        self._following = threading.Lock()
        self._followed: tuple[object, ...] = ()
        self._last: int | None = None
        self._passages = 0
        self._readable: dict[Groups, NDArray[np.int64] | None] = {}

    def retrieve(
        self, questions: Sequence[str], k: int, groups: Groups = None
    ) -> list[list[RetrievedPassage]]:
        """For each question up to ``k`` passages, best first, none with the words of a better one.

        A reader with ``groups`` finds the same as in a collection of what that reader may read: what others
        read is neither found nor counted in scores. Of a long question fewer words are then looked up
        (``retrieval.store.words``). Raises CollectionError if the collection was deleted or replaced.
        """
        if not questions:
            return []
        # A lone surrogate is no text for the encoder or the database.
        texts = [question.encode("utf-8", "replace").decode("utf-8") for question in questions]
        vectors = self._encoder.encode(texts)
        readable = self._follow(groups)
        near = self._near(vectors, max(k, NEAREST), readable)
        # Twice as many, since passages may repeat each other.
        best = [
            self._best(question, vector, found, 2 * k, readable)
            for question, vector, found in zip(texts, vectors, near, strict=True)
        ]
        # What came since then may be for others.
        passages = self._store.passages(sorted({number for row in best for number, _, _ in row}), groups)
        return self._widened([_distinct(row, passages)[:k] for row in best], groups)

    def _widened(
        self, found: Sequence[Sequence[RetrievedPassage]], groups: Groups
    ) -> list[list[RetrievedPassage]]:
        """The same, the first of each question with the passages beside them."""
        numbers = {each.passage.passage_id for row in found for each in row[:WIDENED]}
        around = [step for step in range(-BESIDE, BESIDE + 1) if step]
        near = self._store.passages(sorted({number + step for number in numbers for step in around}), groups)

        def wide(each: RetrievedPassage) -> RetrievedPassage:
            own = each.passage
            those = (near.get(own.passage_id + step) for step in around)
            return replace(each, beside=tuple(one for one in those if one and one.doc_id == own.doc_id))

        return [[*map(wide, row[:WIDENED]), *row[WIDENED:]] for row in found]

    def _near(
        self, vectors: Vectors, most: int, readable: NDArray[np.int64] | None
    ) -> Sequence[Sequence[tuple[int, float]]]:
        """The ``most`` nearest passages of those that are readable, best first."""
        if readable is None:
            return self._index.search(vectors, most)
        asked = most
        while asked <= PROPOSED and len(readable) > COMPARED:
            found = self._index.search(vectors, asked)
            kept = [_those_in(row, readable)[:most] for row in found]
            if all(len(row) == most for row in kept):
                return kept
            asked *= 4
        return self._compared(vectors, most, readable)

    def _compared(
        self, vectors: Vectors, most: int, readable: NDArray[np.int64]
    ) -> list[list[tuple[int, float]]]:
        """As ``_near``, by comparing all of them."""
        best: list[list[tuple[int, float]]] = [[] for _ in vectors]
        for first in range(0, len(readable), COMPARED):
            ids, rows = self._store.vectors_of(readable[first : first + COMPARED].tolist())
            for place, vector in enumerate(vectors if ids else ()):
                near = [*best[place], *zip(ids, (rows @ vector).tolist(), strict=True)]
                best[place] = sorted(near, key=lambda pair: -pair[1])[:most]
        return best

    def _best(
        self,
        question: str,
        vector: Vectors,
        near: Sequence[tuple[int, float]],
        most: int,
        readable: NDArray[np.int64] | None,
    ) -> list[_Candidate]:
        """The best candidates; equal scores in the order of the ids."""
        numbers = np.array([number for number, _ in near], dtype=np.int64)
        # In half precision a vector of length one is up to a thousandth longer.
        similarities = np.clip([similarity for _, similarity in near], -1.0, 1.0)
        scores = similarities
        if self._search.words:
            passages = self._passages if readable is None else len(readable)
            holding, shares = coverage(self._store.holders(question, readable), passages)
            further = np.setdiff1d(holding[_first(shares, CANDIDATES)], numbers)
            ids, rows = self._store.vectors_of(further.tolist())
            numbers = np.concatenate([numbers, np.array(ids, dtype=np.int64)])
            similarities = np.concatenate([similarities, np.clip(rows @ vector, -1, 1) if ids else []])
            scores = similarities + self._weight * _of(numbers, holding, shares)
        first = np.lexsort((numbers, -scores))[:most]
        return [(int(numbers[i]), float(similarities[i]), float(scores[i])) for i in first]

    @cached_property
    def _weight(self) -> float:
        return self._search.words * room_of(self._encoder)

    def _follow(self, groups: Groups) -> NDArray[np.int64] | None:
        """What is readable, once the index follows the store."""
        with self._following:
            # Read the state first: later writes are picked up by the next search.
            state = self._store.state()
            if state != self._followed:
                self._passages = self._store.count_passages()
                if not self._index.shared:
                    self._follow_rows()
                self._followed, self._readable = state, {}
            if groups not in self._readable:
                if len(self._readable) >= _REMEMBERED:
                    self._readable.clear()
                self._readable[groups] = self._store.readable(groups)
            return self._readable[groups]

    def _follow_rows(self) -> None:
        if self._last is None:
            self._last = int(self._index.ids().max(initial=0))
        self._last = add_vectors(self._store, self._index, after=self._last)
        # Ids are never reused, so equal counts mean equal ids.
        if len(self._index) != self._passages:
            gone = np.setdiff1d(self._index.ids(), self._store.passage_ids())
            self._index.remove(gone.tolist())


@dataclass(frozen=True, slots=True)
class ReadBy:
    """Finds what a reader with these groups may read, as ``HybridRetriever.retrieve`` does."""

    retriever: HybridRetriever
    groups: Groups = field(repr=False)

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        return self.retriever.retrieve(questions, k, self.groups)


def _first(shares: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The places of the highest, of equal ones the first."""
    if len(shares) > most:
        least = np.partition(shares, -most)[-most]
        high = np.flatnonzero(shares >= least)
        return high[np.argsort(-shares[high], kind="stable")[:most]]
    return np.argsort(-shares, kind="stable")


def _of(
    numbers: NDArray[np.int64], holding: NDArray[np.int64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The shares of these passages; 0 for one that is not among the sorted ``holding``."""
    if not len(holding):
        return np.zeros(len(numbers))
    places = np.minimum(np.searchsorted(holding, numbers), len(holding) - 1)
    return np.where(holding[places] == numbers, shares[places], 0.0)


def _those_in(row: Sequence[tuple[int, float]], ids: NDArray[np.int64]) -> list[tuple[int, float]]:
    """The pairs whose ids are among the sorted ``ids``, which are not empty."""
    numbers = np.array([number for number, _ in row], dtype=np.int64)
    places = np.minimum(np.searchsorted(ids, numbers), len(ids) - 1)
    return list(compress(row, ids[places] == numbers))


def _distinct(ranked: Sequence[_Candidate], passages: dict[int, Passage]) -> list[RetrievedPassage]:
    """The passages that still exist, without those that repeat the words of a better one."""
    said: dict[str, RetrievedPassage] = {}
    for number, similarity, score in ranked:
        if passage := passages.get(number):
            said.setdefault(passage.text, RetrievedPassage(passage, similarity, score))
    return list(said.values())


class Reranked:
    """The best of the candidates of ``retriever`` by the scores of ``reranker``, which they then have.

    Of equal scores the retriever's order stands. Reading pairs after a search by vectors is the two-stage
    ranking of Nogueira and Cho (2019), Passage Re-ranking with BERT.
    """

    def __init__(self, retriever: Retriever, reranker: Reranker) -> None:
        self._retriever = retriever
        self._reranker = reranker

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        """For each question up to ``k`` passages, best first; raises what retriever and reranker raise."""
        found = self._retriever.retrieve(questions, READ_FOR_EACH * k)
        return [self._best(*each)[:k] for each in zip(questions, found, strict=True)]

    def _best(self, question: str, found: Sequence[RetrievedPassage]) -> list[RetrievedPassage]:
        scores = self._reranker.scores(question, [each.passage.text for each in found])
        return [
            replace(found[place], score=float(scores[place])) for place in np.argsort(-scores, kind="stable")
        ]
