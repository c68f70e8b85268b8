"""An index in a vector database, which is searched through LangChain's ``VectorStore``.

Each collection has a table of its own there, so that none sees another's rows and deleting drops them whole.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelUnavailable
from models.vectors import Vectors
from retrieval.documents import Passage
from retrieval.errors import CollectionError
from retrieval.search import NEAREST

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
    that does not offer: ``write`` replaces rows with the same ids, the first rows make the table; ``held``
    says how many of these ids are there, ``ids`` are all of them, in any order; ``drop`` is for a table that
    may not be there. ``errors`` are those that the database's libraries raise.
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
        place: dict[str, str | int] = {"doc_id": passage.doc_id, "start": passage.start, "end": passage.end}
        return Row(passage.passage_id, vector, passage.text, {**place, "collection": self._collection})

    def remove(self, ids: Sequence[int]) -> None:
        for first in range(0, len(ids), ROWS_AT_ONCE):
            with answering(self._table, self._collection):
                # Whether it worked is asked of the rows: one class raises, another returns False.
                if (store := self._table.opened()) is not None:
                    store.delete(ids=[str(number) for number in ids[first : first + ROWS_AT_ONCE]])

    def search(self, queries: Vectors, k: int) -> list[list[tuple[int, float]]]:
        with answering(self._table, self._collection):
            if (store := self._table.opened()) is None:
                return [[] for _ in queries]
            nearest = (store.similarity_search_with_score_by_vector(query, k=k) for query in queries.tolist())
            return [[(_id_of(found), float(similarity)) for found, similarity in row] for row in nearest]

    def ids(self) -> NDArray[np.int64]:
        with answering(self._table, self._collection):
            return self._table.ids()

    def __len__(self) -> int:
        with answering(self._table, self._collection):
            return self._table.count()


def _id_of(found: Any) -> int:
    # Milvus' class names the id in the metadata alone.
    return int(found.id if found.id is not None else found.metadata["pk"])


@contextmanager
def _client_of(database: str, extra: str) -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise ModelUnavailable(
            f"The client of {database} is not installed.", f"Run: pip install 'lethe[{extra}]'"
        ) from None


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


_NOW = "Strong"
"""What was written before is seen: for counting and listing, not for searching, which it slows down."""


class MilvusTable:
    """Rows in Milvus: a server by its address, or an embedded file (Milvus Lite), for one process at a time.

    ``address`` is ``http://host:19530``, with ``user:password@`` if needed, or a path.
    """

    kind = "milvus"

    def __init__(self, address: str, name: str) -> None:
        self._address = address
        self._name = name
        self._store: Any = None

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        _milvus()
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException

        # ValueError: an address that the client cannot read; it would quote it.
        return MilvusException, RpcError, ValueError

    def opened(self) -> Any:
        if self._store is None:
            store = self._connected()
            if store.client.has_collection(self._name, timeout=PATIENCE):
                # Not given to the constructor: the class would pass it twice when it makes a collection.
                store.timeout = PATIENCE
                self._store = store
        return self._store

    def _connected(self) -> Any:
        _milvus()
        from langchain_core.embeddings import FakeEmbeddings
        from langchain_milvus import Milvus

        return Milvus(
            # Asked for by the class, and never used: vectors are given.
            FakeEmbeddings(size=1),
            collection_name=self._name,
            connection_args=_connection(self._address),
            index_params={"index_type": "AUTOINDEX", "metric_type": "IP", "params": {}},
        )

    def write(self, rows: Sequence[Row]) -> None:
        store = self.opened()
        if store is None:
            self._connected().add_embeddings(
                [row.text for row in rows],
                [row.vector.tolist() for row in rows],
                metadatas=[dict(row.metadata) for row in rows],
                ids=[str(row.passage_id) for row in rows],
            )
            return
        # LangChain's own upsert would encode the texts again, and its insert would keep both.
        values = [
            {"pk": str(row.passage_id), "text": row.text, "vector": row.vector, **row.metadata}
            for row in rows
        ]
        store.client.upsert(self._name, values, timeout=PATIENCE)

    def held(self, ids: Sequence[int]) -> int:
        if (store := self.opened()) is None or not ids:
            return 0
        wanted = [str(number) for number in ids]
        found = store.client.query(
            self._name, ids=wanted, output_fields=["pk"], consistency_level=_NOW, timeout=PATIENCE
        )
        return len(found)

    def ids(self) -> NDArray[np.int64]:
        found: list[int] = []
        if (store := self.opened()) is not None:
            rows = store.client.query_iterator(
                self._name, batch_size=10_000, output_fields=["pk"], consistency_level=_NOW
            )
            while some := rows.next():
                found += [int(row["pk"]) for row in some]
            rows.close()
        return np.array(found, dtype=np.int64)

    def count(self) -> int:
        if (store := self.opened()) is None:
            return 0
        (row,) = store.client.query(
            self._name, filter="", output_fields=["count(*)"], consistency_level=_NOW, timeout=PATIENCE
        )
        return int(row["count(*)"])

    def drop(self) -> None:
        if (store := self.opened()) is not None:
            store.drop()
            self._store = None


def _connection(address: str) -> dict[str, Any]:
    parts = urlsplit(address)
    if not parts.scheme:
        return {"uri": address, "timeout": PATIENCE}
    _, _, host = parts.netloc.rpartition("@")
    uri = urlunsplit(parts._replace(netloc=host))
    token = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
    return {"uri": uri, "token": token, "timeout": PATIENCE}


def _milvus() -> None:
    """Check that they are there, and keep them from reading a file ``.env`` and from logging rows."""
    os.environ.setdefault("PYTHON_DOTENV_DISABLED", "1")
    with _client_of("Milvus", "milvus"):
        import langchain_milvus  # noqa: F401
        import pymilvus  # noqa: F401
    for name in ("pymilvus", "pymilvus.milvus_client", "langchain_milvus", "milvus_lite"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class PgvectorTable:
    """Rows in PostgreSQL with the extension pgvector, in the columns of LangChain's ``PGVectorStore``.

    ``address`` is ``postgresql://user:password@host:5432/database``, ``name`` an identifier. LangChain reads
    and deletes; it would write each row in a transaction of its own, so psycopg writes them, a batch in one.
    """

    kind = "pgvector"

    def __init__(self, address: str, name: str) -> None:
        self._address = address
        self._name = name
        self._store: Any = None

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        with _client_of("PostgreSQL", "pgvector"):
            from langchain_postgres import PGVectorStore  # noqa: F401
        from psycopg import Error
        from sqlalchemy.exc import SQLAlchemyError

        return Error, SQLAlchemyError, OSError

    def opened(self) -> Any:
        if self._store is None and self._exists():
            self._store = self._connected()
        return self._store

    def _connected(self) -> Any:
        from langchain_core.embeddings import FakeEmbeddings
        from langchain_postgres import PGVectorStore
        from langchain_postgres.v2.indexes import DistanceStrategy, HNSWQueryOptions

        return PGVectorStore.create_sync(
            self._engine(),
            # Asked for by the class, and never used: vectors are given.
            FakeEmbeddings(size=1),
            self._name,
            distance_strategy=DistanceStrategy.INNER_PRODUCT,
            # An index that an administrator makes would otherwise propose 40 rows.
            index_query_options=HNSWQueryOptions(ef_search=NEAREST),
        )

    def _engine(self) -> Any:
        from langchain_postgres import PGEngine
        from sqlalchemy.pool import NullPool

        # A pool would keep connections that nobody closes, and hand out those of a server that was restarted.
        url = f"postgresql+psycopg://{self._address.partition('://')[2]}"
        return PGEngine.from_connection_string(
            url, poolclass=NullPool, connect_args={"connect_timeout": PATIENCE}
        )

    def _connection(self) -> Any:
        with _client_of("PostgreSQL", "pgvector"):
            import psycopg

        options = f"-c statement_timeout={PATIENCE * 1000}"
        return psycopg.connect(self._address, connect_timeout=PATIENCE, options=options)

    def _exists(self) -> bool:
        with self._connection() as connection:
            (found,) = connection.execute("SELECT to_regclass(%s)", (f"public.{self._name}",)).fetchone()
        return found is not None

    def write(self, rows: Sequence[Row]) -> None:
        if self.opened() is None:
            from langchain_postgres import Column

            column = Column("langchain_id", "BIGINT", nullable=False)
            self._engine().init_vectorstore_table(self._name, len(rows[0].vector), id_column=column)
        query = f"""
            INSERT INTO public.{self._name} (langchain_id, content, embedding, langchain_metadata)
            VALUES (%s, %s, %s, %s) ON CONFLICT (langchain_id) DO UPDATE SET content = EXCLUDED.content,
            embedding = EXCLUDED.embedding, langchain_metadata = EXCLUDED.langchain_metadata
        """
        values = [
            (row.passage_id, row.text, str(row.vector.tolist()), json.dumps(dict(row.metadata)))
            for row in rows
        ]
        with self._connection() as connection, connection.cursor() as cursor:
            cursor.executemany(query, values)

    def held(self, ids: Sequence[int]) -> int:
        return len(self._read("SELECT 1 FROM {} WHERE langchain_id = ANY(%s)", list(ids)))

    def ids(self) -> NDArray[np.int64]:
        return np.array([row[0] for row in self._read("SELECT langchain_id FROM {}")], dtype=np.int64)

    def count(self) -> int:
        return sum(row[0] for row in self._read("SELECT count(*) FROM {}"))

    def drop(self) -> None:
        with self._connection() as connection:
            connection.execute(f"DROP TABLE IF EXISTS public.{self._name}")
        self._store = None

    def _read(self, query: str, *values: object) -> list[Any]:
        if not self._exists():
            return []
        with self._connection() as connection:
            found: list[Any] = connection.execute(query.format(f"public.{self._name}"), values).fetchall()
        return found
