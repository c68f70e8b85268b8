"""What every request passes first: its id, its figures, and the headers of every answer."""

import asyncio
import time
import uuid
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.errors import answer_for, told
from app.server.middleware.answered import Answered
from app.server.middleware.metrics import Metrics
from app.server.quotas.later import TryLater

ID_HEADER = "x-request-id"
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    # Answers hold words of documents; a page that may be kept says so itself.
    "cache-control": "no-store",
}
"""Headers of every answer that does not set them itself."""


class Watch:
    """Gives each request an id, answers errors that nobody foresaw, and tells what became of it.

    The id is always a new one: one that a client has chosen could say something.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, log: Callable[[Answered], None] | None) -> None:
        self._app, self._metrics, self._log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and watch it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Watched(receive, send)
        scope.setdefault("state", {})["request_id"] = request.id
        with self._metrics.in_flight.track_inprogress():
            try:
                await self._answer(request, scope)
            finally:
                self._tell(request.over(scope))

    async def _answer(self, request: "_Watched", scope: Scope) -> None:
        try:
            await self._app(scope, request.receive, request.send)
        except asyncio.CancelledError:
            # Only the end of the server cancels a request.
            if request.status is None:
                message = "The server stops. Try again in a moment."
                answer = answer_for(scope["path"], 503, message, "stopping", headers={"retry-after": "5"})
                await answer(scope, request.receive, request.send)
            raise
        except Exception as error:
            request.error = type(error).__name__
            if request.status is not None:
                raise  # an answer that has begun can only be cut
            message = (
                f"Internal error {request.error}. Try again, or tell the operator the request id "
                f"{request.id}."
            )
            answer = answer_for(scope["path"], 500, message, "internal_error")
            await answer(scope, request.receive, request.send)

    def _tell(self, answered: Answered) -> None:
        self._metrics.count(answered)
        if self._log is not None:
            self._log(answered)


def try_later(request: Request, error: Exception) -> Response:
    """The answer to a request that may come again."""
    assert isinstance(error, TryLater)
    headers = {"retry-after": str(error.seconds)}
    return answer_for(request.url.path, error.status, told(request.app, error), error.code, headers=headers)


class _Watched:
    """A request under way: counts what passes, and sets the headers of its answer."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.id = uuid.uuid4().hex
        self.status: int | None = None
        self.error: str | None = None
        self._receive, self._send = receive, send
        self._began = time.perf_counter()
        self._bytes_in = self._bytes_out = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._bytes_in += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[ID_HEADER] = self.id
            for name, value in SAFE.items():
                headers.setdefault(name, value)
        self._bytes_out += len(message.get("body", b""))
        await self._send(message)

    def over(self, scope: Scope) -> Answered:
        route = getattr(scope.get("route"), "path", "other")
        return Answered(
            request_id=self.id,
            method=scope["method"] if scope["method"] in METHODS else "other",
            route=route,
            status=self.status,
            seconds=time.perf_counter() - self._began,
            bytes_in=self._bytes_in,
            bytes_out=self._bytes_out,
            key_id=scope["state"].get("key_id"),
            error=self.error,
        )
