"""An index in a vector database, which is searched through LangChain's ``VectorStore``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from models.vectors import Vectors
from retrieval.documents import Passage
from retrieval.errors import CollectionError

PATIENCE = 30
"""Seconds that a vector database may take to answer."""
ROWS_AT_ONCE = 1000
"""Rows of one request."""


@dataclass(frozen=True, slots=True)
class Row:
    """A passage as other clients of the database see it; all of it is sanitized."""

    passage_id: int
    vector: Vectors = field(repr=False)
    text: str = field(repr=False)
    metadata: Mapping[str, str | int] = field(repr=False)


class Table(Protocol):
    """One collection's rows in a vector database, apart from those of all others.

    ``opened`` is LangChain's ``VectorStore`` over them, None as long as nothing was written. The rest is what
    that does not offer: ``write`` replaces rows with the same ids, ``held`` says how many of these ids are
    there. ``errors`` are those that the database's libraries raise.
    """

    @property
    def kind(self) -> str: ...

    @property
    def errors(self) -> tuple[type[Exception], ...]: ...

    def opened(self) -> Any: ...

    def write(self, rows: Sequence[Row]) -> None: ...

    def held(self, ids: Sequence[int]) -> int: ...

    def ids(self) -> NDArray[np.int64]: ...

    def count(self) -> int: ...

    def drop(self) -> None: ...


class VectorStoreIndex:
    """A table that LangChain searches by inner product.

    A row holds the passage's id, its vector, the sanitized text as ``page_content``, and the metadata
    ``doc_id``, ``start``, ``end`` and ``collection``, so that any LangChain client can use it. ``passages``
    gives the texts of ids. How exact it is and what may run at once is the database's matter.

    Everything raises CollectionError where the database does not answer. Its own errors are not shown: they
    may quote rows and the password in its address.
    """

    shared = True

    def __init__(
        self, table: Table, passages: Callable[[Sequence[int]], Mapping[int, Passage]], collection: str
    ) -> None:
        self._table = table
        self._passages = passages
        self._collection = collection

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add vectors of shape (n, dim); what is there under the same ids is replaced."""
        for first in range(0, len(ids), ROWS_AT_ONCE):
            some = list(ids[first : first + ROWS_AT_ONCE])
            texts = self._passages(some)
            pairs = zip(some, vectors[first : first + ROWS_AT_ONCE], strict=True)
            with answering(self._table, self._collection):
                self._table.write([self._row(texts[number], vector) for number, vector in pairs])

    def _row(self, passage: Passage, vector: Vectors) -> Row:
        metadata: dict[str, str | int] = {
            "doc_id": passage.doc_id,
            "start": passage.start,
            "end": passage.end,
            "collection": self._collection,
        }
        return Row(passage.passage_id, vector, passage.text, metadata)

    def remove(self, ids: Sequence[int]) -> None:
        """Forget these ids; unknown ones are no error."""
        for first in range(0, len(ids), ROWS_AT_ONCE):
            with answering(self._table, self._collection):
                # Whether it worked is asked of the rows: one class raises, another returns False.
                if (store := self._table.opened()) is not None:
                    store.delete(ids=[str(number) for number in ids[first : first + ROWS_AT_ONCE]])

    def search(self, queries: Vectors, k: int) -> list[list[tuple[int, float]]]:
        """For each query up to ``k`` pairs of id and inner product, best first."""
        with answering(self._table, self._collection):
            if (store := self._table.opened()) is None:
                return [[] for _ in queries]
            return [
                [(_id_of(found), float(similarity)) for found, similarity in nearest]
                for nearest in (
                    store.similarity_search_with_score_by_vector(query, k=k) for query in queries.tolist()
                )
            ]

    def ids(self) -> NDArray[np.int64]:
        """All ids, in any order."""
        with answering(self._table, self._collection):
            return self._table.ids()

    def __len__(self) -> int:
        with answering(self._table, self._collection):
            return self._table.count()


def _id_of(found: Any) -> int:
    # Milvus' class names the id in the metadata alone.
    return int(found.id if found.id is not None else found.metadata["pk"])


@contextmanager
def answering(table: Table, collection: str) -> Iterator[None]:
    """Translate the database's errors into one sentence with a remedy, without what they say."""
    try:
        yield
    except table.errors as error:
        raise CollectionError(
            f"collection {collection}: the vector database ({table.kind}) did not do what was asked "
            f"({type(error).__name__}). Check that it runs and that retrieval.index_address is right, then "
            "run the same command again: nothing is lost, and what is missing there is added."
        ) from None
