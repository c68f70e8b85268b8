"""Serving an app in a process until it is asked to end."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fastapi import FastAPI

from models.errors import LetheError

FINISHING_S = 2
"""How long running requests may take to finish once the server is ending."""
LEAVING_S = 1.0
"""How long after that a model that is still writing may hold the process."""


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket, opened first so that its port is known.

    Raises:
        LetheError: The address is not available.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family)
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


def serve(app: FastAPI, listener: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM, then let running requests finish for a moment and return.

    A model cannot be stopped in the middle of an answer. Where one still writes when its time is over,
    the process is ended with exit code 0 under it; nothing that it works on is written anywhere.
    """
    import uvicorn

    # Nothing is logged: a traceback could quote what was asked. Errors are answered instead.
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=FINISHING_S,
    )
    server = uvicorn.Server(config)

    def stop(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    # uvicorn raises the signal that ended it once more; it must meet us then, not the default that kills.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    _leave_soon()


def _leave_soon() -> None:
    """End the process in a second if a worker thread would hold it longer."""
    if any(not each.daemon and each is not threading.main_thread() for each in threading.enumerate()):
        timer = threading.Timer(LEAVING_S, os._exit, [0])
        timer.daemon = True
        timer.start()


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno and error.errno > 0 else type(error).__name__
