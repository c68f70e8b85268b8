"""MAUVE: how close the distribution of sanitized texts is to that of the originals, 1 for the same.

Pillutla et al. 2021, MAUVE: Measuring the Gap Between Neural Text and Human Text using Divergence Frontiers;
the smoothed variant is that of Pillutla et al. 2023, MAUVE Scores for Generative Models. Vectors of both sets
are quantized together; P and Q are the histograms of the originals and of the sanitized texts. With
R = w P + (1 - w) Q, the frontier has the points (exp(-c KL(Q|R)), exp(-c KL(P|R))) for w from 0 to 1, and
MAUVE is the area under it.

A False Sense of Privacy reports 1 - MAUVE as a privacy metric and shows that it misleads: it compares sets,
and says nothing of single records. Its features are those of a language model (gpt2-large); ours are those
of the encoder that the engine names, so its figures are no yardstick.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.protocols import Encoder
from models.vectors import Vectors

SCALING = 5.0
"""c, as published."""
POINTS = 25
VARIANCE = 0.9
"""The share of the variance that the components keep in which vectors are quantized."""
TEXTS_PER_BUCKET = 10
RESTARTS = 5
SEED = 25
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mauve:
    """MAUVE in (0, 1]. ``smoothed`` adds half a text to every bucket, which helps where texts are few."""

    engine: str
    value: float
    smoothed: float
    buckets: int


def mauve(originals: Sequence[str], sanitized: Sequence[str], encoder: Encoder, seed: int = SEED) -> Mauve:
    """MAUVE of two sets of texts, which need not be paired or equally many.

    There is a bucket for every 10 texts of the smaller set, but at least 2. The encoder reads no more of a
    text than its ``max_tokens``.

    Raises:
        ValueError: A set is empty.
    """
    if not originals or not sanitized:
        raise ValueError(f"{len(originals)} originals, {len(sanitized)} sanitized texts: give some of both")
    vectors = encoder.encode([*originals, *sanitized])
    wanted = max(2, round(min(len(originals), len(sanitized)) / TEXTS_PER_BUCKET))
    labels = quantized(vectors, wanted, seed)
    buckets = int(labels.max()) + 1
    p, q = (
        np.bincount(each, minlength=buckets) for each in (labels[: len(originals)], labels[len(originals) :])
    )
    return Mauve(
        engine=f"mauve[{encoder.name}]",
        value=area(p / p.sum(), q / q.sum()),
        smoothed=area((p + 0.5) / (p.sum() + buckets / 2), (q + 0.5) / (q.sum() + buckets / 2)),
        buckets=buckets,
    )


def quantized(vectors: Vectors, buckets: int, seed: int) -> NDArray[np.int64]:
    """The bucket of each vector, from 0: the best of 5 runs of k-means on the main components."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.exceptions import ConvergenceWarning

    spread = vectors.astype(np.float64)
    if not spread.var(axis=0).any():
        return np.zeros(len(vectors), np.int64)
    components = PCA(random_state=seed).fit(spread)
    kept = int(np.searchsorted(np.cumsum(components.explained_variance_ratio_), VARIANCE)) + 1
    points = components.transform(spread)[:, :kept]
    means = KMeans(min(buckets, len(points)), n_init=RESTARTS, max_iter=500, random_state=seed)
    with warnings.catch_warnings():
        # Fewer distinct texts than buckets leave some empty, which changes nothing.
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = means.fit_predict(points)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def area(p: Floats, q: Floats, scaling: float = SCALING) -> float:
    """The area under the divergence frontier of two distributions over the same buckets."""
    x, y = frontier(p, q, scaling).T
    # From right to left, as the points are in order.
    return -float(np.trapezoid(y, x))


def frontier(p: Floats, q: Floats, scaling: float = SCALING) -> Floats:
    """The points of the frontier, shape (25 + 2, 2), from (1, 0), where nothing of Q is missed, to (0, 1)."""
    points = [(1.0, 0.0)]
    for weight in np.linspace(0, 1, POINTS):
        mixture = weight * p + (1 - weight) * q
        points.append((np.exp(-scaling * _kl(q, mixture)), np.exp(-scaling * _kl(p, mixture))))
    return np.array([*points, (0.0, 1.0)])


def _kl(one: Floats, other: Floats) -> float:
    """KL(one|other) in nats; infinite where the other has nothing in a bucket of the one."""
    has = one > 0
    if not other[has].all():
        return float("inf")
    # Rounding must not make it negative.
    return max(0.0, float(np.sum(one[has] * np.log(one[has] / other[has]))))
