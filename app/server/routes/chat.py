"""The routes of OpenAI clients: models, chats about a collection, and embeddings."""

import base64
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from app.access.keys import Key
from app.rows import answer_row
from app.server.access import Asking
from app.server.answers import (
    ChatAnswer,
    EmbeddingAnswer,
    EmbeddingsAnswer,
    EmbeddingUsageAnswer,
    ModelAnswer,
    ModelsAnswer,
    UsageAnswer,
)
from app.server.asked import ALONE, collection_of_model, models_of, question_of, unknown_model
from app.server.bodies import ChatBody, EmbeddingsBody
from app.server.errors import UnknownModel, in_openai_shape
from app.server.quotas.budgets import Budgets, Counted
from app.server.quotas.slots import ModelSlot, Slot
from app.server.served import Collections
from models.errors import ConfigurationError, LetheError
from models.vectors import Vectors
from retrieval.documents import Answer
from retrieval.writing import Shortened, Until, Writing, begun, filtered, whole

STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with stream, as server-sent events: role, text, end, usage, [DONE]",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


def chat_routes(served: Collections) -> APIRouter:
    """Models, chats and embeddings over ``served``."""
    router = APIRouter()

    @router.get("/v1/models", response_model=ModelsAnswer)
    def models(key: Asking) -> ModelsAnswer:
        """The names that a chat may ask for."""
        return ModelsAnswer(data=[ModelAnswer(id=each) for each in models_of(key, served)])

    @router.get("/v1/models/{model}", response_model=ModelAnswer)
    def model(model: str, key: Asking) -> ModelAnswer:
        """A model by name."""
        there = models_of(key, served)
        if model not in there:
            raise unknown_model(model, there)
        return ModelAnswer(id=model)

    @router.post("/v1/chat/completions", response_model=ChatAnswer, responses=STREAMED)
    def chat(body: ChatBody, key: Asking, slot: Slot, budgets: Counted) -> ChatAnswer | Response:
        """An answer from a collection, with citations."""
        name = collection_of_model(key, served, body.model, body.collection)
        most = [each for each in (body.max_tokens, body.max_completion_tokens) if each is not None]
        shortened = Shortened(min(most, default=None), served.encoder.token_spans)
        asked = [each.content for each in body.messages if each.role == "user"]
        until = Until(body.stop or ())
        writing = filtered(filtered(written(asked, served, name, budgets, key), until), shortened)
        if body.stream:
            events = _events(begun(writing), body, served, shortened)
            return StreamingResponse(events, media_type="text/event-stream")
        answer = whole(writing)
        choices = [{"message": {"content": answer.text}, "finish_reason": _finish(shortened)}]
        usage = _usage(body, answer, served)
        return ChatAnswer.model_validate(_head(body) | beside(answer) | {"choices": choices, "usage": usage})

    @router.post("/v1/embeddings", response_model=EmbeddingsAnswer)
    def embeddings(body: EmbeddingsBody, key: Asking, slot: ModelSlot) -> EmbeddingsAnswer:
        """The vectors of texts, by the encoder of the collections. Nothing is stored."""
        encoder = served.encoder
        if body.model not in (ALONE, encoder.name):
            raise UnknownModel((ALONE, encoder.name))
        if body.dimensions not in (None, encoder.dim):
            raise ConfigurationError(f"{encoder.name} has {encoder.dim} dimensions: leave dimensions out.")
        vectors = encoder.encode(body.input)
        packed = body.encoding_format == "base64"
        data = [
            EmbeddingAnswer(index=index, embedding=_packed(vector) if packed else vector.tolist())
            for index, vector in enumerate(vectors)
        ]
        read = sum(tokens(served, text) for text in body.input)
        usage = EmbeddingUsageAnswer(prompt_tokens=read, total_tokens=read)
        return EmbeddingsAnswer(data=data, model=encoder.name, usage=usage)

    return router


def _packed(vector: Vectors) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def tokens(served: Collections, text: str) -> int:
    """How many tokens of the encoder a text has."""
    return len(served.encoder.token_spans(text))


def written(asked: Sequence[str], served: Collections, name: str, budgets: Budgets, key: Key) -> Writing:
    """The answer to the turns of a user, from a collection."""
    question = question_of(asked)
    collection = served.get(name)
    budgets.ask(key.key_id, name, question, served.encoder)
    found = collection.retriever_for(key.reads).retrieve([question], collection.k)[0]
    budgets.show(key.key_id, name, found, lambda: served.documents(name, key.reads))
    return collection.generator.write(question, found)


def _head(body: ChatBody) -> dict[str, object]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": body.model}


def beside(answer: Answer) -> dict[str, object]:
    """What an answer has beside its text."""
    return {name: value for name, value in answer_row(answer).items() if name not in ("answer", "passages")}


def _usage(body: ChatBody, answer: Answer, served: Collections) -> UsageAnswer:
    asked = sum(tokens(served, each.content) for each in body.messages)
    said = tokens(served, answer.text)
    return UsageAnswer(prompt_tokens=asked, completion_tokens=said, total_tokens=asked + said)


def _finish(shortened: Shortened) -> str:
    return "length" if shortened.cut else "stop"


def _events(writing: Writing, body: ChatBody, served: Collections, shortened: Shortened) -> Iterator[str]:
    """Server-sent events in OpenAI's order; the last chunk has the answer's further fields.

    Once an answer has begun, what fails is an event in place of the rest.
    """
    head = {**_head(body), "object": "chat.completion.chunk"}

    def chunk(delta: Mapping[str, str], finish: str | None = None, **beside: object) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event(head | {"choices": [choice]} | beside)

    yield chunk({"role": "assistant", "content": ""})
    try:
        while True:
            if piece := next(writing):
                yield chunk({"content": piece})
    except StopIteration as end:
        answer: Answer = end.value
    except LetheError as error:
        yield f"data: {in_openai_shape(error)}\n\n"
        return
    yield chunk({}, _finish(shortened), **beside(answer))
    if body.stream_options is not None and body.stream_options.include_usage:
        yield _event(head | {"choices": [], "usage": _usage(body, answer, served).model_dump()})
    yield "data: [DONE]\n\n"


def _event(content: Mapping[str, object]) -> str:
    return f"data: {json.dumps(content)}\n\n"
