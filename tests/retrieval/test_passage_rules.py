"""What a search may not find: what is below a threshold, and copies of the question. All is invented."""

import random
from collections.abc import Sequence
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.documents import Passage, RetrievedPassage
from retrieval.guards.passages import FEWEST, GuardedPassages, PassageRules, copies, extreme
from retrieval.search import NEAREST

TEXT = ("The heron stood by the weir at noon. " * 14)[:500]
LONG, SHORT = TEXT[:200], TEXT[:199]
"""A question that may be a copy of TEXT, and one that is too short."""


def one(
    number: int, similarity: float, doc_id: str = "", start: int = 0, text: str = TEXT
) -> RetrievedPassage:
    passage = Passage(number, doc_id or f"d{number}", start, start + len(text), text)
    return RetrievedPassage(passage, similarity)


def plotted(documents: int, mean: float, spread: float) -> list[float]:
    """Similarities, best first, that lie on a straight line of the normal plot."""
    normal = NormalDist(mean, spread)
    return [normal.inv_cdf(1 - (rank - 0.375) / (documents + 0.25)) for rank in range(1, documents + 1)]


OTHERS = [one(number, similarity) for number, similarity in enumerate(plotted(60, 0.3, 0.05)[1:])]
"""59 documents about something else; of 60 such, the best is above 0.457 once in twenty times."""


class Shelf:
    """Finds the same for every question, and keeps how many were asked for."""

    def __init__(self, found: Sequence[RetrievedPassage]) -> None:
        self._found, self.wanted = found, 0

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        self.wanted = k
        return [list(self._found[:k]) for _ in questions]


# -- the threshold -------------------------------------------------------------------------------------------


def test_passages_below_the_threshold_are_not_found_and_further_ones_take_their_place() -> None:
    found = [one(1, 0.2), one(2, 0.5), one(3, 0.49), one(4, 0.9)]
    shelf = Shelf(found)
    guarded = GuardedPassages(shelf, PassageRules(least_similarity=0.5), lambda: 4)
    assert guarded.retrieve(["heron?", "weir?"], 2) == [[found[1], found[3]]] * 2
    assert guarded.retrieve(["heron?"], 1) == [[found[1]]]
    assert shelf.wanted == NEAREST
    guarded.retrieve(["heron?"], NEAREST + 1)
    assert shelf.wanted == NEAREST + 1


# -- extreme values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [60, 30, 25])
def test_mean_and_spread_are_read_from_the_nearest_but_the_best(known: int) -> None:
    # Of 60 from a normal distribution, the greatest is below z with the probability of one to the 60th.
    below = 0.95 ** (1 / 60)
    expected = 0.3 + 0.05 * NormalDist().inv_cdf(below)
    ranked = plotted(60, 0.3, 0.05)[:known]
    assert extreme(ranked, 60, 0.05) == pytest.approx(expected, abs=1e-9)
    assert extreme([1.0, *ranked[1:]], 60, 0.05) == extreme(ranked, 60, 0.05)


def test_chance_is_hit_about_as_often_as_the_level_says() -> None:
    chance = random.Random(0)
    drawn = [sorted((chance.gauss(0.3, 0.1) for _ in range(200)), reverse=True) for _ in range(1500)]
    share = sum(each[0] > extreme(each, 200, 0.1) for each in drawn) / len(drawn)
    assert 0.08 < share < 0.13


@settings(max_examples=50)
@given(
    st.lists(st.floats(-0.5, 0.5), min_size=FEWEST, max_size=60),
    st.floats(0.01, 0.5),
    st.floats(0.1, 2),
    st.floats(-0.5, 0.5),
)
def test_it_moves_with_the_similarities_and_a_stricter_level_is_farther(
    found: list[float], level: float, scale: float, shift: float
) -> None:
    ranked = sorted(found, reverse=True)
    limit = extreme(ranked, len(ranked), level)
    moved = extreme([shift + scale * each for each in ranked], len(ranked), level)
    assert moved == pytest.approx(shift + scale * limit, abs=1e-6)
    assert extreme(ranked, len(ranked), level / 2) >= limit - 1e-9


# -- copies --------------------------------------------------------------------------------------------------


def test_every_passage_of_a_copy_is_hidden_and_all_others_are_found() -> None:
    own, rules = [one(100, 0.8, "copy"), one(101, 0.2, "copy")], PassageRules(hide_copies=0.05)
    assert rules and PassageRules(least_similarity=0.0) and not PassageRules()
    guarded = GuardedPassages(Shelf([*own, *OTHERS]), rules, lambda: 60)
    assert guarded.retrieve([LONG], 60) == [OTHERS]
    # What is merely about one document finds it.
    assert guarded.retrieve([SHORT], 3) == [[*own, OTHERS[0]]]


def test_of_a_longer_document_a_copy_says_as_much_more_or_a_whole_passage() -> None:
    twice = [one(100, 0.8, "copy"), one(101, 0.2, "copy", start=len(TEXT)), *OTHERS]
    assert copies(TEXT[:399], twice, 60, 0.05) == set()
    assert copies(TEXT[:400], twice, 60, 0.05) == {"copy"}
    long = [one(100, 0.8, "copy"), one(101, 0.2, "copy", start=9_000), *OTHERS]
    assert copies(TEXT[:-1], long, 60, 0.05) == set()
    assert copies(TEXT, long, 60, 0.05) == {"copy"}
    # What is asked about a short note is no copy of it, and both versions of a document are.
    assert copies(TEXT[:50], [one(100, 0.8, text=TEXT[:50]), *OTHERS], 60, 0.05) == set()
    assert copies(TEXT, [one(100, 0.8), one(101, 0.78), *OTHERS], 61, 0.05) == {"d100", "d101"}


def test_the_best_of_those_that_are_all_alike_is_no_copy() -> None:
    assert copies(TEXT, [one(100, 0.45), *OTHERS], 60, 0.05) == set()
    assert copies(TEXT, [one(100, 0.47), *OTHERS], 60, 0.05) == {"d100"}
    # Among more documents, the best of them is that near by chance.
    assert copies(TEXT, [one(100, 0.47), *OTHERS], 100_000, 0.05) == set()


def test_among_few_documents_nothing_can_be_told() -> None:
    found = [one(100, 0.99), *OTHERS[: FEWEST - 2]]
    assert copies(TEXT, found, len(found), 0.05) == set()
    assert copies(TEXT, [*found, OTHERS[FEWEST]], len(found) + 1, 0.05) == {"d100"}
    # More passages of the same documents are no more documents.
    assert copies(TEXT, [*found, one(200, 0.3, "d1")], len(found), 0.05) == set()


def test_documents_that_are_all_the_same_and_a_count_that_is_behind_are_no_error() -> None:
    copies(TEXT, [one(number, 0.7) for number in range(30)], 30, 0.05)
    assert copies(TEXT, [one(100, 0.8), *OTHERS], 0, 0.05) == {"d100"}
    assert copies("", [], 0, 0.05) == set()
