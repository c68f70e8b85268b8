"""Search in FAISS, on the GPU if there is one and faiss-gpu is installed.

Large collections have inverted lists: a search compares its question with the nearest groups alone.
"""

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.temporary import temporary_file
from models.errors import ModelUnavailable
from models.vectors import Vectors
from retrieval.search import NEAREST

EXACT_UP_TO = 200_000
"""Passages that are compared one by one."""
RECALL = 0.98
"""The share of the ten nearest that a search finds, at least, measured on vectors of the collection."""
_NEAR, _ASKED, _ROUNDS = 10, 400, 10
_READ = 4 * NEAREST
"""Vectors that a search reads at least: it is asked for ``NEAREST``."""
_LEARNED_A_LIST, _FEWEST = 64, 10
"""Vectors a list that its center is learned from, at most, and those that it is the mean of, at least: one
alone would outlive the erasure of its passage."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """How the vectors are grouped: lists in all, lists that a search reads, and the recall measured then."""

    vectors: int
    lists: int
    probed: int
    recall: float


class FaissIndex:
    """``IDMap2,SQfp16`` or ``IVF,SQfp16`` with inner product: ids survive removal, and no id is ever moved.

    It compares all vectors until ``group``. They are kept in half precision: a search reads half the memory,
    which is what it waits for, and similarities differ by less than 0.001. HNSW cannot remove a vector, so an
    erased one would stay in the file.
    """

    shared = False

    def __init__(self, dim: int, on_gpu: bool | None = None) -> None:
        """``on_gpu`` None uses a GPU if there is one."""
        faiss = _faiss()
        self._index: Any = faiss.IndexIDMap2(faiss.IndexScalarQuantizer(dim, *_half(faiss)))
        has_gpu = hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus() > 0
        self._on_gpu = has_gpu if on_gpu is None else on_gpu
        self._searched: Any = None
        # FAISS is not thread-safe for writes, and on a GPU not for concurrent reads either.
        self._lock = threading.Lock()

    @classmethod
    def deserialize(cls, content: bytes) -> "FaissIndex":
        """The index in the bytes of its file; the caller has checked their digest."""
        index = cls(1)
        index._index = _faiss().deserialize_index(np.frombuffer(content, dtype=np.uint8))
        return index

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add vectors of shape (n, dim); ids must be new."""
        if len(ids):
            rows = np.ascontiguousarray(vectors, dtype=np.float32)
            with self._lock:
                self._index.add_with_ids(rows, np.asarray(ids, dtype=np.int64))
                self._searched = None

    def remove(self, ids: Sequence[int]) -> None:
        if len(ids):
            with self._lock:
                self._index.remove_ids(np.asarray(ids, dtype=np.int64))
                self._searched = None

    @property
    def exact(self) -> bool:
        """Whether a search compares all vectors."""
        return not hasattr(self._index, "nprobe")

    def group(self) -> Grouping:
        """Group the vectors anew, so that a search reads some groups only; says how well that works."""
        with self._lock:
            self._index, grouping = grouped(_faiss(), *self._rows())
            self._searched = None
        return grouping

    def search(self, queries: Vectors, k: int) -> list[list[tuple[int, float]]]:
        rows = np.ascontiguousarray(queries, dtype=np.float32)
        with self._lock:
            if not len(self) or not len(rows):
                return [[] for _ in queries]
            similarities, ids = self._searchable().search(rows, min(k, len(self)))
        return [
            list(zip(row[row >= 0].tolist(), found[row >= 0].tolist(), strict=True))
            for row, found in zip(ids, similarities, strict=True)
        ]

    def save(self, path: Path) -> None:
        """Write to a temporary file beside ``path``, sync it and rename it."""
        with temporary_file(path.parent, ".vectors-", b"") as temporary:
            with self._lock:
                _faiss().write_index(self._index, str(temporary))
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.replace(path)

    def count_of(self, ids: Sequence[int]) -> int:
        """How many of these ids are there."""
        return int(np.isin(self.ids(), np.asarray(ids, dtype=np.int64)).sum())

    def ids(self) -> NDArray[np.int64]:
        with self._lock:
            # Of an exact one the vectors need not be read.
            held = _faiss().vector_to_array(self._index.id_map) if self.exact else self._rows()[0]
        ids: NDArray[np.int64] = held
        return ids

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def _rows(self) -> tuple[NDArray[np.int64], Vectors]:
        faiss = _faiss()
        if not self.exact:
            return _listed(faiss, self._index)
        held = faiss.downcast_index(self._index.index)
        return faiss.vector_to_array(self._index.id_map), _vectors_in(
            faiss.vector_to_array(held.codes), held.d
        )

    def _searchable(self) -> Any:
        """The index to search; the GPU copy is renewed when vectors have changed."""
        if not self._on_gpu:
            return self._index
        if self._searched is None:
            faiss = _faiss()
            ids, rows = self._rows()
            flat = faiss.IndexIDMap2(faiss.IndexFlatIP(rows.shape[1]))
            flat.add_with_ids(rows, ids)
            self._searched = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, flat)
        return self._searched


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise ModelUnavailable(
            "FAISS is not installed.", "Run: pip install 'lethe[cpu]', or 'lethe[gpu]' on a CUDA machine"
        ) from None
    return faiss


def grouped(faiss: Any, ids: NDArray[np.int64], rows: Vectors) -> tuple[Any, Grouping]:
    """Lists of these vectors of shape (n, dim), by inner product; the same twice."""
    count, dim = rows.shape
    generator = np.random.default_rng(0)
    centers = _centers(faiss, rows, generator, min(2 * isqrt(count), -(-count // (4 * _FEWEST))))
    quantizer = faiss.IndexFlatIP(dim)
    quantizer.add(centers)
    kind, metric = _half(faiss)
    # Not as differences from the centers: a vector is kept as it is in an index without lists.
    index = faiss.IndexIVFScalarQuantizer(quantizer, dim, len(centers), kind, metric, False)
    index.is_trained = True
    index.add_with_ids(rows, ids)
    asked = rows[generator.choice(count, min(_ASKED, count), replace=False)]
    index.nprobe, recall = _probed(faiss, index, rows, asked)
    return index, Grouping(count, len(centers), index.nprobe, round(recall, 4))


def _centers(faiss: Any, rows: Vectors, generator: np.random.Generator, lists: int) -> Vectors:
    most = min(len(rows), _LEARNED_A_LIST * lists)
    sample = rows[np.sort(generator.choice(len(rows), most, replace=False))]
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


def _listed(faiss: Any, index: Any) -> tuple[NDArray[np.int64], Vectors]:
    """Ids and vectors, list by list."""
    held = index.invlists
    sizes = {number: held.list_size(number) for number in range(index.nlist) if held.list_size(number)}
    if not sizes:
        return np.empty(0, dtype=np.int64), np.empty((0, index.d), dtype=np.float32)
    ids = [faiss.rev_swig_ptr(held.get_ids(number), size) for number, size in sizes.items()]
    codes = [
        faiss.rev_swig_ptr(held.get_codes(number), size * index.code_size) for number, size in sizes.items()
    ]
    return np.concatenate(ids), _vectors_in(np.concatenate(codes), index.d)


def _half(faiss: Any) -> tuple[Any, Any]:
    """What makes an index of half precision and inner product: the kind of its numbers, and the metric."""
    return faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT


def _vectors_in(codes: NDArray[np.uint8], dim: int) -> Vectors:
    return codes.view(np.float16).reshape(-1, dim).astype(np.float32)
