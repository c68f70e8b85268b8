"""The noise against its formula, within sampling error; its coins exactly within their range."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.synthesizing.noise import MOST_VARIANCE, _below, discrete_gaussian

DRAWS = 40_000
SIGMAS = 4.5


def near(share: float) -> float:
    """How far a share of the draws may lie from its probability."""
    return SIGMAS * math.sqrt(share * (1 - share) / DRAWS)


@pytest.mark.parametrize("variance", [1, 2, 7, 90])
def test_every_number_is_drawn_as_often_as_the_formula_says(variance: int) -> None:
    drawn = discrete_gaussian(variance, DRAWS, random.Random(variance))
    assert drawn.dtype == np.int64 and len(drawn) == DRAWS
    total = sum(math.exp(-(k**2) / (2 * variance)) for k in range(-200, 201))
    for k in range(-12, 13):
        share = math.exp(-(k**2) / (2 * variance)) / total
        assert (drawn == k).mean() == pytest.approx(share, abs=near(share) + 1e-12), k


def test_the_most_noise_is_as_wide_as_it_should_be() -> None:
    drawn = discrete_gaussian(MOST_VARIANCE, DRAWS, random.Random(5))
    assert drawn.var() / MOST_VARIANCE == pytest.approx(1, abs=SIGMAS * math.sqrt(2 / DRAWS))
    within = (np.abs(drawn) <= math.isqrt(MOST_VARIANCE)).mean()
    assert within == pytest.approx(0.6827, abs=near(0.6827) + 1e-3)
    for variance in (0, MOST_VARIANCE + 1):
        with pytest.raises(ValueError, match=f"from 1 to 16777216, not {variance}"):
            discrete_gaussian(variance, 1, random.Random(0))


@given(limit=st.integers(1, 2**62), seed=st.integers())
def test_a_uniform_number_lies_below_its_limit(limit: int, seed: int) -> None:
    drawn = _below(limit, 50, random.Random(seed))
    assert len(drawn) == 50 and drawn.min() >= 0 and int(drawn.max()) < limit


def test_the_systems_randomness_draws_too_and_nothing_draws_nothing() -> None:
    system = random.SystemRandom()
    assert len(set(discrete_gaussian(10_000, 50, system).tolist())) > 20
    assert len(discrete_gaussian(1, 0, system)) == 0
