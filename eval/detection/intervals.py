"""Precision, recall and F1 of many tallies, with bootstrap intervals over whole documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from eval.detection.measures import Tally
from eval.measures.intervals import CELLS_AT_ONCE, CONFIDENCE, bootstrap_ratio

SEED = 0
RESAMPLES = 1_000


class Measure(StrEnum):
    """What is made of tallies."""

    PRECISION = "precision"
    RECALL = "recall"
    F1 = "F1"
    SHARE = "share"
    """As recall, where what is met is no merit."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """``hits`` of ``total`` over ``documents``; the value is None where nothing was there to measure.

    ``low`` and ``high`` are the 95% interval when documents are redrawn. For F1 ``hits`` adds up what is
    met and what is right, ``total`` what is marked and what is found.
    """

    value: float | None
    low: float | None
    high: float | None
    hits: float
    total: float
    documents: int


def estimated(measure: Measure, tallies: Mapping[str, Tally]) -> Estimated:
    """One measure over the tallies of documents, by their names; the order of names does not matter."""
    ordered = [tallies[name] for name in sorted(tallies)]
    if measure in (Measure.RECALL, Measure.SHARE):
        return ratio([t.met for t in ordered], [t.marked for t in ordered])
    if measure is Measure.PRECISION:
        return ratio([t.right for t in ordered], [t.found for t in ordered])
    return _f1(ordered)


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Estimated:
    """sum(parts) / sum(wholes), one pair a document."""
    total = float(sum(wholes))
    ends = bootstrap_ratio(parts, wholes, SEED, RESAMPLES)
    if ends is None:
        return Estimated(None, None, None, float(sum(parts)), total, len(wholes))
    return Estimated(sum(parts) / total, *ends, float(sum(parts)), total, len(wholes))


def f1_of(tally: Tally) -> float | None:
    """The harmonic mean of precision and recall; None where neither side has anything."""
    if not tally.marked and not tally.found:
        return None
    if not tally.met or not tally.right:
        return 0.0
    precision, recall = tally.right / tally.found, tally.met / tally.marked
    return 2 * precision * recall / (precision + recall)


def _f1(ordered: Sequence[Tally]) -> Estimated:
    whole = sum(ordered, Tally())
    value = f1_of(whole)
    hits, total = whole.met + whole.right, whole.marked + whole.found
    if value is None:
        return Estimated(None, None, None, hits, total, len(ordered))
    return Estimated(value, *_f1_interval(ordered), hits, total, len(ordered))


def _f1_interval(ordered: Sequence[Tally]) -> tuple[float, float]:
    """The percentile interval of F1, which is no ratio of sums, under the redraws of ``bootstrap_ratio``."""
    columns = np.array([[t.met, t.marked, t.right, t.found] for t in ordered], dtype=np.float64).T
    n = columns.shape[1]
    rng = np.random.default_rng(SEED)
    at_once = max(1, CELLS_AT_ONCE // n)
    values: list[float] = []
    for first in range(0, RESAMPLES, at_once):
        drawn = rng.integers(0, n, size=(min(at_once, RESAMPLES - first), n))
        sums = columns[:, drawn].sum(axis=2).T
        scores = (f1_of(Tally(*map(float, row))) for row in sums)
        values += [score for score in scores if score is not None]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)
