"""Precision, recall and F1 of tallies, with a bootstrap over documents."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from enum import StrEnum

import numpy as np

from eval.measures.uncertainty import Drawn, Estimate, Floats, bootstrap, percentiles, ratio_of
from eval.studies.detection.measures import Tally

SEED = 0
RESAMPLES = 1_000


class Measure(StrEnum):
    """A measure of tallies."""

    PRECISION = "precision"
    RECALL = "recall"
    F1 = "F1"
    SHARE = "share"
    """Computed as recall, where a high value is not good."""


def estimated(measure: Measure, tallies: Mapping[str, Tally]) -> Estimate:
    """One measure over the tallies of documents by name; the order of names has no effect.

    For F1, ``hits`` is met plus right, and ``n`` is marked plus found.
    """
    ordered = [tallies[name] for name in sorted(tallies)]
    if measure in (Measure.RECALL, Measure.SHARE):
        return ratio_of([t.met for t in ordered], [t.marked for t in ordered], SEED, RESAMPLES)
    if measure is Measure.PRECISION:
        return ratio_of([t.right for t in ordered], [t.found for t in ordered], SEED, RESAMPLES)
    return _f1(ordered)


def f1_of(tally: Tally) -> float | None:
    """The harmonic mean of precision and recall; None if nothing is marked and nothing found."""
    value = float(_f1_scores(np.array(astuple(tally), np.float64)[:, None])[0])
    return None if np.isnan(value) else value


def _f1(ordered: Sequence[Tally]) -> Estimate:
    whole = sum(ordered, Tally())
    value = f1_of(whole)
    hits, n = whole.met + whole.right, whole.marked + whole.found
    if value is None:
        return Estimate(hits=hits, n=n)
    columns = np.array([astuple(tally) for tally in ordered], dtype=np.float64).T

    def scores(drawn: Drawn) -> Floats:
        return _f1_scores(columns[:, drawn].sum(axis=2))

    low, high = percentiles(bootstrap(scores, len(ordered), SEED, RESAMPLES)) or (None, None)
    return Estimate(value, low, high, hits, n)


def _f1_scores(sums: Floats) -> Floats:
    """F1 of the columns met, marked, right and found; NaN if nothing is marked and nothing found."""
    met, marked, right, found = sums
    scores = np.where((marked > 0) | (found > 0), 0.0, np.nan)
    some = (met > 0) & (right > 0)
    precision, recall = right[some] / found[some], met[some] / marked[some]
    scores[some] = 2 * precision * recall / (precision + recall)
    return scores
