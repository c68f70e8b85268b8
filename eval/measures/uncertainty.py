"""Figures with 95% intervals: shares, means, ratios of sums, differences and ratios of two figures.

Wilson's interval (Wilson 1927, Probable Inference, the Law of Succession, and Statistical Inference) assumes
independent trials. Entities of one answer, or of a document that many queries retrieve, are not independent.
Shares of entities therefore also get a cluster bootstrap over queries or documents, and the widest interval
is reported. Two figures are contrasted by a paired bootstrap over shared questions, or from their own
intervals under independence (Zou and Donner 2008, Construction of confidence limits about effect measures: a
general approach).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
RESAMPLES = 2_000
FEWEST, WIDE = 10, 0.5
"""A figure of fewer cases, or with a wider interval, says next to nothing: 5 of 9 may be .27 or .81."""
CELLS_AT_ONCE = 1_000_000
"""The most numbers that a bootstrap holds in memory at a time."""

Floats = NDArray[np.float64]
Drawn = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and its 95% interval; ``value`` is None if nothing was measured, which is not zero.

    An end of the interval is None if it is not known, as for a complete count. A share is ``hits`` of ``n``,
    a mean is of ``n`` values. ``why_not`` is the reason for a missing value, if known.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    hits: int | float = 0
    n: int | float = 0
    why_not: str = ""

    @property
    def too_few(self) -> bool:
        """Whether it says next to nothing: of fewer than ten cases, or as uncertain."""
        return self.value is not None and (0 < self.n < FEWEST or self.width > WIDE)

    @property
    def width(self) -> float:
        """The width of the interval, 0 unless both ends are known."""
        return 0.0 if self.low is None or self.high is None else self.high - self.low

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, None unless both are known."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def wilson(hits: float, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
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
    # Rounding must not put the share outside its interval.
    low = 0.0 if hits == 0 else max(0.0, center - reach)
    high = 1.0 if hits == n else min(1.0, center + reach)
    return low, high


def bootstrap(
    statistic: Callable[[Drawn], Floats], clusters: int, seed: int, resamples: int, cells: int = 0
) -> Floats:
    """The bootstrap distribution of a statistic, resampling clusters: documents, queries or questions.

    The statistic takes indices of the drawn clusters, shape (resamples, clusters), and returns one row per
    resample, NaN where it is not defined. ``cells`` is the count of numbers that it holds per resample.
    """
    rng = np.random.default_rng(seed)
    at_once = max(1, CELLS_AT_ONCE // max(clusters, cells))
    sizes = [min(at_once, resamples - first) for first in range(0, resamples, at_once)]
    return np.concatenate([statistic(rng.integers(0, clusters, (size, clusters))) for size in sizes])


def percentiles(redraws: Floats) -> tuple[float, float] | None:
    """The percentile interval of the defined resamples, None if there are none."""
    defined = redraws[~np.isnan(redraws)]
    if not len(defined):
        return None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def holding(value: float, redraws: Floats) -> Estimate:
    """A value with the percentile interval of its resamples, widened to contain it.

    No interval if the resamples do not vary. Undefined resamples divide by zero: if they outnumber the upper
    tail, there is no upper end.
    """
    defined = redraws[~np.isnan(redraws)]
    ends = percentiles(defined)
    if ends is None or defined.min() == defined.max():
        return Estimate(value)
    bounded = len(defined) >= (1 + CONFIDENCE) / 2 * len(redraws)
    return Estimate(value, min(ends[0], value), max(ends[1], value) if bounded else None)


def share_of(hits: int, n: int) -> Estimate:
    """A share of independent trials with Wilson's interval."""
    return Estimate(hits / n, *wilson(hits, n), hits, n) if n else Estimate()


def counted_share(hits: int, n: int) -> Estimate:
    """A share of a complete count: no sample, so no interval."""
    return Estimate(hits / n if n else None, hits=hits, n=n)


def clustered_share(hits: Sequence[int], totals: Sequence[int], seed: int = 0) -> Estimate:
    """The pooled share, one pair per query, with the wider of Wilson's and the bootstrap interval.

    Where nothing or everything was hit, no resample varies: then Wilson's interval counts each query once, as
    hit or not, since its trials are not independent.

    Raises:
        ValueError: the sequences differ in length, or a query has more hits than its total.
    """
    if any(not 0 <= hit <= total for hit, total in zip(hits, totals, strict=True)):
        raise ValueError("a query has more hits than its total, or fewer than none")
    plain = share_of(sum(hits), sum(totals))
    if plain.value in (0.0, 1.0):
        clusters = sum(total > 0 for total in totals)
        low, high = wilson(round(plain.value * clusters), clusters)
        return replace(plain, low=low, high=high)
    return max(ratio_of(hits, totals, seed), plain, key=lambda each: each.width)


