"""Whether a promise holds on the held-out half of the documents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.studies.calibrate.conformal import largest_safe, tested_thresholds


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
