"""Exact search in NumPy: the reference that other indexes are held to."""

from collections.abc import Sequence

import numpy as np

from models.vectors import Vectors


class FlatIndex:
    """Every vector compared with every query; equal similarities in the order of the ids."""

    def __init__(self, dim: int) -> None:
        self._ids = np.empty(0, dtype=np.int64)
        self._vectors: Vectors = np.empty((0, dim), dtype=np.float32)

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add vectors of shape (n, dim); ids must be new."""
        self._ids = np.concatenate([self._ids, np.asarray(ids, dtype=np.int64)])
        self._vectors = np.concatenate([self._vectors, vectors])

    def remove(self, ids: Sequence[int]) -> None:
        """Forget these ids; unknown ones are no error."""
        left = ~np.isin(self._ids, np.asarray(ids, dtype=np.int64))
        self._ids, self._vectors = self._ids[left], self._vectors[left]

    def search(self, queries: Vectors, k: int) -> list[list[tuple[int, float]]]:
        """For each query up to ``k`` pairs of id and inner product, best first."""
        similarities = queries @ self._vectors.T
        found = []
        for row in similarities:
            best = np.lexsort((self._ids, -row))[:k]
            found.append([(int(self._ids[i]), float(row[i])) for i in best])
        return found

    def __len__(self) -> int:
        return len(self._ids)
