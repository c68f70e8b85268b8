"""Inverted lists for large collections: a search compares its question with the nearest groups alone."""

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.vectors import Vectors
from retrieval.search import NEAREST

EXACT_UP_TO = 200_000
"""Passages that are compared one by one."""
RECALL = 0.98
"""The share of the ten nearest that a search finds, at least, measured on vectors of the collection."""
_NEAR, _ASKED, _ROUNDS = 10, 400, 10
_READ = 4 * NEAREST
"""Vectors that a search reads at least: it is asked for ``NEAREST``."""
_LEARNED_A_LIST = 64
"""Most vectors a list that its center is learned from."""
_FEWEST = 10
"""A center is the mean of so many vectors at least: one alone would outlive the erasure of its passage."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """How the vectors are grouped: lists in all, lists that a search reads, and the recall measured then."""

    vectors: int
    lists: int
    probed: int
    recall: float


def grouped(faiss: Any, ids: NDArray[np.int64], rows: Vectors) -> tuple[Any, Grouping]:
    """Lists of these vectors of shape (n, dim), by inner product; the same twice."""
    count, dim = rows.shape
    generator = np.random.default_rng(0)
    centers = _centers(faiss, rows, generator, min(2 * isqrt(count), -(-count // (4 * _FEWEST))))
    quantizer = faiss.IndexFlatIP(dim)
    quantizer.add(centers)
    kind, metric = half(faiss)
    # Not as differences from the centers: a vector is kept as it is in an index without lists.
    index = faiss.IndexIVFScalarQuantizer(quantizer, dim, len(centers), kind, metric, False)
    index.is_trained = True
    index.add_with_ids(rows, ids)
    asked = rows[generator.choice(count, min(_ASKED, count), replace=False)]
    probed, recall = _probed(faiss, index, rows, asked)
    index.nprobe = probed
    return index, Grouping(count, len(centers), probed, round(recall, 4))


def _centers(faiss: Any, rows: Vectors, generator: np.random.Generator, lists: int) -> Vectors:
    sample = rows[
        np.sort(generator.choice(len(rows), min(len(rows), _LEARNED_A_LIST * lists), replace=False))
    ]
    means = faiss.Kmeans(rows.shape[1], lists, niter=_ROUNDS, spherical=True, seed=1)
    means.train(sample)
    _, nearest = means.index.search(sample, 1)
    sizes = np.bincount(nearest[:, 0], minlength=lists)
    centers: Vectors = means.centroids[sizes >= min(_FEWEST, sizes.max())]
    return centers


def _probed(faiss: Any, index: Any, rows: Vectors, asked: Vectors) -> tuple[int, float]:
    """The fewest lists, a quarter more each time, that reach the recall and the number of vectors."""
    similar, _ = faiss.knn(asked, rows, _NEAR, metric=faiss.METRIC_INNER_PRODUCT)
    # By similarity and not by id: of equal vectors any is right.
    least = similar[:, -1:] - 1e-6
    probed = min(index.nlist, -(-_READ * index.nlist // len(rows)))
    while True:
        index.nprobe = probed
        recall = float((index.search(asked, _NEAR)[0] >= least).mean())
        if recall >= RECALL or probed >= index.nlist:
            return probed, recall
        probed = min(probed + max(1, probed // 4), index.nlist)


def rows_of(faiss: Any, index: Any) -> tuple[NDArray[np.int64], Vectors]:
    """Ids and vectors, list by list."""
    held = index.invlists
    filled = [number for number in range(index.nlist) if held.list_size(number)]
    if not filled:
        return np.empty(0, dtype=np.int64), np.empty((0, index.d), dtype=np.float32)
    sizes = {number: held.list_size(number) for number in filled}
    ids = [faiss.rev_swig_ptr(held.get_ids(number), sizes[number]) for number in filled]
    codes = [faiss.rev_swig_ptr(held.get_codes(number), sizes[number] * index.code_size) for number in filled]
    return np.concatenate(ids), vectors_in(np.concatenate(codes), index.d)


def half(faiss: Any) -> tuple[Any, Any]:
    """What makes an index of half precision and inner product: the kind of its numbers, and the metric."""
    return faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT


def vectors_in(codes: NDArray[np.uint8], dim: int) -> Vectors:
    """The vectors that an index of half precision keeps, shape (n, dim)."""
    return codes.view(np.float16).reshape(-1, dim).astype(np.float32)
