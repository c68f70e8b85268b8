"""The server: its routes, one family a file, and what every request passes."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import HTMLResponse

from app.access.keys import Keys
from app.access.trail import Trail
from app.access.vault import vault_of
from app.data_dir import DataDir
from app.jobs.runner import Runner
from app.jobs.table import Jobs
from app.jobs.uploads import Uploads
from app.sanitizing import Sanitizing
from app.server.access import Access, ByKeys, Everybody
from app.server.answers import ErrorAnswer, ProblemAnswer
from app.server.docs_page import HEADERS, docs_page
from app.server.errors import PROBLEM, add_error_handlers
from app.server.middleware.answered import write_line
from app.server.middleware.hosts import HOSTS, HostCheck
from app.server.middleware.limits import BodyLimit
from app.server.middleware.metrics import Metrics
from app.server.middleware.noted import Noted
from app.server.middleware.trailing import Trailing
from app.server.middleware.watching import Watch, try_later
from app.server.quotas.budgets import Budgets
from app.server.quotas.later import TryLater
from app.server.quotas.rates import OTHERS_PER_MINUTE, Rates
from app.server.quotas.slots import MODELS_AT_ONCE, Slots, UploadSlots
from app.server.quotas.streams import Streams
from app.server.routes.audits import audit_routes
from app.server.routes.chat import chat_routes
from app.server.routes.collections import collection_routes
from app.server.routes.documents import document_routes
from app.server.routes.erasing import erasing_routes
from app.server.routes.health import health_routes
from app.server.routes.jobs import job_routes
from app.server.routes.keys import key_routes
from app.server.routes.presidio import presidio_routes
from app.server.routes.presidio_bodies import RefusedAnswer
from app.server.routes.responses import response_routes
from app.server.routes.revealing import reveal_routes
from app.server.routes.reviewing import review_routes
from app.server.routes.sanitizing import sanitizing_routes
from app.server.routes.trail import trail_routes
from app.server.routes.web import web_routes
from app.server.served import Collections, DataCollections
from app.settings.load import ServerSettings
from app.settings.places import places_of
from ingest.protocols import EntityDetector

ERRORS: dict[int | str, dict[str, Any]] = {"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}}
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": {"model": ProblemAnswer}, "5XX": {"model": ProblemAnswer}}
REFUSALS: dict[int | str, dict[str, Any]] = {"4XX": {"model": RefusedAnswer}, "5XX": {"model": RefusedAnswer}}
_KINDS = {ProblemAnswer.__name__: PROBLEM, RefusedAnswer.__name__: "application/json"}
"""Media types of errors."""


def create_app(data: DataDir, keys: Keys, only: str | None = None) -> FastAPI:
    """The app over a data folder, or one of its collections. ``app.state.runner`` is to be started."""
    server = data.settings.server
    host = f"[{server.host}]" if ":" in server.host else server.host
    access = ByKeys(keys, alone=server.alone)
    served = DataCollections(data, only)
    folder = data.settings.data_dir
    runner = Runner(data.settings, Jobs(folder), Uploads(folder, data.key))
    trail = Trail(data)
    own = own_routes(data, keys, served, runner, Sanitizing(data, served.system), trail)
    hosts = (*HOSTS, host, *server.hosts)
    limits = _limited(server)
    app = assemble(served, lambda: served.system().detector, hosts, access, limits, own, folder)
    # A key that is missing is said at the start.
    vault_of(data.settings)
    if data.settings.retrieval.reranker or data.settings.retrieval.rewrite_questions:
        app.state.search_slots = app.state.model_slots
    app.state.trail = partial(Noted, trail, data.holds)
    app.state.runner = runner
    app.state.places = places_of(data.settings)
    metrics: Metrics = app.state.metrics
    metrics.show("lethe_collections", "Collections that are kept, and that are open.", "state", served.counts)
    language = int(data.settings.generator.kind == "llama_cpp")
    metrics.show(
        "lethe_models",
        "Models in the memory of this process.",
        "model",
        lambda: {"encoder": 1, "detector": served.system.loaded(), "language": language},
    )
    metrics.show("lethe_jobs", "Jobs by state.", "state", runner.jobs.counts)
    return app


class _App(FastAPI):
    """Describes errors under their own media types; the framework gives them that of the route."""

    def openapi(self) -> dict[str, Any]:
        """The description of all routes."""
        described = super().openapi()
        routes = [route for methods in described["paths"].values() for route in methods.values()]
        for answer in [answer for route in routes for answer in route["responses"].values()]:
            for kind, said in [*answer.get("content", {}).items()]:
                model = said.get("schema", {}).get("$ref", "").rpartition("/")[2]
                answer["content"][_KINDS.get(model, kind)] = answer["content"].pop(kind)
        return described


def _limited(server: ServerSettings) -> ServerSettings:
    """The settings with a limit of requests where others can reach the server."""
    if server.requests_per_minute is not None or server.alone:
        return server
    return server.model_copy(update={"requests_per_minute": OTHERS_PER_MINUTE})


def own_routes(
    data: DataDir, keys: Keys, served: Collections, runner: Runner, sanitizing: Sanitizing, trail: Trail
) -> Sequence[APIRouter]:
    """The routes that write, and those that only Lethe has."""
    return [
        document_routes(data, served, runner),
        audit_routes(data, served, runner),
        job_routes(runner),
        erasing_routes(data, served, sanitizing, runner),
        reveal_routes(data, served),
        review_routes(data, served, runner),
        sanitizing_routes(sanitizing, served),
        key_routes(keys, served),
        trail_routes(trail),
    ]


def assemble(
    served: Collections,
    detector: Callable[[], EntityDetector],
    hosts: Sequence[str] = HOSTS,
    access: Access | None = None,
    limits: ServerSettings | None = None,
    own: Sequence[APIRouter] = (),
    folder: Path | None = None,
) -> FastAPI:
    """The app over collections and a detector; ``own`` are further routes, ``folder`` is written to.

    Cross-origin requests are not allowed: browsers keep other sites out.
    """
    app = _App(
        title="Lethe",
        version=version("lethe"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=PROBLEMS,
    )
    limits = limits or ServerSettings()
    app.state.access = access or Everybody()
    app.state.rates = Rates(limits.requests_per_minute)
    app.state.budgets = Budgets(limits)
    app.state.slots = Slots(
        limits.answers_at_once, "chats", ", or let the operator raise server.answers_at_once"
    )
    app.state.model_slots = Slots(MODELS_AT_ONCE, "requests that run a model")
    app.state.search_slots = None
    app.state.uploads = UploadSlots()
    app.state.streams = Streams()
    app.state.stopping = Event()
    app.state.metrics = metrics = Metrics()
    metrics.show("lethe_answers", "Chats that are answered, and that wait.", "state", app.state.slots.counts)
    metrics.show(
        "lethe_model_requests",
        "Other requests that run a model, and that wait.",
        "state",
        app.state.model_slots.counts,
    )
    _add_pages(app)
    app.include_router(health_routes(served, metrics, app.state.stopping, folder))
    app.include_router(collection_routes(served))
    app.include_router(chat_routes(served), responses=ERRORS)
    app.include_router(response_routes(served), responses=ERRORS)
    app.include_router(presidio_routes(detector), responses=REFUSALS)
    app.include_router(web_routes())
    for routes in own:
        app.include_router(routes)
    add_error_handlers(app)
    app.add_exception_handler(TryLater, try_later)
    # What is added last is asked first.
    app.add_middleware(Trailing)
    app.add_middleware(BodyLimit, uploads=limits.upload_megabytes << 20)
    app.add_middleware(HostCheck, hosts=hosts)
    app.add_middleware(Watch, metrics=metrics, log=write_line if limits.log == "requests" else None)
    return app


def _add_pages(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        # FastAPI's own page loads its scripts from elsewhere.
        return HTMLResponse(docs_page(app.openapi()), headers=HEADERS)
