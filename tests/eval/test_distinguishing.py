"""The attack on releases: it never breaks a promise that is kept, and it catches one that is not."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ingest.synthesizing.accounting import Guarantee, guaranteed
from tests.distinguishing import Distinguished, audited, distinguished, histogram_scores, ngram_scores

UNBOUNDED = 10**6


def attacked(guarantee: Guarantee, keys: int, trials: int, seed: int = 0) -> Distinguished:
    rng = random.Random(seed)
    without, planted = (histogram_scores(guarantee, keys, trials, each, rng) for each in (False, True))
    return distinguished(without, planted, guarantee.delta)


def attacked_model(canary: Sequence[int], guarantee: Guarantee, trials: int) -> Distinguished:
    rng = random.Random(0)
    without, planted = (
        ngram_scores(canary, guarantee.histograms, guarantee, trials, each, rng) for each in (False, True)
    )
    return distinguished(without, planted, guarantee.delta)


def test_two_that_are_always_told_apart_by_hand() -> None:
    found = distinguished([0.0] * 200, [1.0] * 200, delta=0.01)
    # Clopper and Pearson of 100 of 100 and of 0 of 100, each end at 97.5%.
    end = 0.025 ** (1 / 100)
    assert found.epsilon == pytest.approx(math.log((end - 0.01) / (1 - end)))
    assert (found.hits, found.false_hits, found.n) == (100, 0, 100)
    # Half of the releases without the canary show that they are: above a limit nothing could be told.
    found = distinguished([0.0, 1.0] * 1_000, [1.0, 1.0] * 1_000, delta=0.0)
    assert found.epsilon > 4 and (found.hits, found.false_hits) == (found.n // 2, 0)
    rng = random.Random(4)
    one, other = ([rng.random() for _ in range(4_000)] for _ in range(2))
    assert distinguished(one, other, delta=0.0).epsilon < 0.05


@pytest.mark.parametrize(("one", "other"), [(3, 3), (2, 4)])
def test_unequal_trials_are_refused(one: int, other: int) -> None:
    with pytest.raises(ValueError, match="as many scores with the canary as without it, an even number"):
        distinguished([0.0] * one, [0.0] * other, 0.1)


@pytest.mark.parametrize("epsilon", [0.3, 1, 3, 8])
@pytest.mark.parametrize("per_document", [1, 6])
def test_in_a_thousand_trials_a_kept_promise_is_never_broken(epsilon: float, per_document: int) -> None:
    guarantee = guaranteed(epsilon, 1e-4, per_document, 1)
    assert all(attacked(guarantee, per_document, 1_000, seed).epsilon <= epsilon for seed in range(3))
    assert attacked(guarantee, 4 * per_document, 1_000).epsilon <= epsilon, "more keys count for no more"


def test_many_trials_come_near_the_promise_and_half_the_noise_is_caught() -> None:
    guarantee = guaranteed(1, 1e-4, 1, 1)
    assert 0.35 < attacked(guarantee, 1, 100_000).epsilon <= 1
    halved = replace(guarantee, variance=guarantee.variance // 4)
    assert attacked(halved, 1, 100_000).epsilon > 1


def test_all_histograms_of_a_promise_are_attacked_together() -> None:
    guarantee = guaranteed(3, 1e-4, 4, 3)
    found = audited(guarantee, 6_000, random.Random(0))
    assert attacked(guarantee, 4, 6_000).epsilon < found.epsilon <= 3 and found.n == 3_000
    assert audited(replace(guarantee, variance=1), 1_000, random.Random(0)).epsilon > 3


def test_a_document_that_counts_without_bound_is_caught_in_a_thousand_trials() -> None:
    guarantee = guaranteed(1, 1e-4, 2, 1)
    unbounded = replace(guarantee, per_document=UNBOUNDED)
    assert attacked(unbounded, 32, 1_000).epsilon > guarantee.epsilon
    assert attacked(guarantee, 32, 1_000).epsilon <= guarantee.epsilon


def test_whole_models_keep_their_promise_and_without_the_bound_they_are_caught() -> None:
    guarantee = guaranteed(1, 1e-2, 3, 2)
    assert attacked_model((1, 2), guarantee, 100).epsilon <= guarantee.epsilon
    unbounded = replace(guaranteed(1, 1e-2, 1, 2), per_document=UNBOUNDED)
    assert attacked_model(range(60), unbounded, 60).epsilon > guarantee.epsilon
