"""Serving an app in a process until it is asked to end."""

import asyncio
import fcntl
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import cast

import uvicorn
from fastapi import FastAPI

from app.server.connections import Connection, Waiting
from app.settings.load import ServerSettings
from ingest.private_files import private_folder
from models.errors import LetheError

HANDING_BACK_S = 8.0
"""How long from the signal on jobs may take to be handed back, if that is more."""
LEAVING_S = 1.0
"""How long after that a model that is still writing may hold the process."""
IDLE_S = 130
"""How long a connection may be idle.

Longer than clients and proxies keep one: who closes first must be who would send next, else a request meets a
connection that is just being closed.
"""


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """The only server of a data folder: two would work on the same jobs.

    Raises:
        LetheError: Another is there, or the folder cannot be written.
    """
    try:
        private_folder(folder)
        opened = os.fdopen(os.open(folder / "server.lock", os.O_WRONLY | os.O_CREAT, 0o600), "w")
    except OSError as error:
        raise LetheError(f"{folder}: {_reason(error)}. Set a data folder that you may write in.") from None
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LetheError(
                f"{folder}: another server serves this data folder. End it first, or give this one a folder "
                "of its own with --data-dir."
            ) from None
        yield


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket, opened first so that its port is known.

    Raises:
        LetheError: The address is not available.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Told anew what protocol it has: asyncio sends at once only on sockets that say so, and a client that
        # confirms late would get each answer 40 ms later.
        listener = socket.socket(fileno=socket.create_server((host, port), family=family).detach())
    except OSError as error:
        raise LetheError(
            f"server.port: cannot listen on {host}:{port} ({_reason(error)}). "
            "Choose another port with --port; 0 takes a free one."
        ) from None
    with listener:
        yield listener


def url_of(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    app: FastAPI,
    listener: socket.socket,
    where: ServerSettings | None = None,
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Answer until SIGINT or SIGTERM, then let running requests finish for a moment and return.

    ``where`` bounds how long and how many connections wait for their clients, and how long the end takes: the
    event ``app.state.stopping`` is set first, and ``on_stop`` begins in a thread of its own. All is answered
    for ``drain_seconds`` more; then no connection is taken any more, and running requests have
    ``finish_seconds`` to end. ``on_stop`` has as long as both together, or ``HANDING_BACK_S``.

    A model cannot be stopped in the middle of an answer. Where one still writes when its time is over,
    the process is ended with exit code 0 under it; nothing that it works on is written anywhere.
    """
    where = where or ServerSettings()
    drain_s, finish_s = where.drain_seconds, where.finish_seconds
    # Behind a proxy all clients have one address.
    of_one = None if where.hosts else where.connections // 2
    waiting = Waiting(where.connections, of_one, where.request_seconds)
    # Nothing is logged: a traceback could quote what was asked. Errors are answered instead.
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", partial(Connection, waiting)),
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=finish_s,
        timeout_keep_alive=IDLE_S,
    )
    handing_back = threading.Thread(target=_quietly, args=(on_stop,), daemon=True)

    def begin() -> None:
        app.state.stopping.set()
        handing_back.start()

    server = _Server(config, begin, drain_s, waiting)

    def stop(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    # uvicorn raises the signal that ended it once more; it must meet us then, not the default that kills.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if handing_back.is_alive():
        until = server.stopped + max(drain_s + finish_s, HANDING_BACK_S)
        handing_back.join(max(0.0, until - time.monotonic()))
    _leave_soon()


class _Server(uvicorn.Server):
    """Tells that it is about to stop, and goes on for a while before it does; looks at who waits."""

    stopped = 0.0

    def __init__(
        self, config: uvicorn.Config, begin: Callable[[], None], drain_s: float, waiting: Waiting
    ) -> None:
        super().__init__(config)
        self._begin, self._drain_s, self._waiting = begin, drain_s, waiting

    async def on_tick(self, counter: int) -> bool:
        """Look at the connections, ten times a second; whether to stop."""
        self._waiting.look()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to stop, then stop. A second SIGINT ends the wait."""
        self.stopped = time.monotonic()
        self._begin()
        while time.monotonic() < self.stopped + self._drain_s and not self.force_exit:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)


def _quietly(on_stop: Callable[[], None] | None) -> None:
    """Run it, and name what it raises by type alone: a traceback could quote a document."""
    try:
        if on_stop is not None:
            on_stop()
    except Exception as error:
        sys.stderr.write(f"lethe: jobs were not handed back in order ({type(error).__name__})\n")


def _leave_soon() -> None:
    """End the process in a second if a worker thread would hold it longer."""
    if any(not each.daemon and each is not threading.main_thread() for each in threading.enumerate()):
        timer = threading.Timer(LEAVING_S, os._exit, [0])
        timer.daemon = True
        timer.start()


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno and error.errno > 0 else type(error).__name__
