"""From epsilon and delta to the noise and the threshold of histograms that are released one after another.

A release is (epsilon, delta)-differentially private if adding or removing one document changes the
probability of any set of outputs by a factor of at most e^epsilon, and delta besides. Half of delta is for
the noise: zero-concentrated differential privacy (Bun and Steinke 2016), whose rho adds up over histograms,
also where a histogram is chosen by what the ones before it released. The other half is for the thresholds: a
key that only one document has is released with at most that probability, all histograms together.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ingest.synthesizing.noise import MOST_VARIANCE
from models.errors import ConfigurationError

ACCOUNTANT = "zero-concentrated differential privacy"
_ALPHAS = 1 + np.logspace(-5, 6, 4_001)
"""Orders of Renyi's divergence. Each gives a valid bound; the best of them is taken."""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What is promised of one document, and the noise and threshold of each histogram that keep it.

    ``per_document`` is the number of keys that a document may count for in each of the ``histograms``. The
    noise is a discrete Gaussian of ``variance``; counts below ``threshold`` are not released. ``rho`` is what
    the noise spends in all histograms together.
    """

    epsilon: float
    delta: float
    per_document: int
    histograms: int
    rho: float
    variance: int
    threshold: int


def guaranteed(epsilon: float, delta: float, per_document: int, histograms: int) -> Guarantee:
    """The least noise and the lowest threshold that keep (epsilon, delta) for one document.

    Raises:
        ConfigurationError: Epsilon or delta promise nothing or ask for more noise than can be drawn.
    """
    if not (0 < epsilon < math.inf and 0 < delta < 1):
        raise ConfigurationError(
            f"epsilon must be above 0 and finite, delta between 0 and 1, not {epsilon:g} and {delta:g}."
        )
    # A count moves by 1 in at most per_document places: the squared sensitivity. Rounding up adds noise.
    rho = rho_of(epsilon, delta / 2)
    if per_document * histograms > 2 * rho * MOST_VARIANCE:
        raise ConfigurationError(
            f"epsilon {epsilon:g} is too small for {per_document} n-grams of each document: nothing would be "
            "left below the noise. Give a larger --epsilon, or a smaller --per-document."
        )
    variance = math.ceil(per_document * histograms / (2 * rho))
    # For m >= 1 the discrete Gaussian exceeds m no more often than the continuous one exceeds m - 1, and a
    # key of one document has a count of 1.
    tail = delta / 2 / (per_document * histograms)
    threshold = 2 + math.ceil(-NormalDist(0, math.sqrt(variance)).inv_cdf(tail))
    spent = per_document * histograms / (2 * variance)
    return Guarantee(epsilon, delta, per_document, histograms, spent, variance, max(2, threshold))


def rho_of(epsilon: float, delta: float) -> float:
    """The largest rho whose (epsilon, delta) is the given one, from below."""
    low, high = 0.0, epsilon
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    # Rounding of the bound lies far below this.
    return low * (1 - 1e-9)


def delta_of(rho: float, epsilon: float) -> float:
    """The delta at which rho-zCDP gives epsilon (Canonne, Kamath and Steinke 2020, proposition 12)."""
    above = _ALPHAS - 1
    logs = above * (_ALPHAS * rho - epsilon) + above * np.log(above) - _ALPHAS * np.log(_ALPHAS)
    return math.exp(min(0.0, float(logs.min())))


def default_delta(n_documents: int) -> float:
    """1 / (n ln n): the number of documents is taken as public."""
    n = max(n_documents, 3)
    return 1 / (n * math.log(n))
