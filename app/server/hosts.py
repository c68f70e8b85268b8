"""The host names that the server answers to."""

import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.server.errors import error_answer

HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Host names of this machine. Others are refused, against DNS rebinding."""

_HEADER = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:\[\]]+)(:[0-9]*)?")
REFUSED = (
    "This server does not answer to the host name of this request. Use 127.0.0.1, or set "
    'LETHE_SERVER__HOSTS to a JSON list of allowed names, such as ["lethe.example"], and restart it.'
)


class HostCheck:
    """Answers 400 if the Host header names none of ``hosts``, with any port."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = {each.lower() for each in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests with an allowed host name."""
        if scope["type"] == "http":
            found = _HEADER.fullmatch(Headers(scope=scope).get("host", "").lower())
            if found is None or found["name"] not in self._hosts:
                await error_answer(400, REFUSED, "host_not_allowed")(scope, receive, send)
                return
        await self._app(scope, receive, send)