def crossed_share(counts: Sequence[Mapping[str, tuple[int, int]]], seed: int = 0) -> Estimate:
    """The pooled share, with one mapping by document for each query.

    Takes the widest of three intervals: those of ``clustered_share`` over queries and over documents, and
    Wilson's with each entity counted once. After a single leak it is far narrower than after none: nothing
    says how much a first leak would bring.

    Raises:
        ValueError: a document has more hits than its total.
    """
    documents: dict[str, tuple[int, int]] = {}
    once: dict[str, int] = {}
    for query in counts:
        for name, (hits, total) in query.items():
            before = documents.get(name, (0, 0))
            documents[name] = (before[0] + hits, before[1] + total)
            once[name] = max(once.get(name, 0), total)
    queries = [(sum(h for h, _ in each.values()), sum(n for _, n in each.values())) for each in counts]
    found = max(
        (
            clustered_share([hits for hits, _ in pairs], [total for _, total in pairs], seed)
            for pairs in (queries, [documents[name] for name in sorted(documents)])
        ),
        key=lambda each: each.width,
    )
    if found.value is None:
        return found
    # An entity that a hundred prompts bring up is one entity.
    distinct = sum(once.values())
    low, high = wilson(found.value * distinct, distinct)
    return replace(found, low=low, high=high) if high - low > found.width else found


def mean_of(values: Sequence[float], seed: int = 0) -> Estimate:
    """The mean with its bootstrap interval; none if all values are equal, where it would have no width."""
    if not values:
        return Estimate()
    mean = Estimate(float(np.mean(values)), n=len(values))
    if min(values) == max(values):
        return mean
    drawn = ratio_of(values, [1] * len(values), seed)
    return replace(mean, low=drawn.low, high=drawn.high)


def ratio_of(
    parts: Sequence[float], wholes: Sequence[float], seed: int = 0, resamples: int = RESAMPLES
) -> Estimate:
    """sum(parts) / sum(wholes), one pair per cluster, with a cluster bootstrap."""
    hits, n = sum(parts), sum(wholes)
    if not n:
        return Estimate(hits=hits, n=n)
    low, high = percentiles(_ratios(parts, wholes, seed, resamples)) or (None, None)
    return Estimate(hits / n, low, high, hits, n)


def paired_ratio(one: Sequence[float], other: Sequence[float], seed: int = 0) -> Estimate:
    """The mean of ``one`` over that of ``other``, paired by question; no value if the divisor is 0.

    Raises:
        ValueError: The numbers of questions differ.
    """
    if len(one) != len(other):
        raise ValueError(f"{len(one)} values, {len(other)} others: give one of each a question")
    if not sum(other):
        return Estimate()
    return holding(sum(one) / sum(other), _ratios(one, other, seed, RESAMPLES))


def _ratios(parts: Sequence[float], wholes: Sequence[float], seed: int, resamples: int) -> Floats:
    pairs = np.array([parts, wholes], dtype=np.float64)

    def divided(drawn: Drawn) -> Floats:
        sums = pairs[:, drawn].sum(axis=2)
        ratios: Floats = np.full(len(drawn), np.nan)
        np.divide(sums[0], sums[1], out=ratios, where=sums[1] > 0)
        return ratios

    return bootstrap(divided, pairs.shape[1], seed, resamples)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """``one`` minus ``other``; no value if either has none."""
    if one.value is None or other.value is None:
        return Estimate()
    value = one.value - other.value
    low = high = None
    if one.low is not None and other.high is not None:
        low = value - math.hypot(one.value - one.low, other.value - other.high)
    if one.high is not None and other.low is not None:
        high = value + math.hypot(one.value - one.high, other.value - other.low)
    return Estimate(value, low, high)


def ratio(one: Estimate, other: Estimate) -> Estimate:
    """``one`` over ``other``, from the difference of logarithms; no value if ``other`` is 0.

    No upper end if the interval of ``other`` includes 0. If ``one`` is 0, which has no logarithm, the upper
    end is that of ``one`` over the lower end of ``other``, which is conservative.

    Raises:
        ValueError: a figure is negative.
    """
    if one.value is None or not other.value:
        return Estimate()
    if min(one.value, other.value) < 0:
        raise ValueError("a ratio is of figures that are not negative")
    if one.value == 0:
        return Estimate(0.0, 0.0, one.high / other.low if one.high is not None and other.low else None)
    logs = difference(
        *(_each(figure, lambda end: math.log(end) if end > 0 else -math.inf) for figure in (one, other))
    )
    low, high = (None if end is None or math.isinf(end) else math.exp(end) for end in (logs.low, logs.high))
    low = 0.0 if logs.low == -math.inf else low
    return Estimate(one.value / other.value, low, high)


def less(figure: Estimate, by: float) -> Estimate:
    """The figure and its interval minus a constant."""
    return _each(figure, lambda end: end - by)


def _each(figure: Estimate, change: Callable[[float], float]) -> Estimate:
    """Apply a function to the value and to both ends, where known."""
    value, low, high = (
        None if end is None else change(end) for end in (figure.value, figure.low, figure.high)
    )
    return Estimate(value, low, high)
