"""MAUVE by its mathematics. All texts are invented."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.tasks.sets import area, frontier, mauve, quantized
from tests.hashing_encoder import HashingEncoder

ENCODER = HashingEncoder()
COUNTS = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)


def shares(counts: list[int]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array(counts, np.float64) / sum(counts)


def test_a_point_of_the_frontier_by_hand() -> None:
    # Half way between P = (1, 0) and Q = (1/2, 1/2) lies R = (3/4, 1/4).
    # KL(P|R) = ln 4/3; KL(Q|R) = (ln 2/3 + ln 2) / 2 = ln(4/3) / 2. With c = 1: x = (3/4)^.5, y = 3/4.
    points = frontier(shares([1, 0]), shares([1, 1]), scaling=1)
    assert len(points) == 27
    assert points[13] == pytest.approx([math.sqrt(0.75), 0.75])
    # At Q itself KL(Q|Q) = 0, and KL(P|Q) = ln 2.
    assert points[1] == pytest.approx([1, 0.5])
    # At P, KL(Q|P) is infinite: Q has what P never has.
    assert points[-2] == pytest.approx([0, 1])
    assert points[0].tolist() == [1, 0] and points[-1].tolist() == [0, 1]


def test_areas_by_hand() -> None:
    apart, other = shares([1, 0]), shares([0, 1])
    assert area(apart, apart) == pytest.approx(1)
    # Nothing in common: R = (w, 1 - w), KL(P|R) = -ln w, KL(Q|R) = -ln(1 - w), so x = (1 - w)^c, y = w^c.
    # With c = 1 the frontier is the line x + y = 1, with the area 1/2. With c = 5 it is the integral of
    # 5 w^5 (1 - w)^4, which is 5 B(6, 5) = 5 * 5! 4! / 10! = 1/252; 25 points come close.
    assert area(apart, other, scaling=1) == pytest.approx(0.5)
    assert area(apart, other) == pytest.approx(1 / 252, abs=2e-4)


@given(COUNTS, COUNTS)
def test_an_area_is_symmetric_and_one_for_the_same_alone(one: list[int], other: list[int]) -> None:
    p, q = shares(one), shares(other)
    found = area(p, q)
    assert 0 < found <= 1 + 1e-9
    assert found == pytest.approx(area(q, p))
    assert (found == pytest.approx(1)) == (p.tolist() == pytest.approx(q.tolist()))


@given(COUNTS, COUNTS)
def test_a_mixture_is_nearer(one: list[int], other: list[int]) -> None:
    p, q = shares(one), shares(other)
    assert area(p, (p + q) / 2) >= area(p, q) - 1e-9


def herons(n: int) -> list[str]:
    return [f"the heron at dam {number} was fed" for number in range(n)]


BOILERS = [f"rust covers valve {number} of some boiler" for number in range(40)]


def test_the_same_texts_are_one_and_others_are_next_to_nothing() -> None:
    same, other = mauve(herons(40), herons(40), ENCODER), mauve(herons(40), BOILERS, ENCODER)
    assert same.value == same.smoothed == pytest.approx(1)
    assert (same.engine, same.buckets) == ("mauve[hashed words]", 4)
    assert other.value == pytest.approx(1 / 252, abs=2e-4)
    # Half a text in every bucket: the sets now have something in common.
    assert other.value < other.smoothed < 0.2
    half = mauve(herons(40), [*herons(20), *BOILERS[:20]], ENCODER)
    assert other.value < half.value < same.value


def test_sets_may_differ_in_size_and_all_texts_be_alike() -> None:
    assert mauve(herons(30), herons(12), ENCODER).buckets == 2
    alike = mauve(["heron"] * 30, ["heron"] * 7, ENCODER)
    assert (alike.value, alike.smoothed, alike.buckets) == (1, 1, 1)
    # One text on each side, each in a bucket of its own: (1.5, .5) / 2 against (.5, 1.5) / 2.
    found = mauve(["heron"], ["mill"], ENCODER)
    assert 0 < found.value < 0.01 and found.buckets == 2
    assert found.smoothed == pytest.approx(area(shares([3, 1]), shares([1, 3])))


def test_the_same_for_a_seed() -> None:
    texts = [*herons(30), *BOILERS[:30]]
    one, again = (mauve(texts[:35], texts[20:], ENCODER, seed=3) for _ in range(2))
    assert one == again


def test_buckets_part_what_is_apart() -> None:
    labels = quantized(ENCODER.encode([*herons(10), *BOILERS[:10]]), 2, seed=0)
    assert len(set(labels[:10].tolist())) == len(set(labels[10:].tolist())) == 1
    assert set(labels.tolist()) == {0, 1}


@pytest.mark.parametrize(("originals", "sanitized"), [([], ["mill"]), (["mill"], [])])
def test_a_set_without_texts_is_refused(originals: list[str], sanitized: list[str]) -> None:
    message = f"{len(originals)} originals, {len(sanitized)} sanitized texts: give some of both"
    with pytest.raises(ValueError, match=f"^{message}$"):
        mauve(originals, sanitized, ENCODER)
