"""Differences and ratios of two figures, with intervals.

Of the values of the same questions, a bootstrap that redraws questions. Of two figures alone, out of their
own intervals: Zou and Donner (2008), Construction of confidence limits about effect measures: a general
approach, which takes the figures as independent.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.measures.intervals import CONFIDENCE, RESAMPLES, Estimate, Share, redrawn_ratios, widest


@dataclass(frozen=True, slots=True)
class Figure:
    """A value and its 95% interval; an end is None where nothing is known of it."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, None unless both are known."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def of_share(share: Share) -> Figure | None:
    """A share with its wider interval, None if nothing was counted."""
    if share.share is None:
        return None
    low, high = widest(share) or (None, None)
    return Figure(share.share, low, high)


def of_mean(estimate: Estimate) -> Figure | None:
    """A mean with its interval, None if there were no values."""
    return None if estimate.mean is None else Figure(estimate.mean, estimate.low, estimate.high)


def difference(one: Figure, other: Figure) -> Figure:
    """``one`` minus ``other``."""
    value = one.value - other.value
    down = _reach(one.value, one.low, other.value, other.high)
    up = _reach(one.value, one.high, other.value, other.low)
    return Figure(value, None if down is None else value - down, None if up is None else value + up)


def ratio(one: Figure, other: Figure) -> Figure | None:
    """``one`` over ``other``, by the difference of their logarithms; None over nothing.

    Where ``other`` may be 0 there is no upper end. Where ``one`` is 0, which has no logarithm, the upper end
    is that of ``one`` over the lower end of ``other``, rather too high.

    Raises:
        ValueError: a figure is negative.
    """
    if min(one.value, other.value) < 0:
        raise ValueError("a ratio is of figures that are not negative")
    if other.value == 0:
        return None
    if one.value == 0:
        return Figure(0.0, 0.0, one.high / other.low if one.high is not None and other.low else None)
    logs = difference(_log(one), _log(other))
    low, high = (None if end is None or math.isinf(end) else math.exp(end) for end in (logs.low, logs.high))
    low = 0.0 if logs.low == -math.inf else low
    return Figure(one.value / other.value, low, high)


def paired_ratio(one: Sequence[float], other: Sequence[float], seed: int = 0) -> Figure | None:
    """The mean of ``one`` over that of ``other``, values of the same questions; None over nothing.

    Raises:
        ValueError: they are of different numbers of questions.
    """
    if len(one) != len(other):
        raise ValueError(f"{len(one)} values, {len(other)} others: give one of each a question")
    if not sum(other):
        return None
    return redrawn(sum(one) / sum(other), redrawn_ratios(one, other, seed), RESAMPLES)


def redrawn(value: float, values: Sequence[float] | NDArray[np.float64], redraws: int) -> Figure:
    """A value with the percentile interval of its redraws, widened to hold it.

    No interval where they do not vary, as if nothing were uncertain. Redraws that are missing had no value,
    for they divide by nothing: where they are more than those beyond the upper end, there is none.
    """
    if not len(values) or np.min(values) == np.max(values):
        return Figure(value)
    tail = (1 - CONFIDENCE) / 2
    low, high = (float(end) for end in np.quantile(values, [tail, 1 - tail]))
    return Figure(value, min(low, value), max(high, value) if len(values) >= (1 - tail) * redraws else None)


def less(figure: Figure, by: float) -> Figure:
    """The figure and its ends, each lower by a constant."""
    low, high = (None if end is None else end - by for end in (figure.low, figure.high))
    return Figure(figure.value - by, low, high)


def _reach(one: float, one_end: float | None, other: float, other_end: float | None) -> float | None:
    if one_end is None or other_end is None:
        return None
    return math.hypot(one - one_end, other - other_end)


def _log(figure: Figure) -> Figure:
    def log(value: float | None) -> float | None:
        return None if value is None else math.log(value) if value > 0 else -math.inf

    return Figure(math.log(figure.value), log(figure.low), log(figure.high))
