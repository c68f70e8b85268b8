"""From hazards and distances to scores: marginal risk, the scale of distances, weights and priority.

TRIP-RAG's "robust normalization" (its equations 4 and 5): the 5th and 95th percentile of the raw distances
over a sample of the collection become 0 and 1. The scale is fitted once and stored, so that a document is
never normalized by its own distribution.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, expm1
from pathlib import Path
from typing import Literal

from ingest.documents import Scores

MIN_SAMPLE = 50
SAMPLE_DOCUMENTS = 256
SAMPLE_CHARACTERS = 1_000_000
SAMPLE_LONGEST = 20_000
"""Characters that are measured of a document: the beginning of a long one stands for all of it."""
SAMPLE_BATCH = 8
SAMPLE_ENTITIES = 400
"""Sample size for the scale's percentiles; more linked entities change them little and cost time."""

Marginal = Literal["hazard", "difference"]


@dataclass(frozen=True, slots=True)
class Weights:
    """alpha, beta and gamma of TRIP-RAG's equation 6, and the form of marginal risk.

    The paper has 1, 0.5 and 0.4. After hard rules replace the identifiers, the remaining entities differ
    little in risk, so their relevance to the text gets more weight.
    """

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    marginal: Marginal = "hazard"


@dataclass(frozen=True, slots=True)
class Distances:
    """Measurements of one linked entity e in a text T, each in [0, 2].

    ``divergence`` is the largest 1 - cos(h(U), h(U without e)) over the retrieval units U that mention e,
    and ``distance`` the smallest 1 - cos(h(e), h(U)): an entity matters to a text as much as to the unit
    where it matters most.
    """

    divergence: float
    distance: float


Measurements = Mapping[int, Distances]
"""The measurements of a text, by link."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Percentiles of raw cosine distances, each in [0, 2]; ``source`` names the sample."""

    divergence_low: float
    divergence_high: float
    distance_low: float
    distance_high: float
    source: str

    @property
    def percentiles(self) -> tuple[float, float, float, float]:
        """Low and high of the divergence, then of the distance."""
        return self.divergence_low, self.divergence_high, self.distance_low, self.distance_high

    def divergence(self, raw: float) -> float:
        """Norm of 1 - cos(h(T), h(T without e)), in [0, 1]."""
        return _norm(raw, self.divergence_low, self.divergence_high)

    def distance(self, raw: float) -> float:
        """Norm of 1 - cos(h(e), h(T)), in [0, 1]; small where the entity is what the text is about."""
        return _norm(raw, self.distance_low, self.distance_high)


EMBEDDED_SCALE_FILE = Path(__file__).with_name("embedded_scale.json")
"""Written by ``python -m benchmarks.fit_scale``."""

EMBEDDED_SCALE = Scale(**json.loads(EMBEDDED_SCALE_FILE.read_text(encoding="utf-8")))
"""For single documents and for collections too small to fit a scale."""


def fit_scale(measured: Iterable[Measurements], encoder: str) -> Scale:
    """The scale of a sample; the embedded one below ``MIN_SAMPLE`` linked entities."""
    raw = [each for of_text in measured for each in of_text.values()]
    if len(raw) < MIN_SAMPLE:
        return EMBEDDED_SCALE
    import numpy as np

    percentiles = np.percentile([(each.divergence, each.distance) for each in raw], [5, 95], axis=0)
    # A percentile can be one entity's exact distance, with which a reader of the manifest could test guesses:
    # round to two decimals.
    (low, near), (high, far) = ((round(float(one), 2), round(float(other), 2)) for one, other in percentiles)
    return Scale(low, high, near, far, f"the first {len(raw)} linked entities, {encoder}")


def absolute_risk(hazard: float) -> float:
    """f(T) = 1 - exp(-R(T)), in [0, 1]."""
    return -expm1(-max(0.0, hazard))


def marginal_risk(total: float, marginal: float, form: Marginal) -> float:
    """P(e): 1 - exp(-(R(T) - R(T without e))), or the paper's f(T) - f(T without e).

    ``total`` is R(T) and ``marginal`` R(T) - R(T without e), both in nats.
    """
    if form == "hazard":
        return absolute_risk(marginal)
    return max(0.0, exp(-(total - marginal)) - exp(-total))


def scores_of(risk: float, distances: Distances, scale: Scale, weights: Weights) -> Scores:
    """The three scores, ``risk`` first, and their priority S = alpha P - beta K + gamma D."""
    divergence, distance = scale.divergence(distances.divergence), scale.distance(distances.distance)
    priority = weights.alpha * risk - weights.beta * divergence + weights.gamma * distance
    return Scores(risk, divergence, 1.0 - distance, priority)


def _norm(value: float, low: float, high: float) -> float:
    if high <= low:
        return 0.5
    return min(1.0, max(0.0, (value - low) / (high - low)))
