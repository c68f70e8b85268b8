"""The routes of OpenAI clients: models, chats about a collection, and embeddings."""

import base64
import json
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

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
from app.server.asked import ALONE, collection_of_model, models_of, question_of
from app.server.bodies import ChatBody, EmbeddingsBody
from app.server.errors import UnknownModel
from app.server.quotas.budgets import Budgets, Counted
from app.server.quotas.slots import ModelSlot, Slot
from app.server.served import Collections
from models.errors import ConfigurationError
from models.vectors import Vectors
from retrieval.documents import Answer

STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with stream, as server-sent events: role, text, end, usage, [DONE]",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
_PIECE = re.compile(r"\s*\S+(?:\s+\S+){0,7}\s*\Z|\s*\S+(?:\s+\S+){0,7}")
"""Eight words, with the space before them."""


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
            raise UnknownModel(there)
        return ModelAnswer(id=model)

    @router.post("/v1/chat/completions", response_model=ChatAnswer, responses=STREAMED)
    def chat(body: ChatBody, key: Asking, slot: Slot, budgets: Counted) -> ChatAnswer | Response:
        """An answer from a collection, with citations."""
        name = collection_of_model(key, served, body.model, body.collection)
        answer = _answered(body, served, name, budgets, key)
        if not body.stream:
            return answer
        # Citations are known at the end, so the whole answer exists before its first event.
        usage = body.stream_options is not None and bool(body.stream_options.include_usage)
        content = "".join(f"data: {event}\n\n" for event in _events(answer, usage))
        return Response(content, media_type="text/event-stream")

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
        tokens = sum(_tokens(served, text) for text in body.input)
        usage = EmbeddingUsageAnswer(prompt_tokens=tokens, total_tokens=tokens)
        return EmbeddingsAnswer(data=data, model=encoder.name, usage=usage)

    return router


def _packed(vector: Vectors) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _tokens(served: Collections, text: str) -> int:
    return len(served.encoder.token_spans(text))


def _answered(body: ChatBody, served: Collections, name: str, budgets: Budgets, key: Key) -> ChatAnswer:
    question = question_of([each.content for each in body.messages if each.role == "user"])
    collection = served.get(name)
    budgets.ask(key.key_id, name, question, served.encoder)
    found = collection.retriever.retrieve([question], collection.k)[0]
    budgets.show(key.key_id, name, found, lambda: served.documents(name))
    answer = _until(body.stop or (), collection.generator.generate(question, found))
    beside = {name: value for name, value in answer_row(answer).items() if name not in ("answer", "passages")}
    asked = sum(_tokens(served, each.content) for each in body.messages)
    said = _tokens(served, answer.text)
    usage = UsageAnswer(prompt_tokens=asked, completion_tokens=said, total_tokens=asked + said)
    return ChatAnswer.model_validate(
        beside
        | {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": body.model,
            "choices": [{"message": {"content": answer.text}}],
            "usage": usage,
        }
    )


def _until(stops: Sequence[str], answer: Answer) -> Answer:
    """The answer up to the first stop string, with the citations that remain."""
    text = answer.text[: min((answer.text.find(each) for each in stops if each in answer.text), default=None)]
    return replace(
        answer, text=text, citations=[each for each in answer.citations if f"[{each.mark}]" in text]
    )


def _events(answer: ChatAnswer, usage: bool) -> Iterator[str]:
    """The data of each event, in OpenAI's order; the last chunk has the answer's further fields."""
    (choice,) = answer.choices
    whole = answer.model_dump(exclude={"choices", "usage", "object"})
    shared = {name: whole.pop(name) for name in ("id", "created", "model")}
    shared["object"] = "chat.completion.chunk"
    deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": piece}, None) for piece in _PIECE.findall(choice.message.content)]
    deltas += [({}, choice.finish_reason)]
    for delta, finish_reason in deltas:
        chunk = {"index": choice.index, "delta": delta, "finish_reason": finish_reason}
        yield json.dumps(shared | {"choices": [chunk]} | (whole if finish_reason else {}))
    if usage:
        yield json.dumps(shared | {"choices": [], "usage": answer.usage.model_dump()})
    yield "[DONE]"
