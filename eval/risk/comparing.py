"""Measures of two columns of scores, a row a mention, and their intervals over whole snippets.

A bootstrap draws a snippet several times or not at all, so every measure takes how often each row counts
in each of many redraws. Spearman (1904), The Proof and Measurement of Association between Two Things.
Cohen (1968), Weighted Kappa.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.measures.intervals import CELLS_AT_ONCE, CONFIDENCE

SEED = 0
RESAMPLES = 1_000

LEVELS_FROM = (0.1, 0.4, 0.7)
"""From which score on the rubric's levels 1, 2 and 3 begin; below is level 0."""
NEAR = 0.1
_ROUNDING = 1e-9

Floats = NDArray[np.float64]
Rows = Sequence[tuple[Sequence[float], Sequence[float]]]
"""For each snippet two columns of equal length, a row a mention."""
Statistic = Callable[[Floats, Floats, Floats], Floats]
"""Of two columns of shape (rows,) and how often each row counts in each redraw, of shape (redraws, rows).

The answer has shape (redraws,); it is NaN where the statistic is not defined.
"""


@dataclass(frozen=True, slots=True)
class Estimated:
    """A value with its 95% interval when snippets are redrawn; None is what could not be measured.

    There is no interval where there is no second snippet to draw.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


def value_of(statistic: Statistic, rows: Rows) -> float | None:
    """A statistic over all mentions of all snippets, each counted once; None where it is not defined."""
    first, second = _columns(rows)
    if not len(first):
        return None
    value = float(statistic(first, second, np.ones((1, len(first))))[0])
    return None if np.isnan(value) else value


def estimated(statistic: Statistic, rows: Rows) -> Estimated:
    """The same with its interval; redraws for which the statistic is not defined are left out."""
    value = value_of(statistic, rows)
    if value is None or len(rows) < 2:
        return Estimated(value)
    first, second = _columns(rows)
    owners = np.repeat(np.arange(len(rows)), [len(pair[0]) for pair in rows])
    rng = np.random.default_rng(SEED)
    at_once = max(1, CELLS_AT_ONCE // len(first))
    found = []
    for begin in range(0, RESAMPLES, at_once):
        redraws = min(at_once, RESAMPLES - begin)
        drawn = np.zeros((redraws, len(rows)))
        np.add.at(drawn, (np.arange(redraws)[:, None], rng.integers(0, len(rows), drawn.shape)), 1.0)
        found.append(statistic(first, second, drawn[:, owners]))
    values = np.concatenate(found)
    values = values[~np.isnan(values)]
    if not len(values):
        return Estimated(value)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Estimated(value, float(low), float(high))


def _columns(rows: Rows) -> tuple[Floats, Floats]:
    first = np.array([value for left, _ in rows for value in left], np.float64)
    second = np.array([value for _, right in rows for value in right], np.float64)
    return first, second


def spearman(first: Floats, second: Floats, counts: Floats) -> Floats:
    """Spearman's rank correlation in [-1, 1], equal values sharing the mean of their ranks.

    Not defined where one side has a single value, however often: what does not differ has no order.
    """
    middle = (counts.sum(axis=1, keepdims=True) + 1) / 2
    left, right = (_ranks(side, counts) - middle for side in (first, second))
    together = np.sum(counts * left * right, axis=1)
    spreads = [np.sum(counts * side * side, axis=1) for side in (left, right)]
    defined = np.minimum(*spreads) > _ROUNDING
    return np.clip(_ratio(together, np.sqrt(spreads[0] * spreads[1]), defined), -1.0, 1.0)


def _ranks(values: Floats, counts: Floats) -> Floats:
    """The mean rank of each value in the list in which every row stands as often as it counts."""
    different, which = np.unique(values, return_inverse=True)
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(len(different)))
    of_value = np.add.reduceat(counts[:, order], starts, axis=1)
    before = np.cumsum(of_value, axis=1) - of_value
    ranks: Floats = (before + (of_value + 1) / 2)[:, which]
    return ranks


def mean_absolute_difference(first: Floats, second: Floats, counts: Floats) -> Floats:
    """The mean distance of the columns."""
    return _mean(np.abs(first - second), counts)


def share_near(first: Floats, second: Floats, counts: Floats) -> Floats:
    """The share of rows whose columns are at most ``NEAR`` apart."""
    return _mean((np.abs(first - second) <= NEAR + _ROUNDING).astype(np.float64), counts)


def weighted_kappa(first: Floats, second: Floats, counts: Floats) -> Floats:
    """Cohen's kappa over the rubric's four levels, disagreement weighted by the square of the distance.

    1 is full agreement, 0 what chance would give. Not defined where both sides have the same single level.
    """
    levels = np.eye(len(LEVELS_FROM) + 1)
    left, right = (levels[np.digitize(side + _ROUNDING, LEVELS_FROM)] for side in (first, second))
    distance = np.subtract.outer(np.arange(len(levels)), np.arange(len(levels))).astype(np.float64) ** 2
    apart = np.sum((left @ distance) * right, axis=1)
    seen = counts @ apart * counts.sum(axis=1)
    by_chance = np.sum((counts @ left @ distance) * (counts @ right), axis=1)
    return 1.0 - _ratio(seen, by_chance, by_chance > 0)


def _mean(values: Floats, counts: Floats) -> Floats:
    total = counts.sum(axis=1)
    return _ratio(counts @ values, total, total > 0)


def _ratio(parts: Floats, wholes: Floats, defined: NDArray[np.bool_]) -> Floats:
    ratios: Floats = np.full(len(parts), np.nan)
    return np.divide(parts, wholes, out=ratios, where=defined)
