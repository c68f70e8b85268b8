"""The routes of who operates the server: whether it lives, whether it is ready, and its figures."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Lock
from typing import Annotated

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from app.access.keys import Key
from app.server.access import needs
from app.server.answers import HealthAnswer
from app.server.middleware.metrics import Metrics
from app.server.quotas.later import TryLater
from app.server.served import Collections
from models.errors import LetheError

_AGAIN_S = 1
LEAST_FREE = 4 * 2**20
"""Bytes with fewer of which a disk counts as full: the trail of the next requests may not fit."""


class Readiness:
    """Which part is not ready, looked at by one thread at a time: others get what was found last."""

    def __init__(self, served: Collections, stopping: Event, folder: Path | None) -> None:
        self._served, self._stopping, self._folder = served, stopping, folder
        self._looking = Lock()
        self._last: str | None = "the collections are being opened"

    def missing(self) -> str | None:
        """What is not ready, without names and paths; None if all is."""
        if self._stopping.is_set():
            return "the server stops"
        if self._looking.acquire(blocking=False):
            try:
                self._last = self._found()
            finally:
                self._looking.release()
        return self._last

    def _found(self) -> str | None:
        # First, since a full disk keeps collections from being opened.
        if self._folder is not None and (wrong := _wrong_with(self._folder)):
            return wrong
        try:
            self._served.encoder.encode(["ready"])
        except Exception as error:  # whatever a device raises, its words could be a text's
            return f"the encoder cannot encode ({type(error).__name__})"
        try:
            names = self._served.names()
            # One that is damaged does not take the others away; one that opens shows that the parts work.
            if names and not any(self._opens(name) for name in names):
                return "no collection can be opened"
        except Exception as error:
            return f"the collections cannot be listed ({type(error).__name__})"
        return None

    def _opens(self, name: str) -> bool:
        try:
            self._served.get(name)
        except LetheError:
            return False
        return True


def _wrong_with(folder: Path) -> str | None:
    """Why nothing more can be written below a folder, and the remedy; None if something can."""
    try:
        if (free := shutil.disk_usage(folder).free) < LEAST_FREE:
            return (
                f"the disk of the data folder is full ({free >> 10} KB are free, {LEAST_FREE >> 10} are "
                "needed); free some space"
            )
        # A quota, or a disk that is mounted for reading, shows only so.
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
            file.flush()
    except OSError as error:
        return (
            f"the data folder cannot be written ({os.strerror(error.errno or 0)}); free some space there, or "
            "let it be written to"
        )
    return None


def health_routes(
    served: Collections, metrics: Metrics, stopping: Event, folder: Path | None = None
) -> APIRouter:
    """Life, readiness and figures; ``folder`` is where the server writes."""
    router = APIRouter()
    readiness = Readiness(served, stopping, folder)

    @router.get("/livez", response_model=HealthAnswer)
    async def live() -> Mapping[str, object]:
        """The process answers; no thread is needed for it."""
        return {"status": "ok"}

    @router.get("/readyz", response_model=HealthAnswer)
    def ready() -> Mapping[str, object]:
        """The encoder encodes, a collection opens, the disk has room; 503 with what does not, or stopping."""
        missing = readiness.missing()
        if missing is not None:
            raise TryLater(503, "not_ready", f"Not ready: {missing}.", _AGAIN_S)
        return {"status": "ok"}

    @router.get("/metrics", include_in_schema=False)
    def figures(key: Annotated[Key, needs("audit")]) -> Response:
        """The figures for Prometheus."""
        # Behind a proxy everybody comes from loopback, so an address excuses nobody from a key.
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return router
