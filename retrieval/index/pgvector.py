"""Rows in PostgreSQL with the extension pgvector.

Each collection has a table of its own, so that none sees another's rows and deleting drops them whole. It has
the columns of LangChain's ``PGVectorStore``.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelUnavailable
from retrieval.index.vector_store import PATIENCE, Row
from retrieval.search import NEAREST


class PgvectorTable:
    """As ``Table``. ``address`` is ``postgresql://user:password@host:5432/database``, ``name`` an identifier.

    Reads and deletes go through LangChain, which writes a row at a time and each in a transaction of its own;
    so rows are written by psycopg, a batch in one transaction.
    """

    kind = "pgvector"

    def __init__(self, address: str, name: str) -> None:
        self._address = address
        self._name = name
        self._store: Any = None

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Errors of driver, pool and connection."""
        _libraries()
        from psycopg import Error
        from sqlalchemy.exc import SQLAlchemyError

        return Error, SQLAlchemyError, OSError

    def opened(self) -> Any:
        """LangChain's ``PGVectorStore``, None as long as nothing was written."""
        if self._store is None and self._exists():
            self._store = self._connected()
        return self._store

    def _connected(self) -> Any:
        _libraries()
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
        _libraries()
        import psycopg

        options = f"-c statement_timeout={PATIENCE * 1000}"
        return psycopg.connect(self._address, connect_timeout=PATIENCE, options=options)

    def _exists(self) -> bool:
        with self._connection() as connection:
            (found,) = connection.execute("SELECT to_regclass(%s)", (f"public.{self._name}",)).fetchone()
        return found is not None

    def write(self, rows: Sequence[Row]) -> None:
        """Upsert in one transaction; the first rows make the table."""
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
        """How many of these ids are there."""
        return len(self._read("SELECT 1 FROM {} WHERE langchain_id = ANY(%s)", list(ids)))

    def ids(self) -> NDArray[np.int64]:
        """All ids, in any order."""
        return np.array([row[0] for row in self._read("SELECT langchain_id FROM {}")], dtype=np.int64)

    def count(self) -> int:
        """The number of rows."""
        return sum(row[0] for row in self._read("SELECT count(*) FROM {}"))

    def drop(self) -> None:
        """Drop the table, if there is one."""
        with self._connection() as connection:
            connection.execute(f"DROP TABLE IF EXISTS public.{self._name}")
        self._store = None

    def _read(self, query: str, *values: object) -> list[Any]:
        if not self._exists():
            return []
        with self._connection() as connection:
            found: list[Any] = connection.execute(query.format(f"public.{self._name}"), values).fetchall()
        return found


def _libraries() -> None:
    try:
        import langchain_postgres  # noqa: F401
    except ImportError:
        raise ModelUnavailable(
            "The client of PostgreSQL is not installed.", "Run: pip install 'lethe[pgvector]'"
        ) from None
