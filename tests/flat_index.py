"""Exact search in NumPy: the reference that other indexes are held to."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.vectors import Vectors


class FlatIndex:
    """Every vector compared with every query; equal similarities in the order of the ids."""

    shared = False

    def __init__(self, dim: int) -> None:
        # One tuple, so that a concurrent search sees either the old or the new state.
        self._rows = np.empty(0, dtype=np.int64), np.empty((0, dim), dtype=np.float32)

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        held, rows = self._rows
        self._rows = np.concatenate([held, np.asarray(ids, dtype=np.int64)]), np.concatenate([rows, vectors])

    def remove(self, ids: Sequence[int]) -> None:
        held, rows = self._rows
        left = ~np.isin(held, np.asarray(ids, dtype=np.int64))
        self._rows = held[left], rows[left]

    def search(self, queries: Vectors, k: int) -> list[list[tuple[int, float]]]:
        ids, rows = self._rows
        found = []
        for similarities in queries @ rows.T:
            best = np.lexsort((ids, -similarities))[:k]
            found.append([(int(ids[i]), float(similarities[i])) for i in best])
        return found

    def ids(self) -> NDArray[np.int64]:
        return self._rows[0]

    def __len__(self) -> int:
        return len(self._rows[0])
