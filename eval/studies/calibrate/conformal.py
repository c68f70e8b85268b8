"""A threshold with a promise: the largest one whose expected leakage is bounded with stated confidence.

Conformal risk control in its high-probability form: Learn then Test (Angelopoulos et al. 2021) with the
p-values of Hoeffding and Bentkus (Bates et al. 2021). Thresholds are tested in order from the
strictest, and testing stops at the first that cannot be shown to be safe. So, for any distribution of losses
and any number of thresholds,

    P(expected leakage at the chosen threshold <= limit) >= confidence,

over draws of the calibration documents, if they and future documents are independent draws from the same
distribution, and if the thresholds were fixed beforehand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ThresholdTest:
    """One threshold: the mean loss of ``n`` documents, and the p-value of its being above the limit."""

    tau: float
    mean: float
    p_value: float
    safe: bool


def tested_thresholds(
    taus: Sequence[float], losses: NDArray[np.float64], limit: float, confidence: float
) -> list[ThresholdTest]:
    """Each threshold in turn, ``safe`` up to the first that fails.

    Args:
        taus: Thresholds from the strictest to the loosest.
        losses: Shape (documents, thresholds), each in [0, 1].
        limit: The highest expected loss, in (0, 1).
        confidence: With which it must hold, in (0, 1).

    Raises:
        ValueError: The shapes do not agree, a loss is not in [0, 1], or there is no document.
    """
    if losses.ndim != 2 or losses.shape[1] != len(taus) or len(losses) == 0:
        raise ValueError(f"{len(taus)} thresholds, losses of shape {losses.shape}: give a column for each")
    n = len(losses)
    if not np.all((losses >= 0) & (losses <= 1)):
        raise ValueError("a loss is not in [0, 1]")
    found: list[ThresholdTest] = []
    safe = True
    for tau, mean in zip(taus, losses.mean(axis=0).tolist(), strict=True):
        p_value = hoeffding_bentkus(mean, n, limit)
        safe = safe and p_value <= 1 - confidence
        found.append(ThresholdTest(tau, mean, p_value, safe))
    return found


def largest_safe(tested: Sequence[ThresholdTest]) -> ThresholdTest | None:
    """The loosest threshold that is safe; None if not even the strictest is."""
    safe = [each for each in tested if each.safe]
    return safe[-1] if safe else None


def hoeffding_bentkus(mean: float, n: int, limit: float) -> float:
    """A p-value of "the expectation is above ``limit``" for the mean of ``n`` losses in [0, 1]."""
    if mean >= limit:
        return 1.0
    # binom.cdf checks its arguments each time, which takes thirty times as long.
    from scipy.special import bdtr

    hoeffding = math.exp(-n * _divergence(mean, limit))
    bentkus = math.e * float(bdtr(math.ceil(round(n * mean, 9)), n, limit))
    return min(1.0, hoeffding, bentkus)


def upper_bound(mean: float, n: int, confidence: float) -> float:
    """The lowest limit that a mean of ``n`` losses shows to hold with this confidence."""
    low, high = mean, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if hoeffding_bentkus(mean, n, middle) <= 1 - confidence:
            high = middle
        else:
            low = middle
    return high


def documents_needed(limit: float, confidence: float) -> int:
    """How many documents a promise needs where none of them leaks anything."""
    return math.ceil(math.log(1 - confidence) / math.log1p(-limit))


def _divergence(one: float, other: float) -> float:
    """Kullback-Leibler divergence of two coins, in nats."""
    first = one * math.log(one / other) if one > 0 else 0.0
    second = (1 - one) * math.log((1 - one) / (1 - other)) if one < 1 else 0.0
    return first + second


@dataclass(frozen=True, slots=True)
class HalvesCheck:
    """The number of random splits in which a threshold could be promised, and in which it was broken.

    Broken means that the mean loss of the held-out half is above the limit. That mean has sampling error, so
    the count of violations is conservative.
    """

    limit: float
    confidence: float
    documents: int
    splits: int
    promised: int
    violated: int


def check_on_halves(
    taus: Sequence[float],
    losses: NDArray[np.float64],
    limit: float,
    confidence: float,
    splits: int = 1_000,
    seed: int = 0,
) -> HalvesCheck:
    """Split the documents repeatedly; ``losses`` has the shape (documents, thresholds).

    Raises:
        ValueError: There are fewer than two documents.
    """
    n = len(losses)
    if n < 2:
        raise ValueError(f"{n} documents cannot be split: give at least 2")
    rng = np.random.default_rng(seed)
    promised = violated = 0
    for _ in range(splits):
        order = rng.permutation(n)
        fitted, other = losses[order[: n // 2]], losses[order[n // 2 :]]
        best = largest_safe(tested_thresholds(taus, fitted, limit, confidence))
        if best is not None:
            promised += 1
            violated += bool(other[:, list(taus).index(best.tau)].mean() > limit)
    return HalvesCheck(limit, confidence, n, splits, promised, violated)
