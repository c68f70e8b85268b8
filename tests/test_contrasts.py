"""Intervals of differences and ratios of two figures."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures.contrasts import Figure, difference, less, of_mean, of_share, paired_ratio, ratio
from eval.measures.intervals import Estimate, Share, mean_of, share_of, wilson

SIDE = st.floats(0.0, 0.3)
FIGURE = st.tuples(st.floats(0.3, 1.0), SIDE, SIDE).map(
    lambda drawn: Figure(drawn[0], drawn[0] - drawn[1], drawn[0] + drawn[2])
)


def test_a_difference_by_hand() -> None:
    found = difference(Figure(0.7, 0.6, 0.9), Figure(0.4, 0.36, 0.52))
    assert found.value == pytest.approx(0.3)
    assert found.low == pytest.approx(0.3 - math.hypot(0.1, 0.12))
    assert found.high == pytest.approx(0.3 + math.hypot(0.2, 0.04))


def test_a_difference_of_two_shares_is_newcombes() -> None:
    # Newcombe (1998), Interval estimation for the difference between independent proportions, table II,
    # method 10, contrasts (a) and (c): 56/70 against 48/80, and 9/10 against 3/10.
    for one, other, low, high in (((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090)):
        figures = [of_share(share_of(*each)) for each in (one, other)]
        assert figures[0] is not None and figures[1] is not None
        found = difference(figures[0], figures[1])
        assert found.interval == pytest.approx((low, high), abs=5e-5)


def test_a_ratio_by_hand() -> None:
    found = ratio(Figure(0.8, 0.4, 0.8), Figure(0.4, 0.4, 0.8))
    assert found is not None
    assert found.value == pytest.approx(2)
    # Half as much above, and half as much below: the logarithms' distances add up squared.
    assert found.low == pytest.approx(2 * math.exp(-math.hypot(math.log(2), math.log(2))))
    assert found.high == pytest.approx(2)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (Figure(0.5, 0.4, 0.6), Figure(0.0, 0.0, 0.1), None),
        (Figure(0.0, 0.0, 0.1), Figure(0.5, 0.4, 0.6), Figure(0.0, 0.0, 0.25)),
        (Figure(0.0, 0.0, 0.1), Figure(0.5, 0.0, 0.6), Figure(0.0, 0.0, None)),
        (Figure(0.5), Figure(0.25), Figure(2.0)),
        (Figure(0.5, 0.5, 0.5), Figure(0.25, 0.0, 0.25), Figure(2.0, 2.0, None)),
        (Figure(0.5, 0.0, 0.5), Figure(0.25, 0.25, 0.25), Figure(2.0, 0.0, 2.0)),
    ],
)
def test_ends_of_which_nothing_is_known(one: Figure, other: Figure, found: Figure | None) -> None:
    assert ratio(one, other) == found


def test_a_ratio_of_a_negative_figure_is_refused() -> None:
    with pytest.raises(ValueError, match="^a ratio is of figures that are not negative$"):
        ratio(Figure(-0.1), Figure(1.0))


@given(FIGURE, FIGURE)
def test_the_interval_holds_the_value_and_turns_with_the_figures(one: Figure, other: Figure) -> None:
    for found in (difference(one, other), ratio(one, other)):
        assert found is not None
        assert found.low is None or found.low <= found.value + 1e-9
        assert found.high is None or found.high >= found.value - 1e-9
    there, back = difference(one, other), difference(other, one)
    assert there.value == pytest.approx(-back.value)
    assert there.interval is not None and back.interval is not None
    assert there.interval == pytest.approx([-end for end in reversed(back.interval)])


def test_shares_and_means_that_were_not_measured_are_no_figures() -> None:
    assert of_share(Share(0, 0, None)) is None and of_mean(Estimate(0, None, None, None)) is None
    assert of_share(Share(1, 2, 0.5)) == Figure(0.5)
    assert of_share(Share(1, 2, 0.5, 0.2, 0.8, (0.1, 0.9))) == Figure(0.5, 0.1, 0.9)
    assert of_mean(Estimate(3, 0.5, 0.4, 0.7)) == Figure(0.5, 0.4, 0.7)
    assert Figure(0.5, 0.4, None).interval is None and Figure(0.5, 0.4, 0.7).interval == (0.4, 0.7)
    assert less(Figure(1.5, None, 2.0), 1) == Figure(0.5, None, 1.0)


def test_the_intervals_hold_as_often_as_they_say() -> None:
    """Of 95% intervals of independent shares about 95% hold the truth, for a difference and for a ratio."""
    rng, held, draws = np.random.default_rng(0), [0, 0], 2_000
    for hits, others in zip(rng.binomial(200, 0.6, draws), rng.binomial(150, 0.3, draws), strict=True):
        one = Figure(hits / 200, *wilson(int(hits), 200))
        other = Figure(others / 150, *wilson(int(others), 150))
        for place, (found, truth) in enumerate(((difference(one, other), 0.3), (ratio(one, other), 2.0))):
            assert found is not None and found.low is not None and found.high is not None
            held[place] += found.low <= truth <= found.high
    assert all(0.93 < each / draws < 0.97 for each in held)


def test_a_paired_ratio_by_hand() -> None:
    found = paired_ratio([1.0] * 12 + [0.0] * 4, [1.0] * 6 + [0.0] * 10)
    assert found is not None and found.value == 2
    assert found.interval is not None and found.interval[0] >= 1, "a question that one has, both have"
    assert paired_ratio([0.5, 1.0], [0.25, 0.5]) == Figure(2.0), "what does not vary has no interval"
    sparse = paired_ratio([1.0] * 5, [0.0, 0.0, 0.0, 0.0, 1.0])
    assert sparse is not None and sparse.low is not None, "a third of redraws divides by nothing"
    assert (sparse.value, sparse.high) == (5, None)
    assert paired_ratio([0.5], [0.25]) == Figure(2.0)
    assert paired_ratio([0.5, 0.5], [0.0, 0.0]) is None and paired_ratio([], []) is None
    with pytest.raises(ValueError, match="^1 values, 2 others: give one of each a question$"):
        paired_ratio([0.5], [0.25, 0.1])


def test_pairs_give_narrower_intervals_that_hold() -> None:
    rng, held, widths, draws = np.random.default_rng(2), 0, [], 400
    for seed in range(draws):
        hard = rng.uniform(size=120)
        ours, theirs = ((hard < easy).astype(float).tolist() for easy in (0.6, 0.4))
        paired = paired_ratio(ours, theirs, seed)
        one, other = (of_mean(mean_of(each, seed)) for each in (ours, theirs))
        assert one is not None and other is not None
        apart = ratio(one, other)
        assert paired is not None and apart is not None
        assert paired.low is not None and paired.high is not None and apart.low is not None
        held += paired.low <= 1.5 <= paired.high
        widths.append((paired.high - paired.low) / ((apart.high or math.inf) - apart.low))
    assert 0.92 < held / draws < 0.98
    assert sum(widths) / draws < 0.8


def test_methods_asked_the_same_questions_have_intervals_that_are_wide_enough() -> None:
    rng, held, draws = np.random.default_rng(1), 0, 300
    for seed in range(draws):
        hard = rng.uniform(size=80)
        ours, theirs = ((hard < easy).astype(float) for easy in (0.6, 0.4))
        one, other = (of_mean(mean_of(each.tolist(), seed)) for each in (ours, theirs))
        assert one is not None and other is not None
        found = ratio(one, other)
        assert found is not None and found.low is not None
        held += found.low <= 1.5 <= (found.high or math.inf)
    assert held / draws > 0.95
