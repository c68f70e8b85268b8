"""The guarantee against the definition, summed up exactly where it can be."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.synthesizing.accounting import (
    Guarantee,
    default_delta,
    delta_of,
    guaranteed,
    rho_of,
)
from models.errors import ConfigurationError

EPSILONS = st.floats(0.3, 100)
DELTAS = st.floats(1e-9, 0.1)


def gaussian(guarantee: Guarantee) -> tuple[np.ndarray, np.ndarray]:
    """Noise, and its probabilities."""
    reach = 40 * math.isqrt(guarantee.variance) + 60
    noise = np.arange(-reach, reach + 1)
    weights = np.exp(-(noise**2) / (2 * guarantee.variance))
    return noise, weights / weights.sum()


def outputs(guarantee: Guarantee, count: int) -> dict[int, float]:
    """The probability of each output for a key of so many documents; 0 is that it is not released."""
    if count == 0:
        return {0: 1.0}
    noise, probabilities = gaussian(guarantee)
    chances = dict[int, float]()
    for value, chance in zip((noise + count).tolist(), probabilities.tolist(), strict=True):
        out = value if value >= guarantee.threshold else 0
        chances[out] = chances.get(out, 0.0) + chance
    return chances


@given(epsilon=EPSILONS, delta=DELTAS, count=st.integers(0, 60))
def test_one_key_keeps_the_definition_of_differential_privacy(
    epsilon: float, delta: float, count: int
) -> None:
    guarantee = guaranteed(epsilon, delta, 1, 1)
    one, other = outputs(guarantee, count), outputs(guarantee, count + 1)
    for left, right in ((one, other), (other, one)):
        # Exactly the least delta of this pair at this epsilon.
        excess = (chance - math.exp(epsilon) * right.get(out, 0.0) for out, chance in left.items())
        assert sum(max(0.0, each) for each in excess) <= delta


@given(epsilon=EPSILONS, delta=DELTAS, per_document=st.integers(1, 500), histograms=st.integers(1, 5))
def test_noise_and_threshold_spend_half_of_delta_each(
    epsilon: float, delta: float, per_document: int, histograms: int
) -> None:
    found = guaranteed(epsilon, delta, per_document, histograms)
    assert found.rho == pytest.approx(histograms * per_document / (2 * found.variance))
    assert delta_of(found.rho, epsilon) <= delta / 2
    noise, probabilities = gaussian(found)
    passes = probabilities[noise + 1 >= found.threshold].sum()
    assert histograms * per_document * passes <= delta / 2


@given(epsilon=EPSILONS, delta=DELTAS)
def test_the_conversion_is_no_worse_than_the_one_in_closed_form(epsilon: float, delta: float) -> None:
    rho = rho_of(epsilon, delta)
    # Bun and Steinke: epsilon = rho + 2 sqrt(rho ln(1/delta)).
    least = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
    assert rho >= least * (1 - 1e-6)
    assert delta_of(rho, epsilon) <= delta


def test_more_to_hide_needs_more_noise() -> None:
    usual = guaranteed(3, 1e-4, 100, 3)
    for other in (guaranteed(1, 1e-4, 100, 3), guaranteed(3, 1e-6, 100, 3), guaranteed(3, 1e-4, 200, 3)):
        assert other.variance > usual.variance and other.threshold > usual.threshold
    assert guaranteed(1024, 1e-4, 100, 3).variance == 1
    assert default_delta(1_000) == pytest.approx(1 / (1_000 * math.log(1_000)))
    assert 0 < default_delta(1) == default_delta(3) < 0.31


NOTHING = "epsilon must be above 0 and finite, delta between 0 and 1"
TOO_SMALL = "0.001 is too small for 100 n-grams of each document"


@pytest.mark.parametrize(
    ("epsilon", "delta", "told"),
    [(epsilon, 0.1, NOTHING) for epsilon in (0.0, -1.0, math.inf, math.nan)]
    + [(1.0, delta, NOTHING) for delta in (0.0, 1.0)]
    + [(0.001, 1e-4, TOO_SMALL), (1e-320, 1e-5, TOO_SMALL.removeprefix("0.001 "))],
)
def test_what_promises_nothing_or_takes_more_noise_than_can_be_drawn_is_refused(
    epsilon: float, delta: float, told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        guaranteed(epsilon, delta, 100, 3)
