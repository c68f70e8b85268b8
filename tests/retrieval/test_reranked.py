"""Passages in another order. All invented."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.documents import Passage, RetrievedPassage
from retrieval.retriever import READ_FOR_EACH, Reranked


class Shelf:
    """Finds passages of one to nine herons, and keeps how many were asked for."""

    def __init__(self) -> None:
        self.wanted = 0

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        self.wanted = k
        passages = [Passage(n, f"d{n}", 0, 6 * n, "heron " * n) for n in range(1, 10)]
        return [[RetrievedPassage(each, 0.5, 1.5) for each in passages][:k] for _ in questions]


class Likes:
    """Scores a text 1 if it has as many herons as the question says, and the others by how few they have."""

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = [text.count("heron") for text in texts]
        return np.array([1.0 if str(n) in question else 0.5 if n < 3 else 0.1 for n in counts], np.float32)


def test_the_best_of_four_candidates_for_each_that_is_wanted() -> None:
    shelf = Shelf()
    found = Reranked(shelf, Likes()).retrieve(["8?", "4?", "9?"], 2)
    # Of equal scores the first stays first; the ninth is no candidate.
    assert [[each.passage.passage_id for each in row] for row in found] == [[8, 1], [4, 1], [1, 2]]
    assert shelf.wanted == 2 * READ_FOR_EACH == 8
    assert [(each.similarity, round(each.score, 2)) for each in found[0]] == [(0.5, 1.0), (0.5, 0.5)]
    assert Reranked(shelf, Likes()).retrieve([], 2) == []
