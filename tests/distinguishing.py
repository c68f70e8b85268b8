"""Distinguishing attack on a differentially private release: was the canary among the documents?

The attacker knows the mechanism and every document but the canary, has it run many times with the canary and
without it, and guesses from one number of each release. How often the guess is right and wrong bounds epsilon
from below (Jagielski et al. 2020, Auditing Differentially Private Machine Learning), with the exact intervals
of Clopper and Pearson (1934). A bound above the promised epsilon shows that the promise is broken; one below
it shows nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from eval.measures.uncertainty import CONFIDENCE
from ingest.synthesizing.accounting import Guarantee
from ingest.synthesizing.histogram import contribution, released
from ingest.synthesizing.ngrams import learned

Floats = NDArray[np.float64]

MOST_KEYS = 100
"""The most keys of a canary in each histogram, so that an audit takes seconds."""


@dataclass(frozen=True, slots=True)
class Distinguished:
    """``epsilon`` is at least this, at the confidence; 0 where nothing was shown.

    Of ``n`` releases with the canary and ``n`` without it, the guess that chose the canary's side was right
    in ``hits`` and wrong in ``false_hits``.
    """

    epsilon: float
    hits: int
    false_hits: int
    n: int


def distinguished(
    without: Sequence[float], planted: Sequence[float], delta: float, confidence: float = CONFIDENCE
) -> Distinguished:
    """The lower bound on epsilon at ``delta`` from the scores of releases without the canary and with it.

    The first half of the trials chooses the guess: a limit, and the side of it. The second half is measured.

    Raises:
        ValueError: The two are not of the same, even length.
    """
    if len(without) != len(planted) or len(without) % 2:
        raise ValueError("give as many scores with the canary as without it, an even number")
    n = len(without) // 2
    scores = np.array([without, planted], np.float64)
    first, second = scores[:, :n], scores[:, n:]
    limits = np.unique(first)
    shares = np.array([np.searchsorted(np.sort(row), limits) for row in first])
    # Below the limit the release speaks for no canary, from it on for one: each is an event of its own.
    above, below = n - shares, shares
    best_above, best_below = (
        _epsilons(of[wanted], of[1 - wanted], n, delta, confidence) for of, wanted in ((above, 1), (below, 0))
    )
    if best_above.max() >= best_below.max():
        false_hits, hits = (second >= limits[best_above.argmax()]).sum(axis=1).tolist()
    else:
        hits, false_hits = (second < limits[best_below.argmax()]).sum(axis=1).tolist()
    epsilon = _epsilons(np.array([hits]), np.array([false_hits]), n, delta, confidence)
    return Distinguished(float(epsilon[0]), hits, false_hits, n)


def _epsilons(
    hits: NDArray[np.int64], false_hits: NDArray[np.int64], n: int, delta: float, confidence: float
) -> Floats:
    """ln((least rate of hits - delta) / highest rate of false hits), 0 where that is less."""
    from scipy.stats import beta

    tail = (1 - confidence) / 2
    least = np.where(hits > 0, beta.ppf(tail, np.maximum(hits, 1), n - hits + 1), 0.0)
    most = np.where(false_hits < n, beta.ppf(1 - tail, false_hits + 1, np.maximum(n - false_hits, 1)), 1.0)
    return np.log(np.maximum((least - delta) / most, 1.0))


def audited(guarantee: Guarantee, trials: int, rng: Random) -> Distinguished:
    """The attack on all histograms of a guarantee, by a canary that counts for all it may in each of them.

    More than ``MOST_KEYS`` keys are not attacked: the bound is then lower than it could be.
    """
    keys = min(MOST_KEYS, guarantee.per_document)
    scores = [
        [histogram_scores(guarantee, keys, trials, planted, rng) for _ in range(guarantee.histograms)]
        for planted in (False, True)
    ]
    without, planted = np.array(scores).sum(axis=1).tolist()
    return distinguished(without, planted, guarantee.delta)


def histogram_scores(guarantee: Guarantee, keys: int, trials: int, planted: bool, rng: Random) -> list[float]:
    """The sum of the released counts of the keys of a canary that has ``keys`` of them, in each trial.

    Other documents have these keys far above the threshold, where the noise hides the least. All trials are
    one release of keys of their own.
    """
    counts: dict[tuple[int, ...], int] = {}
    for trial in range(trials):
        own = [(trial, key) for key in range(keys)]
        counts |= dict.fromkeys(own, 2 * guarantee.threshold)
        for key in contribution(own, guarantee, rng) if planted else ():
            counts[key] += 1
    sums = [0.0] * trials
    for (trial, _), count in released(counts, guarantee, rng).items():
        sums[trial] += count
    return sums


def ngram_scores(
    canary: Sequence[int], order: int, guarantee: Guarantee, trials: int, planted: bool, rng: Random
) -> list[float]:
    """The sum of the released counts of all n-grams of the canary, in models that were learned in each trial.

    The other documents are copies of the canary, twice as many as the threshold asks for.
    """
    documents = [canary] * (2 * guarantee.threshold + planted)
    return [float(sum(learned(documents, order, guarantee, rng).counts.values())) for _ in range(trials)]
