"""The host names that the server answers to."""

import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.server.errors import answer_for

HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Host names of this machine. Others are refused, against DNS rebinding."""

_HEADER = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:\[\]]+)(:[0-9]*)?")
REFUSED = (
    "This server does not answer to the host name of this request. Use 127.0.0.1, or set "
    'LETHE_SERVER__HOSTS to a JSON list of allowed names, such as ["lethe.example"], and restart it.'
)


FOREIGN = (
    "This request comes from a page of another site. Send it from this server's own page, or without Origin."
)


class HostCheck:
    """Answers 400 if the Host header names none of ``hosts``, with any port, and 403 to pages of other sites.

    A form of any page may be sent here by the browser that shows it; such a request names the page's origin.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = {each.lower() for each in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests with an allowed host name."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            host, origin = headers.get("host", "").lower(), headers.get("origin", "").lower()
            found = _HEADER.fullmatch(host)
            if found is None or found["name"] not in self._hosts:
                await answer_for(scope["path"], 400, REFUSED, "host_not_allowed")(scope, receive, send)
                return
            if origin and origin.partition("://")[2] != host:
                await answer_for(scope["path"], 403, FOREIGN, "foreign_origin")(scope, receive, send)
                return
        await self._app(scope, receive, send)
