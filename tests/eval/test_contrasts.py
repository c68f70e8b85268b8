"""Intervals of differences and ratios of two figures."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures.uncertainty import (
    Estimate,
    difference,
    less,
    mean_of,
    paired_ratio,
    ratio,
    share_of,
    wilson,
)

SIDE = st.floats(0.0, 0.3)
FIGURE = st.tuples(st.floats(0.3, 1.0), SIDE, SIDE).map(
    lambda drawn: Estimate(drawn[0], drawn[0] - drawn[1], drawn[0] + drawn[2])
)


def test_a_difference_by_hand() -> None:
    found = difference(Estimate(0.7, 0.6, 0.9), Estimate(0.4, 0.36, 0.52))
    assert found.value == pytest.approx(0.3)
    assert found.low == pytest.approx(0.3 - math.hypot(0.1, 0.12))
    assert found.high == pytest.approx(0.3 + math.hypot(0.2, 0.04))
    # Newcombe (1998), Interval estimation for the difference between independent proportions, table II,
    # method 10, contrasts (a) and (c): 56/70 against 48/80, and 9/10 against 3/10.
    for one, other, ends in ((56, 70), (48, 80), (0.0524, 0.3339)), ((9, 10), (3, 10), (0.1705, 0.8090)):
        assert difference(share_of(*one), share_of(*other)).interval == pytest.approx(ends, abs=5e-5)


def test_a_ratio_by_hand() -> None:
    found = ratio(Estimate(0.8, 0.4, 0.8), Estimate(0.4, 0.4, 0.8))
    assert found is not None
    assert found.value == pytest.approx(2)
    # Half as much above, and half as much below: the logarithms' distances add up squared.
    assert found.low == pytest.approx(2 * math.exp(-math.hypot(math.log(2), math.log(2))))
    assert found.high == pytest.approx(2)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (Estimate(0.5, 0.4, 0.6), Estimate(0.0, 0.0, 0.1), Estimate()),
        (Estimate(0.0, 0.0, 0.1), Estimate(0.5, 0.4, 0.6), Estimate(0.0, 0.0, 0.25)),
        (Estimate(0.0, 0.0, 0.1), Estimate(0.5, 0.0, 0.6), Estimate(0.0, 0.0, None)),
        (Estimate(0.5), Estimate(0.25), Estimate(2.0)),
        (Estimate(0.5, 0.5, 0.5), Estimate(0.25, 0.0, 0.25), Estimate(2.0, 2.0, None)),
        (Estimate(0.5, 0.0, 0.5), Estimate(0.25, 0.25, 0.25), Estimate(2.0, 0.0, 2.0)),
    ],
)
def test_ends_of_which_nothing_is_known(one: Estimate, other: Estimate, found: Estimate) -> None:
    assert ratio(one, other) == found
    with pytest.raises(ValueError, match="^a ratio is of figures that are not negative$"):
        ratio(Estimate(-0.1), Estimate(1.0))


@given(FIGURE, FIGURE)
def test_the_interval_holds_the_value_and_turns_with_the_figures(one: Estimate, other: Estimate) -> None:
    for found in (difference(one, other), ratio(one, other)):
        assert found.value is not None
        assert found.low is None or found.low <= found.value + 1e-9
        assert found.high is None or found.high >= found.value - 1e-9
    there, back = difference(one, other), difference(other, one)
    assert there.value is not None and back.value is not None
    assert there.value == pytest.approx(-back.value)
    assert there.interval is not None and back.interval is not None
    assert there.interval == pytest.approx([-end for end in reversed(back.interval)])


def test_what_was_not_measured_has_no_difference_and_no_ratio() -> None:
    for one, other in ((Estimate(), Estimate(0.5)), (Estimate(0.5), Estimate())):
        assert difference(one, other) == ratio(one, other) == less(Estimate(), 1) == Estimate()
    assert Estimate(0.5, 0.4, None).interval is None and Estimate(0.5, 0.4, 0.7).interval == (0.4, 0.7)
    assert less(Estimate(1.5, None, 2.0), 1) == Estimate(0.5, None, 1.0)


def test_the_intervals_hold_as_often_as_they_say() -> None:
    """Of 95% intervals of independent shares about 95% hold the truth, for a difference and for a ratio."""
    rng, held, draws = np.random.default_rng(0), [0, 0], 2_000
    for hits, others in zip(rng.binomial(200, 0.6, draws), rng.binomial(150, 0.3, draws), strict=True):
        one = Estimate(hits / 200, *wilson(int(hits), 200))
        other = Estimate(others / 150, *wilson(int(others), 150))
        for place, (found, truth) in enumerate(((difference(one, other), 0.3), (ratio(one, other), 2.0))):
            assert found is not None and found.low is not None and found.high is not None
            held[place] += found.low <= truth <= found.high
    assert all(0.93 < each / draws < 0.97 for each in held)


def test_a_paired_ratio_by_hand() -> None:
    found = paired_ratio([1.0] * 12 + [0.0] * 4, [1.0] * 6 + [0.0] * 10)
    assert found is not None and found.value == 2
    assert found.interval is not None and found.interval[0] >= 1, "a question that one has, both have"
    assert paired_ratio([0.5, 1.0], [0.25, 0.5]) == Estimate(2.0), "what does not vary has no interval"
    sparse = paired_ratio([1.0] * 5, [0.0, 0.0, 0.0, 0.0, 1.0])
    assert sparse is not None and sparse.low is not None, "a third of redraws divides by nothing"
    assert (sparse.value, sparse.high) == (5, None)
    assert paired_ratio([0.5], [0.25]) == Estimate(2.0)
    assert paired_ratio([0.5, 0.5], [0.0, 0.0]) == paired_ratio([], []) == Estimate()
    with pytest.raises(ValueError, match="^1 values, 2 others: give one of each a question$"):
        paired_ratio([0.5], [0.25, 0.1])


def test_pairs_give_narrower_intervals_that_hold() -> None:
    rng, held, held_apart, widths, draws = np.random.default_rng(2), 0, 0, [], 400
    for seed in range(draws):
        hard = rng.uniform(size=120)
        ours, theirs = ((hard < easy).astype(float).tolist() for easy in (0.6, 0.4))
        paired = paired_ratio(ours, theirs, seed)
        one, other = (mean_of(each, seed) for each in (ours, theirs))
        apart = ratio(one, other)
        assert paired is not None and apart is not None
        assert paired.low is not None and paired.high is not None and apart.low is not None
        held += paired.low <= 1.5 <= paired.high
        held_apart += apart.low <= 1.5 <= (apart.high or math.inf)
        widths.append((paired.high - paired.low) / ((apart.high or math.inf) - apart.low))
    assert 0.92 < held / draws < 0.98
    # Without pairing, intervals are wide enough.
    assert held_apart / draws > 0.95
    assert sum(widths) / draws < 0.8
