"""The seams of the retrieval room."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from models.vectors import Vectors
from retrieval.documents import RetrievedPassage
from retrieval.writing import Writing


class VectorIndex(Protocol):
    """Nearest neighbours by inner product. Ids are 64-bit, given by the store, never reused.

    ``add`` takes vectors of shape (n, dim), ``remove`` forgets ids, unknown ones or not; ``ids`` are all,
    in any order. ``search`` gives for each query up to ``k`` pairs of id and inner product, best first.

    One thread may change it while others search. Where it is ``shared``, other processes see each change, so
    only the holder of the collection's lock makes one; any other index is each process's own.
    """

    @property
    def shared(self) -> bool: ...

    def add(self, ids: Sequence[int], vectors: Vectors) -> None: ...

    def remove(self, ids: Sequence[int]) -> None: ...

    def search(self, queries: Vectors, k: int) -> list[list[tuple[int, float]]]: ...

    def ids(self) -> NDArray[np.int64]: ...

    def __len__(self) -> int: ...


class Retriever(Protocol):
    """For each question up to ``k`` passages, best first."""

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]: ...


class Reranker(Protocol):
    """Scores of texts for a question, in [0, 1] and in order; higher is better."""

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]: ...


class Generator(Protocol):
    """A question and passages to an answer, piece by piece; deterministic at temperature zero."""

    @property
    def name(self) -> str: ...

    def write(self, question: str, passages: Sequence[RetrievedPassage]) -> Writing: ...
