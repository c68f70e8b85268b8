"""What rankings and texts have in common, held to slow and obvious versions. All texts are invented."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from eval.measures.overlap import (
    copied_runs,
    longest_common_subsequence,
    recall_at_k_overlap,
    rouge_l,
    stems,
    word_tokens,
)

TOKENS = st.lists(st.sampled_from("abc"), max_size=25)
WORDS = st.lists(st.sampled_from("Cats cat running runs, the May.".split()), max_size=9).map(" ".join)
RANKINGS = st.lists(st.lists(st.integers(0, 6), max_size=8), min_size=1, max_size=8)


@given(TOKENS, TOKENS, st.integers(1, 6))
def test_the_longest_copied_run_is_the_longest_there_is(one: list[str], other: list[str], least: int) -> None:
    # Letters are tokens, so a run is a substring.
    said, source = "".join(one), "".join(other)
    stretches = [said[i:j] for i in range(len(said)) for j in range(i, len(said) + 1)]
    longest = max((len(each) for each in stretches if each in source), default=0)
    runs = copied_runs(one, other, least)
    assert max(runs, default=0) == (longest if longest >= least else 0)
    assert all(run >= least for run in runs)


def test_nineteen_tokens_are_not_copied_and_twenty_are() -> None:
    source = [f"w{n}" for n in range(40)]
    assert copied_runs(["x", *source[:19], "y"], source) == ()
    assert copied_runs(["x", *source[:20], "y"], source) == (20,)
    assert copied_runs(["x", *source[3:30], "y", *source[20:40]], source) == (27, 20)
    # A stretch that the source says twice counts once.
    assert copied_runs(source[:25], [*source[:25], "and", *source[:25]]) == (25,)


def test_case_and_punctuation_do_not_hide_a_copy() -> None:
    assert word_tokens("Anna-Lena, STRASSE straße  9!") == ["anna", "lena", "strasse", "strasse", "9"]


@given(TOKENS, TOKENS)
def test_the_fast_subsequence_is_the_one_of_the_table(one: list[str], other: list[str]) -> None:
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, j in product(range(len(one)), range(len(other))):
        longer = max(table[i][j + 1], table[i + 1][j])
        table[i + 1][j + 1] = table[i][j] + 1 if one[i] == other[j] else longer
    assert longest_common_subsequence(one, other) == table[-1][-1]


@given(WORDS, WORDS)
def test_rouge_is_what_the_package_says(reference: str, prediction: str) -> None:
    theirs = RougeScorer(["rougeL"], use_stemmer=True).score(reference, prediction)["rougeL"]
    ours = rouge_l(stems(reference), stems(prediction))
    assert (ours.precision, ours.recall, ours.f) == pytest.approx((*theirs,))


@given(RANKINGS, st.integers(1, 10))
def test_overlap_does_not_see_the_order_within_k(rankings: list[list[int]], k: int) -> None:
    others = [list(reversed(ranking[:k])) for ranking in rankings]
    same = recall_at_k_overlap(rankings, others, k)
    assert list(same.per_query) == [1.0] * sum(bool(ranking) for ranking in rankings)
    disjoint = [[item + 100 for item in ranking] for ranking in rankings]
    assert set(recall_at_k_overlap(rankings, disjoint, k).per_query) <= {0.0}


def test_overlap_by_hand() -> None:
    overlap = recall_at_k_overlap([["a", "b", "c"], ["d"], []], [["c", "a", "x"], ["d", "e"], ["f"]], 3)
    assert overlap.per_query == pytest.approx([2 / 3, 1.0])
    assert overlap.estimate.n == 2
    assert overlap.estimate.value == pytest.approx(5 / 6)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="k is 0: give at least 1"):
        recall_at_k_overlap([["a"]], [["a"]], 0)
    with pytest.raises(ValueError, match="2 original rankings, 1 others: give one of each a query"):
        recall_at_k_overlap([["a"], ["b"]], [["a"]], 1)
