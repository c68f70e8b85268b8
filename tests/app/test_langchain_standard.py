"""LangChain's own tests of retrievers, embeddings and vector stores. Their texts are invented words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
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
    retriever_constructor = LetheRetriever
    retriever_constructor_params = {"retriever": Fixed()}
    retriever_query_example = "Who was fed?"


class TestTheRetrieverOfTheStore(RetrieversIntegrationTests):
    retriever_query_example = "the heron"

    @pytest.fixture(autouse=True)
    def filled(self, tmp_path: Path) -> Iterator[None]:
        self.store = made(tmp_path)
        self.store.add_texts(TEXTS)
        yield
        self.store.close()

    @property
    def retriever_constructor(self) -> Any:
        return lambda k=2: self.store.as_retriever(search_kwargs={"k": k})


class TestTheEmbeddings(EmbeddingsIntegrationTests):
    embeddings_class = LetheEmbeddings
    embedding_model_params = {"encoder": WordEncoder()}


class TestMakingTheEmbeddings(EmbeddingsUnitTests):
    embeddings_class = LetheEmbeddings
    embedding_model_params = {"encoder": WordEncoder()}
