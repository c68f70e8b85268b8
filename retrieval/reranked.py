"""Orders what another retriever finds by a model that reads question and passage together."""

from collections.abc import Sequence

import numpy as np

from retrieval.documents import RetrievedPassage
from retrieval.protocols import Reranker, Retriever

CANDIDATES = 4
"""Passages that are read for each that is wanted."""


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
        found = self._retriever.retrieve(questions, CANDIDATES * k)
        return [
            self._best(question, candidates)[:k]
            for question, candidates in zip(questions, found, strict=True)
        ]

    def _best(self, question: str, candidates: Sequence[RetrievedPassage]) -> list[RetrievedPassage]:
        scores = self._reranker.scores(question, [each.passage.text for each in candidates])
        return [
            RetrievedPassage(candidates[place].passage, candidates[place].similarity, float(scores[place]))
            for place in np.argsort(-scores, kind="stable")
        ]
