"""Lethe as parts of a LangChain application: a retriever, the embeddings that it searches with, a guard.

Only ``langchain-core`` is needed. LangChain reports each call of a retriever, question and documents
included, to LangSmith where the environment asks for it (``LANGSMITH_TRACING``). A variable that was set
for another program must not send private questions away, so the environment is ignored here. Tracers
passed as a callback or inherited from a surrounding chain are used: tracing a chain sends what flows through
it.
"""
# ruff: noqa: A002 - ``input`` is LangChain's name

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document as LangChainDocument
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, run_in_executor
from langsmith.run_helpers import tracing_context
from pydantic import ConfigDict, Field, SkipValidation

from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.documents import Passage, RetrievedPassage
from retrieval.guards.answers import AnswerGuard, AnswerRules
from retrieval.protocols import Retriever


class Untraced(BaseRetriever):
    """A retriever that the environment cannot trace."""

    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[LangChainDocument]:
        """Documents for the question ``input``; ``kwargs`` override the retriever's own."""
        with tracing_context(enabled=False):
            return super().invoke(input, config, **kwargs)

    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[LangChainDocument]:
        """As ``invoke``, off the event loop."""
        with tracing_context(enabled=False):
            return await super().ainvoke(input, config, **kwargs)


class LetheRetriever(Untraced):
    """Sanitized passages for a question, best first.

    A document's ``page_content`` is the passage, its ``id`` the passage's id in its collection, and its
    metadata holds ``doc_id``, ``start`` and ``end`` (half-open, in characters of the sanitized document)
    ``score`` (what passages are ranked by) and ``similarity`` (of the vectors, in [-1, 1]).

    Args:
        retriever: any retriever of this room.
        k: how many passages a question gets, 1 or more; ``invoke(question, k=3)`` overrides it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)

    # A Protocol has no isinstance, so the type checker alone checks this one.
    retriever: Annotated[Retriever, SkipValidation] = Field(repr=False, exclude=True)
    k: int = Field(default=5, ge=1)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[LangChainDocument]:
        wanted = self.k if k is None else k
        if wanted < 1:
            raise ConfigurationError(f"LetheRetriever: k is {wanted}; ask for 1 passage or more.")
        return [_document(found) for found in self.retriever.retrieve([query], wanted)[0]]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[LangChainDocument]:
        # LangChain's own version of this method would lose k.
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k
        )


class LetheEmbeddings(Embeddings):
    """Unit vectors of an encoder; of each text its first ``encoder.max_tokens`` tokens are read.

    A vector reveals much of its text: embed sanitized text only.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector of ``encoder.dim`` numbers for each text."""
        return self._vectors(texts)

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question, made as a document's is."""
        return self._vectors([text])[0]

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(number) for number in row] for row in self._encoder.encode(texts)]


class OutputGuard(Runnable[Mapping[str, Any], str]):
    """The output guard as the end of a chain: a mapping with ``context`` and ``answer`` in, the text out.

    ``context`` are the documents that the answer was written from, ``answer`` its text. In a stream the
    context has to come before the answer, as ``RunnablePassthrough.assign(answer=...)`` sends it. Of an
    answer without one, all that the policy would replace is replaced. An asynchronous stream is let out when
    it has ended.
    """

    def __init__(self, rules: AnswerRules) -> None:
        self._rules = rules

    def invoke(self, input: Mapping[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """The answer as it may leave."""
        return "".join(self.transform(iter([input])))

    def transform(
        self, input: Iterator[Mapping[str, Any]], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[str]:
        """The answer as it comes and may leave; raises ConfigurationError if context comes after it began."""
        context: list[LangChainDocument] = []
        guard: AnswerGuard | None = None
        for piece in input:
            if guard and piece.get("context"):
                raise ConfigurationError("OutputGuard: the context came after the answer; send it before.")
            context += piece.get("context", ())
            if answer := piece.get("answer"):
                guard = guard or AnswerGuard(self._rules, [*map(_retrieved, range(len(context)), context)])
                if said := guard.feed(answer):
                    yield said
        if guard:
            yield guard.close()


def _retrieved(number: int, document: LangChainDocument) -> RetrievedPassage:
    # An id for each: texts that only seem to adjoin are not read on as one.
    text = document.page_content
    return RetrievedPassage(Passage(number, str(number), 0, len(text), text), 0.0)


def _document(found: RetrievedPassage) -> LangChainDocument:
    passage = found.passage
    place = {"doc_id": passage.doc_id, "start": passage.start, "end": passage.end}
    metadata = {**place, "score": found.score, "similarity": found.similarity}
    return LangChainDocument(passage.text, id=str(passage.passage_id), metadata=metadata)
