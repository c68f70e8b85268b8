"""The mechanisms against their formulas: exactly where there is one, within sampling error where not."""

import math
import random
from functools import partial
from itertools import pairwise
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.deciding.baselines.local_privacy import (
    exponential,
    exponential_probabilities,
    gaussian_delta,
    gaussian_noise,
    keep_probability,
    perturbed_number,
    piecewise,
    piecewise_density,
    piecewise_reach,
    randomized_response,
)

DRAWS = 20_000
SIGMAS = 4.5
EPSILONS = st.floats(0.01, 20)
INPUTS = st.floats(-1, 1)


def near(share: float, n: int = DRAWS) -> float:
    """How far a share of ``n`` draws may lie from its probability."""
    return SIGMAS * math.sqrt(share * (1 - share) / n)


def rounding(factor: float) -> float:
    return factor * (1 + 1e-9)


# By hand e^epsilon / (e^epsilon + options - 1), and a quarter of four without a budget to speak of.
SHARES = [(6, 5, 0.967), (6, 3, 0.801), (6, 1, 0.352), (4, 1, 0.475), (4, 1e-9, 0.25)]


@pytest.mark.parametrize(("options", "epsilon", "kept"), SHARES)
def test_options_are_kept_as_often_as_the_formula_says(options: int, epsilon: float, kept: float) -> None:
    assert keep_probability(options, epsilon) == pytest.approx(kept, abs=5e-4)
    rng = random.Random(7)
    drawn = [randomized_response(2, options, epsilon, rng) for _ in range(DRAWS)]
    assert drawn.count(2) / DRAWS == pytest.approx(kept, abs=near(kept) + 5e-4)
    other = (1 - kept) / (options - 1)
    for option in set(range(options)) - {2}:
        assert drawn.count(option) / DRAWS == pytest.approx(other, abs=near(other) + 2e-4)


@given(options=st.integers(2, 50), epsilon=EPSILONS)
def test_an_option_is_at_most_e_to_the_epsilon_likelier_from_one_value_than_another(
    options: int, epsilon: float
) -> None:
    kept = keep_probability(options, epsilon)
    assert kept / ((1 - kept) / (options - 1)) == pytest.approx(math.exp(epsilon))


@given(pairs=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30), epsilon=EPSILONS)
def test_exponential_probabilities_of_two_inputs_are_within_e_to_the_epsilon(
    pairs: list[tuple[float, float]], epsilon: float
) -> None:
    one, other = (exponential_probabilities(utilities, epsilon) for utilities in zip(*pairs, strict=True))
    assert math.fsum(one) == pytest.approx(1)
    assert all(a <= rounding(math.exp(epsilon)) * b for a, b in zip(one, other, strict=True))


def test_exponential_probabilities_by_hand() -> None:
    first, second, third = exponential_probabilities([1.0, 0.0, 0.5], 2.0)
    total = math.e + 1 + math.sqrt(math.e)
    assert (first, second, third) == pytest.approx((math.e / total, 1 / total, math.sqrt(math.e) / total))


def test_the_exponential_mechanism_draws_with_its_probabilities() -> None:
    utilities = [0.1, 0.9, 0.4, 1.0]
    rng = random.Random(7)
    drawn = [exponential(utilities, 4.0, rng) for _ in range(DRAWS)]
    for number, probability in enumerate(exponential_probabilities(utilities, 4.0)):
        assert drawn.count(number) / DRAWS == pytest.approx(probability, abs=near(probability))


def bounds(value: float, epsilon: float) -> tuple[float, float, float]:
    """C, l and r as the paper writes them."""
    root = math.exp(epsilon / 2)
    reach = (root + 1) / (root - 1)
    left = (reach + 1) / 2 * value - (reach - 1) / 2
    return reach, left, left + reach - 1


@given(one=INPUTS, other=INPUTS, place=INPUTS, epsilon=EPSILONS)
def test_piecewise_densities_of_two_inputs_are_within_e_to_the_epsilon(
    one: float, other: float, place: float, epsilon: float
) -> None:
    output = place * piecewise_reach(epsilon)
    first, second = (piecewise_density(output, value, epsilon) for value in (one, other))
    assert 0 < first <= rounding(math.exp(epsilon)) * second


@given(value=INPUTS, epsilon=st.floats(0.05, 20))
def test_the_piecewise_density_sums_to_one_and_its_mean_is_the_input(value: float, epsilon: float) -> None:
    reach, left, right = bounds(value, epsilon)
    assert piecewise_reach(epsilon) == pytest.approx(reach)
    inside = piecewise_density((left + right) / 2, value, epsilon)
    # by the paper's definition: with probability e^(eps/2) / (e^(eps/2) + 1) in an interval of C - 1
    share = 1 / (1 + math.exp(-epsilon / 2))
    assert inside == pytest.approx(share / (reach - 1))
    outside = inside * math.exp(-epsilon)
    assert inside * (reach - 1) + outside * (reach + 1) == pytest.approx(1)
    mean = (inside - outside) * (right**2 - left**2) / 2
    assert mean == pytest.approx(value, abs=1e-9)
    for place in (-reach, reach):
        if not left - 1e-6 < place < right + 1e-6:
            assert piecewise_density(place * (1 - 1e-12), value, epsilon) == pytest.approx(outside)
    assert piecewise_density(reach * 1.01, value, epsilon) == 0


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("value", [-1.0, -0.3, 0.0, 0.8, 1.0])
def test_piecewise_draws_are_unbiased_and_lie_where_the_density_says(value: float, epsilon: float) -> None:
    rng = random.Random(7)
    drawn = [piecewise(value, epsilon, rng) for _ in range(DRAWS)]
    root = math.exp(epsilon / 2)
    variance = value**2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    error = SIGMAS * math.sqrt(variance / DRAWS)
    assert math.fsum(drawn) / DRAWS == pytest.approx(value, abs=error)
    reach, left, right = bounds(value, epsilon)
    outside = 1 / ((1 + root) * (reach + 1))
    edges = (-reach, left, (left + right) / 2, right, reach)
    expected = (outside * (left + reach), *[root / (1 + root) / 2] * 2, outside * (reach - right))
    for (low, high), share in zip(pairwise(edges), expected, strict=True):
        seen = sum(low <= each < high for each in drawn) / DRAWS
        assert seen == pytest.approx(share, abs=near(min(1.0, max(share, 1e-4))))


