"""Rows in Milvus: a server by its address, or an embedded file (Milvus Lite) by its path.

Each collection has a Milvus collection of its own, so that none sees another's rows and deleting drops them
whole. An embedded file is used by one process at a time.
"""

import logging
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelUnavailable
from retrieval.index.vector_store import PATIENCE, Row

_INDEX = {"index_type": "AUTOINDEX", "metric_type": "IP", "params": {}}
_NOW = "Strong"
"""What was written before is seen: for counting and listing, not for searching, which it slows down."""


class MilvusTable:
    """As ``Table``. ``address`` is ``http://host:19530``, with ``user:password@`` if needed, or a path."""

    kind = "milvus"

    def __init__(self, address: str, name: str) -> None:
        self._address = address
        self._name = name
        self._store: Any = None

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Errors of client and transport."""
        _libraries()
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException

        # ValueError: an address that the client cannot read; it would quote it.
        return MilvusException, RpcError, ValueError

    def opened(self) -> Any:
        """LangChain's ``Milvus``, None as long as nothing was written."""
        if self._store is None:
            store = self._connected()
            if not store.client.has_collection(self._name, timeout=PATIENCE):
                return None
            # Not given to the constructor: the class would pass it twice when it makes a collection.
            store.timeout = PATIENCE
            self._store = store
        return self._store

    def _connected(self) -> Any:
        _libraries()
        from langchain_core.embeddings import FakeEmbeddings
        from langchain_milvus import Milvus

        return Milvus(
            # Asked for by the class, and never used: vectors are given.
            FakeEmbeddings(size=1),
            collection_name=self._name,
            connection_args=_connection(self._address),
            index_params=_INDEX,
        )

    def write(self, rows: Sequence[Row]) -> None:
        """Upsert; the first rows make the Milvus collection."""
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
        """How many of these ids are there."""
        if (store := self.opened()) is None or not ids:
            return 0
        wanted = [str(number) for number in ids]
        found = store.client.query(
            self._name, ids=wanted, output_fields=["pk"], consistency_level=_NOW, timeout=PATIENCE
        )
        return len(found)

    def ids(self) -> NDArray[np.int64]:
        """All ids, in any order."""
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
        """The number of rows."""
        if (store := self.opened()) is None:
            return 0
        (row,) = store.client.query(
            self._name, filter="", output_fields=["count(*)"], consistency_level=_NOW, timeout=PATIENCE
        )
        return int(row["count(*)"])

    def drop(self) -> None:
        """Drop the Milvus collection, if there is one."""
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


def _libraries() -> None:
    """Check that they are there, and keep them from reading a file ``.env`` and from logging rows."""
    os.environ.setdefault("PYTHON_DOTENV_DISABLED", "1")
    try:
        import langchain_milvus  # noqa: F401
        import pymilvus  # noqa: F401
    except ImportError:
        raise ModelUnavailable(
            "The client of Milvus is not installed.", "Run: pip install 'lethe[milvus]'"
        ) from None
    for name in ("pymilvus", "pymilvus.milvus_client", "langchain_milvus", "milvus_lite"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
