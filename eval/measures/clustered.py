"""NMI, normalized mutual information: whether sanitized texts fall into the clusters of the originals.

A measure of INTACT (Pilán, Manzanares-Salor, Sánchez and Lison, Truthful Text Sanitization Guided by
Inference Attacks). Originals and sanitized texts are clustered apart, each by k-means++ that keeps the
best of many restarts, and the two labelings are compared. 1 is the same clusters, whatever their numbers.
Two labelings that have nothing in common score above 0 in a small corpus, and two runs on the same texts
below 1: so a figure stands beside ``chance``, the same labels shuffled, and ``ceiling``, originals against
originals.

The paper's vectors are means of BERT's token states. Ours, by engine: ``nmi[tfidf]`` weighs words by
TF-IDF and keeps 64 dimensions of it, fitted to the set of texts that is clustered; ``nmi[mean of windows,
...]`` is the mean of a text encoder over all windows of a text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.language.units import retrieval_units
from ingest.protocols import Encoder

CLUSTERS, RESTARTS, PAIRS, DIMENSIONS = 4, 50, 5, 64
"""Clusters, k-means restarts of a run, pairs of runs that are compared, and dimensions of word vectors."""
BY_WORDS = "nmi[tfidf]"

Matrix = NDArray[np.float64]
Labels = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of some values and their standard deviation, that of a sample."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class ClustersKept:
    """The NMI of each pair of runs on ``n`` texts, and of as many pairs of ``ceiling`` and ``chance``."""

    engine: str
    n: int
    kept: Spread
    ceiling: Spread
    chance: Spread
    pairs: Sequence[float] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Clustering:
    """A set of texts, clustered: two labelings for each pair of runs, from seeds of their own."""

    engine: str
    first: Sequence[Labels] = field(repr=False)
    second: Sequence[Labels] = field(repr=False)


def engine_of(encoder: Encoder) -> str:
    """What figures from the vectors of an encoder are called."""
    return f"nmi[mean of windows, {encoder.name}]"


def clustered(engine: str, vectors: Matrix | None, seed: int = 0) -> Clustering | None:
    """Cluster vectors; None if there are none, or no more different ones than clusters."""
    if vectors is None or len(np.unique(vectors, axis=0)) <= CLUSTERS:
        return None
    seeds = [2 * PAIRS * seed + number for number in range(2 * PAIRS)]
    found = [labels_of(vectors, each) for each in seeds]
    return Clustering(engine, found[:PAIRS], found[PAIRS:])


def clusters_kept(original: Clustering | None, sanitized: Clustering | None) -> ClustersKept | None:
    """The NMI of the clusters of sanitized texts with those of the originals, both in the same order.

    None if one of the two could not be clustered.

    Raises:
        ValueError: The two differ in engine or number of texts.
    """
    if original is None or sanitized is None:
        return None
    if original.engine != sanitized.engine:
        raise ValueError(f"{original.engine} and {sanitized.engine} are not compared: take one engine")
    pairs = _pairs(original.first, sanitized.second)
    rng = np.random.default_rng(0)
    shuffled = [rng.permutation(each) for each in sanitized.second]
    return ClustersKept(
        original.engine,
        len(original.first[0]),
        spread(pairs),
        spread(_pairs(original.first, original.second)),
        spread(_pairs(original.first, shuffled)),
        pairs,
    )


def _pairs(some: Sequence[Labels], others: Sequence[Labels]) -> list[float]:
    return [mutual_information(one, other) for one, other in zip(some, others, strict=True)]


def spread(values: Sequence[float]) -> Spread:
    """Mean and standard deviation; 0 for a single value."""
    return Spread(fmean(values), stdev(values) if len(values) > 1 else 0.0)


def mutual_information(one: Sequence[int] | Labels, other: Sequence[int] | Labels) -> float:
    """I(one; other) / mean(H(one), H(other)) of two labelings of the same things, in [0, 1].

    1 for two labelings with a single label each: they agree.

    Raises:
        ValueError: They label different numbers of things, or none.
    """
    if len(one) != len(other) or not len(one):
        raise ValueError(f"{len(one)} labels and {len(other)} others: label the same things twice")
    rows, columns = (np.unique(np.asarray(each), return_inverse=True)[1] for each in (one, other))
    together = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(together, (rows, columns), 1 / len(one))
    apart = np.outer(together.sum(axis=1), together.sum(axis=0))
    there = together > 0
    shared = float((together[there] * np.log(together[there] / apart[there])).sum())
    whole = (_entropy(together.sum(axis=1)) + _entropy(together.sum(axis=0))) / 2
    return 1.0 if whole == 0 else min(1.0, max(0.0, shared / whole))


def _entropy(shares: Matrix) -> float:
    return float(-(shares * np.log(shares)).sum())


def labels_of(vectors: Matrix, seed: int) -> Labels:
    """The clusters of the k-means++ run with the lowest inertia of all restarts."""
    from sklearn.cluster import KMeans

    found: Labels = KMeans(CLUSTERS, init="k-means++", n_init=RESTARTS, random_state=seed).fit_predict(
        vectors
    )
    return found


def word_vectors(texts: Sequence[str]) -> Matrix | None:
    """TF-IDF without English stop words, reduced to 64 dimensions; None if words or texts are too few.

    Both are fitted to these texts, as somebody would who has no others.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        counted = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(texts)
    except ValueError:
        return None
    if min(counted.shape) <= CLUSTERS:
        return None
    reduced: Matrix = TruncatedSVD(min(DIMENSIONS, *counted.shape), random_state=0).fit_transform(counted)
    return reduced


def window_vectors(texts: Sequence[str], encoder: Encoder) -> Matrix | None:
    """The mean vector of the windows of each text, weighted by their tokens; None if there are no texts.

    Windows cover a text without gaps. A text without words has the vector of its empty window.
    """
    if not texts:
        return None
    windows: list[str] = []
    sizes: list[list[int]] = []
    for text in texts:
        tokens = encoder.token_spans(text)
        units = retrieval_units(text, tokens, encoder.max_tokens)
        windows += [text[unit.start : unit.end] for unit in units] or [""]
        sizes.append(
            [sum(unit.start <= start < unit.end for start, _ in tokens) or 1 for unit in units] or [1]
        )
    vectors = np.asarray(encoder.encode(windows), dtype=np.float64)
    ends = np.cumsum([len(each) for each in sizes])
    return np.stack(
        [
            np.average(vectors[end - len(each) : end], axis=0, weights=each)
            for end, each in zip(ends, sizes, strict=True)
        ]
    )