@given(value=st.floats(allow_nan=False), epsilon=EPSILONS, seed=st.integers(0, 99))
def test_a_perturbed_number_stays_in_its_range_and_nothing_else_counts(
    value: float, epsilon: float, seed: int
) -> None:
    drawn = perturbed_number(value, 20, 120, epsilon, random.Random(seed))
    assert 20 <= drawn <= 120
    clipped = min(120.0, max(20.0, value))
    assert drawn == perturbed_number(clipped, 20, 120, epsilon, random.Random(seed))


def test_a_large_budget_hardly_moves_a_number() -> None:
    assert all(abs(perturbed_number(34, 0, 120, 60, random.Random(seed)) - 34) < 1e-6 for seed in range(100))


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 701.0])
def test_a_budget_out_of_range_is_refused(epsilon: float) -> None:
    rng = random.Random(7)
    drawing = (partial(exponential, [0.5], rng=rng), partial(piecewise, 0.0, rng=rng))
    for ask in (partial(keep_probability, 6), *drawing):
        with pytest.raises(ValueError, match=rf"^epsilon must be above 0 and at most 700, not {epsilon}$"):
            ask(epsilon=epsilon)


def test_inputs_out_of_range_are_refused() -> None:
    rng = random.Random(7)
    with pytest.raises(ValueError, match="^randomized response needs 2 options or more, not 1$"):
        keep_probability(1, 1.0)
    with pytest.raises(ValueError, match="^option 6 is not one of 6$"):
        randomized_response(6, 6, 1.0, rng)
    for utilities in ([], [0.5, 1.1], [-0.1], [math.nan]):
        with pytest.raises(ValueError, match=r"needs at least one utility, all of them in \[0, 1\]$"):
            exponential_probabilities(utilities, 1.0)
    for value in (1.01, math.nan):
        with pytest.raises(ValueError, match=r"^the piecewise mechanism takes numbers in \[-1, 1\]: scale"):
            piecewise(value, 1.0, rng)


# -- Gaussian noise ----------------------------------------------------------------------------------------

DELTAS = st.floats(1e-12, 0.5)
KNOWN = {
    0.5: 7.03182667558249, 1: 3.73063163481594, 10: 0.499888619709009, 1000: 0.0245817833516543,
    2500: 0.0150177279247564, 10_000: 0.00728715745278105,
}  # fmt: skip
"""Noise by epsilon, for sensitivity 1 and delta 1e-5: theorem 8, solved with mpmath."""


def classical(epsilon: float, delta: float) -> float:
    """The noise of Dwork and Roth (2014), theorem A.1, proved for epsilon below 1; sensitivity 1."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_where_the_first_term_is_a_half_the_noise_is_known(epsilon: float) -> None:
    # By hand: of noise 1 / sqrt(2 epsilon) the first argument of theorem 8 is 0.
    delta = 0.5 - math.exp(epsilon) * NormalDist().cdf(-math.sqrt(2 * epsilon))
    assert gaussian_delta(1 / math.sqrt(2 * epsilon), epsilon) == pytest.approx(delta)
    assert gaussian_noise(3, epsilon, delta) == pytest.approx(3 / math.sqrt(2 * epsilon))


@pytest.mark.parametrize(("epsilon", "noise"), KNOWN.items())
def test_noise_is_that_of_a_computation_with_many_digits(epsilon: float, noise: float) -> None:
    assert gaussian_noise(1, epsilon, 1e-5) == pytest.approx(noise, rel=1e-9)


@given(epsilon=st.floats(0.01, 1), delta=DELTAS)
def test_classical_noise_is_enough_up_to_epsilon_1_and_too_small_at_10(epsilon: float, delta: float) -> None:
    assert gaussian_delta(classical(epsilon, delta), epsilon) <= delta
    assert gaussian_noise(1, epsilon, delta) <= classical(epsilon, delta)
    assert gaussian_delta(classical(10, 1e-5), 10) > 2e-5
    assert gaussian_noise(1, 10, 1e-5) > classical(10, 1e-5)


@given(sensitivity=st.floats(0.01, 100), epsilon=st.floats(0.01, 3000), delta=DELTAS)
def test_noise_reaches_its_delta_and_a_little_less_of_it_does_not(
    sensitivity: float, epsilon: float, delta: float
) -> None:
    noise = gaussian_noise(sensitivity, epsilon, delta) / sensitivity
    assert gaussian_delta(noise, epsilon) <= rounding(delta)
    assert gaussian_delta(0.999 * noise, epsilon) > delta
    assert gaussian_noise(sensitivity, 2 * epsilon, delta) < gaussian_noise(sensitivity, epsilon, delta)


@pytest.mark.parametrize(("sensitivity", "epsilon", "delta"), [(0, 1, 0.1), (1, math.inf, 0.1), (1, 1, 1)])
def test_noise_without_a_budget_is_refused(sensitivity: float, epsilon: float, delta: float) -> None:
    with pytest.raises(ValueError, match="epsilon too and at most 10000, delta between 0 and 1"):
        gaussian_noise(sensitivity, epsilon, delta)
