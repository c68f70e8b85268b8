"""An entry in the trail for each request, before its answer goes out."""

from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.trail import FAILED, TrailNotWritten
from app.server.errors import STATUS, answer_for, told
from app.server.middleware.noted import CURRENT, Noted


class Trailing:
    """Writes what became of a request; an answer that the trail would not hold is withheld.

    ``app.state.trail`` makes a ``Noted`` for each request; without it nothing is written.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note it."""
        make = getattr(scope["app"].state, "trail", None) if scope["type"] == "http" else None
        if make is None:
            await self._app(scope, receive, send)
            return
        answer = _Answer(make(), scope, receive, send)
        before = CURRENT.set(answer.noted)
        try:
            await self._app(scope, receive, answer.send)
        except BaseException:
            # Nothing is answered that this could hold back. Without waiting: the request may be cancelled.
            if not answer.begun:
                with suppress(TrailNotWritten):
                    answer.noted.write(FAILED)
            raise
        finally:
            CURRENT.reset(before)


class _Answer:
    """An answer under way."""

    def __init__(self, noted: Noted, scope: Scope, receive: Receive, send: Send) -> None:
        self.noted = noted
        self.begun = False
        self._withheld = False
        self._scope, self._receive, self._send = scope, receive, send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            try:
                await run_in_threadpool(self.noted.write, message["status"])
            except TrailNotWritten as error:
                self._withheld = True
                status, code = STATUS[TrailNotWritten]
                refusal = answer_for(self._scope["path"], status, told(self._scope["app"], error), code)
                await refusal(self._scope, self._receive, self._send)
        if not self._withheld:
            await self._send(message)
