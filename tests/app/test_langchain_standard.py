"""LangChain's own tests of retrievers, embeddings and vector stores. Their texts are invented words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import (
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import EmbeddingsUnitTests

from app.langchain_store import LetheVectorStore
from retrieval.langchain_adapters import LetheEmbeddings, LetheRetriever
from tests.app.test_langchain_store import TEXTS, made
from tests.doubles import WordEncoder
from tests.retrieval.test_langchain import Fixed

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class TestTheStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[LetheVectorStore]:
        store = made(tmp_path, keep_metadata=["id", "some_other_field"])
        yield store
        store.close()


class TestTheRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return LetheRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"retriever": Fixed()}

    @property
    def retriever_query_example(self) -> str:
        return "Who was fed?"


class TestTheRetrieverOfTheStore(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def filled(self, tmp_path: Path) -> Iterator[None]:
        self.store = made(tmp_path)
        self.store.add_texts(TEXTS)
        yield
        self.store.close()

    @property
    def retriever_constructor(self) -> Any:
        return lambda k=2: self.store.as_retriever(search_kwargs={"k": k})

    @property
    def retriever_query_example(self) -> str:
        return "the heron"


class TestTheEmbeddings(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return LetheEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"encoder": WordEncoder()}


class TestMakingTheEmbeddings(EmbeddingsUnitTests):
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return LetheEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"encoder": WordEncoder()}
