"""The size limit of requests."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.errors import TooLarge, answer_for

BODY_BYTES = 2 * 2**20
"""The largest body that is read, save for documents."""
_OF_DOCUMENTS = re.compile(r"/v1/collections/[^/]+/documents")


class BodyLimit:
    """Answers 413 if a body is larger than ``limit`` bytes, whatever its header says.

    Documents may have ``uploads`` bytes. Their bodies are not read before the caller is known to be allowed
    to send them: a route that reads one meets TooLarge.
    """

    def __init__(self, app: ASGIApp, uploads: int, limit: int = BODY_BYTES) -> None:
        self._app = app
        self._limit, self._uploads = limit, uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the whole body, then pass it on in one piece; stop reading if it is too large."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "POST" and _OF_DOCUMENTS.fullmatch(scope["path"]):
            await self._app(scope, _counted(receive, self._uploads), send)
            return
        body, more = bytearray(), True
        while more and len(body) <= self._limit:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client has gone
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if len(body) > self._limit:
            reason = str(TooLarge(self._limit))
            await answer_for(scope["path"], 413, reason, "request_too_large")(scope, receive, send)
            return
        await self._app(scope, _replayed(bytes(body), receive), send)


def _counted(receive: Receive, limit: int) -> Receive:
    """Receives up to ``limit`` bytes of a body, then raises TooLarge."""
    received = 0

    async def next_message() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise TooLarge(limit)
        return message

    return next_message


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receives the body first, then any later message."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
