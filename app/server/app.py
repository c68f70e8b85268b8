"""HTTP over ``Services``: health, search, and a chat that OpenAI clients can talk to."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware

from app.compose import Services
from app.rows import answer_row, passage_row
from app.server.answers import ChatAnswer, ErrorAnswer, HealthAnswer, ModelAnswer, ModelsAnswer, SearchAnswer
from app.server.bodies import ChatBody, SearchBody
from app.server.errors import UnknownModel, add_error_handlers
from app.server.limits import BodyLimit
from models.errors import ConfigurationError
from retrieval.collection import Collection
from retrieval.protocols import Generator, Retriever

HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""What a request may call this server. A web page elsewhere whose name was made to lead here is refused."""

ERRORS: dict[int | str, dict[str, Any]] = {"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}}


@dataclass(frozen=True, slots=True)
class Parts:
    """What the routes work with: the collection's name, and what finds and answers in it.

    Retriever and generator are called by several threads at once.
    """

    collection: str
    retriever: Retriever
    generator: Generator
    k: int

    @property
    def models(self) -> tuple[str, str]:
        """The names that a chat may ask for; the second tells collections apart."""
        return "lethe", f"kb:{self.collection}"


def create_app(services: Services, collection: Collection) -> FastAPI:
    """The app for one open collection; its models are loaded before it answers anything."""
    parts = Parts(
        collection.folder.name,
        services.retriever(collection),
        services.generator,
        services.settings.retrieval.k,
    )
    return assemble(parts, hosts=(*HOSTS, services.settings.server.host))


def assemble(parts: Parts, hosts: Sequence[str] = HOSTS) -> FastAPI:
    """The app over given parts. Cross-origin requests are not allowed: browsers keep other sites out."""
    app = FastAPI(
        title="Lethe",
        version=version("lethe"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=ERRORS,
    )
    _add_routes(app, parts)
    _add_chat_routes(app, parts)
    add_error_handlers(app)
    # What is added last is asked first.
    app.add_middleware(BodyLimit)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    return app


def _add_routes(app: FastAPI, parts: Parts) -> None:
    @app.get("/livez", response_model=HealthAnswer)
    @app.get("/readyz", response_model=HealthAnswer)
    def health() -> Mapping[str, object]:
        """The server listens only once its models are loaded, so the two are the same."""
        return {"status": "ok", "collection": parts.collection, "generator": parts.generator.name}

    @app.post("/v1/search", response_model=SearchAnswer)
    def search(body: SearchBody) -> Mapping[str, object]:
        """The passages nearest to a question."""
        found = parts.retriever.retrieve([body.question], body.k or parts.k)[0]
        return {"passages": [passage_row(each) for each in found]}


def _add_chat_routes(app: FastAPI, parts: Parts) -> None:
    def check(model: str) -> None:
        if model not in parts.models:
            raise UnknownModel(parts.models)

    @app.get("/v1/models", response_model=ModelsAnswer)
    def models() -> ModelsAnswer:
        """The names that a chat may ask for."""
        return ModelsAnswer(data=[ModelAnswer(id=each) for each in parts.models])

    @app.get("/v1/models/{model}", response_model=ModelAnswer)
    def model(model: str) -> ModelAnswer:
        """One of them."""
        check(model)
        return ModelAnswer(id=model)

    @app.post("/v1/chat/completions", response_model=ChatAnswer)
    def chat(body: ChatBody) -> Mapping[str, object]:
        """An answer from the collection, with citations."""
        check(body.model)
        questions = [each.content for each in body.messages if each.role == "user"]
        if not questions or not questions[-1].strip():
            raise ConfigurationError("The chat holds no question: its last user message is missing or empty.")
        found = parts.retriever.retrieve([questions[-1]], parts.k)[0]
        answer = answer_row(parts.generator.generate(questions[-1], found))
        return {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": body.model,
            "choices": [{"message": {"content": answer["answer"]}}],
            "citations": answer["citations"],
            "engine": answer["engine"],
        }
