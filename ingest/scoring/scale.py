"""The scale that normalizes divergence and relevance, and the weights of the scores.

TRIP-RAG's "robust normalization" (its equations 4 and 5): the 5th and 95th percentile of the raw distances
over a sample of the collection become 0 and 1. The scale is fitted once and stored, so that a document is
never normalized by its own distribution.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MIN_SAMPLE = 50

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


def fit_scale(divergences: Sequence[float], distances: Sequence[float], source: str) -> Scale:
    """The scale of a sample; raises ValueError below ``MIN_SAMPLE`` linked entities."""
    import numpy as np

    if len(divergences) < MIN_SAMPLE or len(distances) < MIN_SAMPLE:
        raise ValueError(f"a scale needs {MIN_SAMPLE} linked entities, here are {len(divergences)}")
    low, high = np.percentile(divergences, [5, 95])
    near, far = np.percentile(distances, [5, 95])
    # A percentile can be one entity's exact distance, with which a reader of the manifest could test guesses:
    # round to two decimals.
    low, high, near, far = (round(float(value), 2) for value in (low, high, near, far))
    return Scale(low, high, near, far, source)


def _norm(value: float, low: float, high: float) -> float:
    if high <= low:
        return 0.5
    return min(1.0, max(0.0, (value - low) / (high - low)))
