"""Shares and means with 95% intervals.

Wilson's interval treats what it counts as independent. Entities that come out of the same answer are
not, nor are those of one document that many queries bring up; so shares of entities also get a bootstrap
over whole queries, or over whole documents, and what is shown is the widest.
Wilson (1927), Probable Inference, the Law of Succession, and Statistical Inference.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
RESAMPLES = 2_000
CELLS_AT_ONCE = 1_000_000
"""How many numbers a bootstrap holds at a time, so that long runs stay within memory."""


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` of ``n``; the share is None when n is 0: nothing was measured, which is not zero.

    ``low`` and ``high`` are Wilson's interval, None for a count that is not a sample. ``clustered``
    is a bootstrap interval over queries or documents, None where it was not taken. All lie in [0, 1].
    """

    hits: int
    n: int
    share: float | None
    low: float | None = None
    high: float | None = None
    clustered: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of ``n`` values and its bootstrap interval; all None when n is 0."""

    n: int
    mean: float | None
    low: float | None
    high: float | None


def wilson(hits: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of ``hits / n``, within [0, 1]; (0, 1) when n is 0.

    Raises:
        ValueError: not 0 <= hits <= n, or the confidence is not between 0 and 1.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} hits of {n} are not a share: give 0 <= hits <= n")
    if not 0 < confidence < 1:
        raise ValueError(f"the confidence {confidence} is not between 0 and 1")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = hits / n
    scale = 1 + z * z / n
    center = (share + z * z / (2 * n)) / scale
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    # Rounding must not push the share itself out of its interval at either end.
    low = 0.0 if hits == 0 else max(0.0, center - reach)
    high = 1.0 if hits == n else min(1.0, center + reach)
    return low, high


def share_of(hits: int, n: int) -> Share:
    """A share of independent trials with Wilson's interval."""
    if n == 0:
        return Share(0, 0, None)
    low, high = wilson(hits, n)
    return Share(hits, n, hits / n, low, high)


def counted_share(hits: int, n: int) -> Share:
    """A share of everything there is: no sample, so no interval."""
    return Share(hits, n, hits / n if n else None)


def clustered_share(hits: Sequence[int], totals: Sequence[int], seed: int = 0) -> Share:
    """The share of all hits in all totals, one pair a query, with both intervals.

    Raises:
        ValueError: the sequences differ in length, or a query has more hits than its total.
    """
    if any(not 0 <= hit <= total for hit, total in zip(hits, totals, strict=True)):
        raise ValueError("a query has more hits than its total, or fewer than none")
    plain = share_of(sum(hits), sum(totals))
    interval = bootstrap_ratio(hits, totals, seed)
    return Share(plain.hits, plain.n, plain.share, plain.low, plain.high, interval)


def crossed_share(counts: Sequence[Mapping[str, tuple[int, int]]], seed: int = 0) -> Share:
    """The share of all hits in all totals, a mapping a query, with both by document.

    Of the bootstrap over queries and that over documents, in all queries together, the wider one is taken.

    Raises:
        ValueError: a document has more hits than its total.
    """
    documents: dict[str, tuple[int, int]] = {}
    for query in counts:
        for name, (hits, total) in query.items():
            before = documents.get(name, (0, 0))
            documents[name] = (before[0] + hits, before[1] + total)
    queries = [(sum(h for h, _ in each.values()), sum(n for _, n in each.values())) for each in counts]
    shares = [
        clustered_share([hits for hits, _ in pairs], [total for _, total in pairs], seed)
        for pairs in (queries, [documents[name] for name in sorted(documents)])
    ]
    return max(shares, key=lambda each: each.clustered[1] - each.clustered[0] if each.clustered else 0.0)


def mean_of(values: Sequence[float], seed: int = 0) -> Estimate:
    """The mean with its bootstrap interval; without one where all values are alike, or there is only one.

    Redrawing what does not vary would give an interval of no width, as if nothing were uncertain.
    """
    if not values:
        return Estimate(0, None, None, None)
    varies = min(values) < max(values)
    low, high = (bootstrap_ratio(values, [1] * len(values), seed) if varies else None) or (None, None)
    return Estimate(len(values), float(np.mean(values)), low, high)


def bootstrap_ratio(
    numerators: Sequence[float],
    denominators: Sequence[float],
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> tuple[float, float] | None:
    """The percentile interval of sum(numerators) / sum(denominators) when queries are redrawn.

    None when all denominators are zero. Redraws in which they happen to be zero are left out.
    """
    ratios = redrawn_ratios(numerators, denominators, seed, resamples)
    if not len(ratios):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return float(low), float(high)


def redrawn_ratios(
    numerators: Sequence[float], denominators: Sequence[float], seed: int = 0, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """sum(numerators) / sum(denominators) of every redraw in which the latter is not zero."""
    pairs = np.array([numerators, denominators], dtype=np.float64)
    n = pairs.shape[1]
    if n == 0 or not pairs[1].any():
        return np.empty(0)
    rng = np.random.default_rng(seed)
    ratios: list[NDArray[np.float64]] = []
    at_once = max(1, CELLS_AT_ONCE // n)
    for first in range(0, resamples, at_once):
        drawn = rng.integers(0, n, size=(min(at_once, resamples - first), n))
        sums = pairs[:, drawn].sum(axis=2)
        seen = sums[1] > 0
        ratios.append(sums[0, seen] / sums[1, seen])
    return np.concatenate(ratios)


def widest(share: Share) -> tuple[float, float] | None:
    """The wider of Wilson's interval and the bootstrap's; None if it has neither."""
    intervals = [share.clustered] if share.clustered is not None else []
    if share.low is not None and share.high is not None:
        intervals.append((share.low, share.high))
    return max(intervals, key=lambda ends: ends[1] - ends[0], default=None)
