"""What a search may not find: passages that have little to do with the question, and copies of it.

Whoever asks for a whole document, or for half of it, learns from the similarity of what is found whether that
document is in the collection. As in Choi et al. (2025), Safeguarding Privacy of Retrieval Data against
Membership Inference Attacks (Mirabel), a document whose similarity is an extreme value among those of all
others is hidden, so that a member is answered like a text that is not in the collection.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import expm1, log1p
from statistics import NormalDist, linear_regression

from retrieval.documents import RetrievedPassage
from retrieval.protocols import Retriever
from retrieval.search import NEAREST

FEWEST, MOST = 20, 100
"""Documents from which an extreme value can be told, below which nothing is hidden, and the most that are
looked at: further ones may lack their best passage, which the index did not propose."""
SHORTEST, COPY = 200, 0.4
"""How long a question is that can be a copy, in characters, and how much of a document it then says, unless
it is as long as the passage. What is asked about the one document that is about it is an extreme value too,
but shorter: documents that are no longer than a question cannot be protected so, nor against short parts."""


@dataclass(frozen=True, slots=True)
class PassageRules:
    """The least similarity of a passage, in [-1, 1], and the level at which copies are hidden, in (0, 1).

    None leaves a rule out; false without any.
    """

    least_similarity: float | None = None
    hide_copies: float | None = None

    def __bool__(self) -> bool:
        return self != PassageRules()


class GuardedPassages:
    """Finds what ``retriever`` finds and the rules allow.

    ``documents`` counts the documents of the collection.
    """

    def __init__(self, retriever: Retriever, rules: PassageRules, documents: Callable[[], int]) -> None:
        self._retriever = retriever
        self._rules = rules
        self._documents = documents

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        """For each question up to ``k`` passages, best first; raises what the retriever raises."""
        # All that the index proposes: what takes the place of a hidden document is among it.
        found = self._retriever.retrieve(questions, max(k, NEAREST))
        return [self._allowed(*each)[:k] for each in zip(questions, found, strict=True)]

    def _allowed(self, question: str, found: Sequence[RetrievedPassage]) -> list[RetrievedPassage]:
        least, level = self._rules.least_similarity, self._rules.hide_copies
        hidden = set() if level is None else copies(question, found, self._documents(), level)
        return [
            replace(each, beside=())
            for each in found
            if each.passage.doc_id not in hidden and (least is None or each.similarity >= least)
        ]


def copies(question: str, found: Sequence[RetrievedPassage], documents: int, level: float) -> set[str]:
    """The ids of the documents of which ``question`` is a copy, whole or in part.

    ``found`` is what is near to it, of a collection of so many ``documents``. A document counts by its most
    similar passage, and is at least as long as to the end of the last one.
    """
    best: dict[str, RetrievedPassage] = {}
    lengths: dict[str, int] = {}
    for each in sorted(found, key=lambda each: -each.similarity):
        doc_id = each.passage.doc_id
        best.setdefault(doc_id, each)
        lengths[doc_id] = max(each.passage.end, lengths.get(doc_id, 0))
    if len(best) < FEWEST:
        return set()
    # At least those that were found: others may be erased meanwhile.
    limit = extreme([each.similarity for each in best.values()], max(documents, len(best)), level)
    return {
        doc_id
        for doc_id, each in best.items()
        if each.similarity > limit
        and len(question) >= max(SHORTEST, min(len(each.passage.text), COPY * lengths[doc_id]))
    }


def extreme(ranked: Sequence[float], documents: int, level: float) -> float:
    """The value that the best of ``documents`` similarities exceeds with probability ``level``.

    ``ranked`` are the best of them, best first, all in [-1, 1]. They are taken as normal: a straight line
    through the better half in a normal plot, at the places of Blom (1958), gives mean and spread though the
    index proposes only the nearest. The best may be a copy and is left out. The maximum tends to a Gumbel
    distribution (Fisher and Tippett 1928), so slowly (Hall 1979) that the exact one is used here.
    """
    normal = NormalDist()
    ranks = range(2, min(len(ranked), MOST, max(FEWEST, documents // 2)) + 1)
    places = [-normal.inv_cdf((rank - 0.375) / (documents + 0.25)) for rank in ranks]
    spread, mean = linear_regression(places, [ranked[rank - 1] for rank in ranks])
    return mean - spread * normal.inv_cdf(-expm1(log1p(-level) / documents))
