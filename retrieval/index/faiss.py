"""Search in FAISS, on the GPU if there is one and faiss-gpu is installed."""

import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelUnavailable
from models.vectors import Vectors
from retrieval.index.lists import Grouping, grouped, half, rows_of, vectors_in


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
        self._index: Any = faiss.IndexIDMap2(faiss.IndexScalarQuantizer(dim, *half(faiss)))
        self._on_gpu = _gpus() > 0 if on_gpu is None else on_gpu
        self._searched: Any = None
        # FAISS is not thread-safe for writes, and on a GPU not for concurrent reads either.
        self._lock = threading.Lock()

    @classmethod
    def load(cls, path: Path) -> "FaissIndex":
        """An index that ``save`` wrote."""
        return cls.deserialize(path.read_bytes())

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
        """Forget these ids; unknown ones are no error."""
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
        """For each query up to ``k`` pairs of id and inner product, best first."""
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
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".vectors-", suffix=".tmp")
        temporary = Path(name)
        try:
            os.close(handle)
            with self._lock:
                _faiss().write_index(self._index, name)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def count_of(self, ids: Sequence[int]) -> int:
        """How many of these ids are there."""
        return int(np.isin(self.ids(), np.asarray(ids, dtype=np.int64)).sum())

    def ids(self) -> NDArray[np.int64]:
        """All ids, in any order."""
        with self._lock:
            return self._rows()[0] if not self.exact else self._exact_ids()

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def _exact_ids(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = _faiss().vector_to_array(self._index.id_map)
        return found

    def _rows(self) -> tuple[NDArray[np.int64], Vectors]:
        faiss = _faiss()
        if not self.exact:
            return rows_of(faiss, self._index)
        held = faiss.downcast_index(self._index.index)
        return self._exact_ids(), vectors_in(faiss.vector_to_array(held.codes), held.d)

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


def _gpus() -> int:
    faiss = _faiss()
    return int(faiss.get_num_gpus()) if hasattr(faiss, "StandardGpuResources") else 0


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise ModelUnavailable(
            "FAISS is not installed.", "Run: pip install 'lethe[cpu]', or 'lethe[gpu]' on a CUDA machine"
        ) from None
    return faiss
