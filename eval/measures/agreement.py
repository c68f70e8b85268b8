"""Measures of two columns of scores, one row per mention, with a bootstrap over snippets.

A snippet may be drawn several times or not at all, so every measure takes the weight of each row in each
resample. Spearman (1904), The Proof and Measurement of Association between Two Things.
Cohen (1968), Weighted Kappa.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from eval.measures.uncertainty import Drawn, Estimate, Floats, bootstrap, percentiles

SEED = 0
RESAMPLES = 1_000

LEVELS_FROM = (0.1, 0.4, 0.7)
"""The lowest scores of the rubric's levels 1, 2 and 3."""
NEAR = 0.1
_ROUNDING = 1e-9

Rows = Sequence[tuple[Sequence[float], Sequence[float]]]
"""For each snippet two columns of equal length, one row per mention."""
Statistic = Callable[[Floats, Floats, Floats], Floats]
"""Of two columns of shape (rows,) and how often each row counts in each redraw, of shape (redraws, rows).

The answer has shape (redraws,); it is NaN where the statistic is not defined.
"""


def value_of(statistic: Statistic, rows: Rows) -> float | None:
    """A statistic over all mentions of all snippets; None where it is not defined."""
    first, second = _columns(rows)
    if not len(first):
        return None
    value = float(statistic(first, second, np.ones((1, len(first))))[0])
    return None if np.isnan(value) else value


def estimated(statistic: Statistic, rows: Rows) -> Estimate:
    """The same with its interval, if there are at least two snippets."""
    value = value_of(statistic, rows)
    if value is None or len(rows) < 2:
        return Estimate(value)
    first, second = _columns(rows)
    owners = np.repeat(np.arange(len(rows)), [len(pair[0]) for pair in rows])

    def redrawn(drawn: Drawn) -> Floats:
        counts = np.zeros(drawn.shape)
        np.add.at(counts, (np.arange(len(drawn))[:, None], drawn), 1.0)
        return statistic(first, second, counts[:, owners])

    low, high = percentiles(bootstrap(redrawn, len(rows), SEED, RESAMPLES, len(first))) or (None, None)
    return Estimate(value, low, high)


def _columns(rows: Rows) -> tuple[Floats, Floats]:
    first = np.array([value for left, _ in rows for value in left], np.float64)
    second = np.array([value for _, right in rows for value in right], np.float64)
    return first, second


def spearman(first: Floats, second: Floats, counts: Floats) -> Floats:
    """Spearman's rank correlation in [-1, 1], equal values sharing the mean of their ranks.

    Not defined where one side is constant.
    """
    middle = (counts.sum(axis=1, keepdims=True) + 1) / 2
    left, right = (_ranks(side, counts) - middle for side in (first, second))
    together = np.sum(counts * left * right, axis=1)
    spreads = [np.sum(counts * side * side, axis=1) for side in (left, right)]
    defined = np.minimum(*spreads) > _ROUNDING
    return np.clip(_ratio(together, np.sqrt(spreads[0] * spreads[1]), defined), -1.0, 1.0)


def _ranks(values: Floats, counts: Floats) -> Floats:
    """The mean rank of each value, with rows repeated by their weights."""
    different, which = np.unique(values, return_inverse=True)
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(len(different)))
    of_value = np.add.reduceat(counts[:, order], starts, axis=1)
    before = np.cumsum(of_value, axis=1) - of_value
    ranks: Floats = (before + (of_value + 1) / 2)[:, which]
    return ranks


def mean_absolute_difference(first: Floats, second: Floats, counts: Floats) -> Floats:
    """The mean absolute difference of the columns."""
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
