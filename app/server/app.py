"""HTTP over one collection: health, search, and a chat that OpenAI clients can talk to."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from starlette.responses import HTMLResponse

from app.compose import answering, encoder_of, retriever_of, search_of
from app.rows import passage_row
from app.server.answers import ErrorAnswer, HealthAnswer, SearchAnswer
from app.server.bodies import SearchBody
from app.server.chat import add_chat_routes
from app.server.docs_page import HEADERS, docs_page
from app.server.errors import add_error_handlers
from app.server.hosts import HOSTS, HostCheck
from app.server.limits import BodyLimit
from app.server.served import ServedCollection
from app.settings.load import Settings
from retrieval.collection import Collection

ERRORS: dict[int | str, dict[str, Any]] = {"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}}


def create_app(settings: Settings, collection: Collection) -> FastAPI:
    """The app for one open collection; its models are loaded before it answers anything."""
    encoder = encoder_of(settings)
    served = ServedCollection(
        collection.folder.name,
        retriever_of(collection, encoder, search_of(settings)),
        answering(settings, collection, encoder),
        settings.retrieval.k,
    )
    server = settings.server
    return assemble(served, hosts=(*HOSTS, server.host, *server.hosts))


def assemble(served: ServedCollection, hosts: Sequence[str] = HOSTS) -> FastAPI:
    """The app over a collection. Cross-origin requests are not allowed: browsers keep other sites out."""
    app = FastAPI(
        title="Lethe",
        version=version("lethe"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=ERRORS,
    )
    _add_routes(app, served)
    add_chat_routes(app, served)
    add_error_handlers(app)
    # What is added last is asked first.
    app.add_middleware(BodyLimit)
    app.add_middleware(HostCheck, hosts=hosts)
    return app


def _add_routes(app: FastAPI, served: ServedCollection) -> None:
    @app.get("/livez", response_model=HealthAnswer)
    @app.get("/readyz", response_model=HealthAnswer)
    def health() -> Mapping[str, object]:
        """The server listens only once its models are loaded, so the two are the same."""
        return {"status": "ok", "collection": served.collection, "generator": served.generator.name}

    @app.post("/v1/search", response_model=SearchAnswer)
    def search(body: SearchBody) -> Mapping[str, object]:
        """The best passages for a question."""
        found = served.retriever.retrieve([body.question], body.k or served.k)[0]
        return {"passages": [passage_row(each) for each in found]}

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        # FastAPI's own page loads its scripts from elsewhere.
        return HTMLResponse(docs_page(app.openapi()), headers=HEADERS)
