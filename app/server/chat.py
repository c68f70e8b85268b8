"""The routes of OpenAI clients: models, and a chat about the collection."""

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response

from app.rows import answer_row
from app.server.answers import ChatAnswer, ModelAnswer, ModelsAnswer
from app.server.bodies import ChatBody
from app.server.errors import UnknownModel
from app.server.served import ServedCollection
from models.errors import ConfigurationError
from retrieval.documents import Answer

STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with stream, the same as server-sent events: its text, its end, [DONE]",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


def add_chat_routes(app: FastAPI, served: ServedCollection) -> None:
    """Models and chats over ``served``."""

    def check(model: str) -> None:
        if model not in served.models:
            raise UnknownModel(served.models)

    @app.get("/v1/models", response_model=ModelsAnswer)
    def models() -> ModelsAnswer:
        """The names that a chat may ask for."""
        return ModelsAnswer(data=[ModelAnswer(id=each) for each in served.models])

    @app.get("/v1/models/{model}", response_model=ModelAnswer)
    def model(model: str) -> ModelAnswer:
        """A model by name."""
        check(model)
        return ModelAnswer(id=model)

    @app.post("/v1/chat/completions", response_model=ChatAnswer, responses=STREAMED)
    def chat(body: ChatBody) -> ChatAnswer | Response:
        """An answer from the collection, with citations."""
        check(body.model)
        answer = _answered(body, served)
        if not body.stream:
            return answer
        # Citations are known at the end, so the whole answer exists before its first event.
        content = "".join(f"data: {event}\n\n" for event in _events(answer))
        return Response(content, media_type="text/event-stream", headers={"cache-control": "no-cache"})


def _answered(body: ChatBody, served: ServedCollection) -> ChatAnswer:
    questions = [each.content for each in body.messages if each.role == "user"]
    if not questions or not questions[-1].strip():
        raise ConfigurationError("The chat holds no question: its last user message is missing or empty.")
    found = served.retriever.retrieve([questions[-1]], served.k)[0]
    answer = _until(body.stop or (), served.generator.generate(questions[-1], found))
    beside = {name: value for name, value in answer_row(answer).items() if name not in ("answer", "passages")}
    return ChatAnswer.model_validate(
        beside
        | {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": body.model,
            "choices": [{"message": {"content": answer.text}}],
        }
    )


def _until(stops: Sequence[str], answer: Answer) -> Answer:
    """The answer up to the first stop string, with the citations that remain."""
    text = answer.text[: min((answer.text.find(each) for each in stops if each in answer.text), default=None)]
    return replace(
        answer, text=text, citations=[each for each in answer.citations if f"[{each.mark}]" in text]
    )


def _events(answer: ChatAnswer) -> Iterator[str]:
    """The data of each event; fields beside the choices are repeated in each chunk."""
    (choice,) = answer.choices
    shared = answer.model_dump() | {"object": "chat.completion.chunk"}
    for delta, finish_reason in ((choice.message.model_dump(), None), ({}, choice.finish_reason)):
        chunk = {"index": choice.index, "delta": delta, "finish_reason": finish_reason}
        yield json.dumps(shared | {"choices": [chunk]})
    yield "[DONE]"
