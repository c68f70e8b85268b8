"""HTTP over ``Services``: health, search, and a chat that OpenAI clients can talk to."""

import time
import uuid
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from app.compose import Services
from app.rows import answer_row, passage_row
from app.server.bodies import ChatBody, SearchBody
from models.errors import ConfigurationError, LetheError, ModelUnavailable
from retrieval.collection import Collection
from retrieval.errors import CollectionError

STATUS: Mapping[type[LetheError], int] = {
    ConfigurationError: 400,
    CollectionError: 409,
    ModelUnavailable: 503,
    LetheError: 500,
}
"""The HTTP status of each kind of error; the first that fits, in this order."""


def create_app(services: Services, collection: Collection) -> FastAPI:
    """The app for one open collection; its models are loaded before it answers anything."""
    app = FastAPI(title="Lethe", docs_url=None, redoc_url=None)
    retriever, generator = services.retriever(collection), services.generator
    default_k = services.settings.retrieval.k

    @app.get("/livez")
    @app.get("/readyz")
    def health() -> dict[str, object]:
        return {"status": "ok", "collection": collection.folder.name, "generator": generator.name}

    @app.post("/v1/search")
    def search(body: SearchBody) -> dict[str, object]:
        found = retriever.retrieve([body.question], body.k or default_k)[0]
        return {"passages": [passage_row(each) for each in found]}

    @app.get("/v1/models")
    def models() -> dict[str, object]:
        model = {"id": f"kb:{collection.folder.name}", "object": "model", "created": 0, "owned_by": "lethe"}
        return {"object": "list", "data": [model]}

    @app.post("/v1/chat/completions")
    def chat(body: ChatBody) -> dict[str, object]:
        questions = [each.content for each in body.messages if each.role == "user"]
        if not questions or not questions[-1].strip():
            raise ConfigurationError("The chat holds no question: its last user message is missing or empty.")
        found = retriever.retrieve([questions[-1]], default_k)[0]
        answer = answer_row(generator.generate(questions[-1], found))
        return {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.model,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": answer["answer"]},
                    "finish_reason": "stop",
                }
            ],
            "citations": answer["citations"],
            "engine": answer["engine"],
        }

    app.add_exception_handler(LetheError, _told)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(Exception, _unexpected)
    return app


def _error(status: int, message: str, kind: str, param: str | None = None) -> JSONResponse:
    """The shape that OpenAI clients expect of an error."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": None}}
    return JSONResponse(body, status_code=status)


def _told(request: Request, error: Exception) -> JSONResponse:
    status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
    return _error(status, str(error), type(error).__name__)


def _refused(request: Request, error: Exception) -> JSONResponse:
    """What is wrong with a body, by field; never its value."""
    assert isinstance(error, RequestValidationError)
    problems = [(".".join(map(str, each["loc"][1:])), each["msg"]) for each in error.errors()]
    told = "; ".join(f"{name or 'body'}: {what}" for name, what in problems)
    return _error(400, told, "invalid_request_error", problems[0][0] if problems else None)


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    return _error(500, f"internal error {type(error).__name__}; nothing was changed", "internal_error")
