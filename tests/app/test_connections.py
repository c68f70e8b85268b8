"""Connections that keep the real server waiting, over real sockets."""

import select
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest

from app.server.connections import BYTES_A_SECOND
from tests.commands import PLAIN, lethe
from tests.serving import Served, served

SECONDS = 2.0
HEAD = b"POST /v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
HALF_HEAD = HEAD + b"x-more: "
HALF_BODY = HEAD + b'content-length: 500\r\n\r\n{"question": "'
WHOLE = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n"


@contextmanager
def server(tmp_path: Path, seconds: float = SECONDS, **variables: str) -> Iterator[Served]:
    data = tmp_path / "data"
    data.mkdir(exist_ok=True)
    chosen = {f"LETHE_SERVER__{name}": value for name, value in variables.items()}
    chosen |= PLAIN | {"LETHE_SERVER__REQUEST_SECONDS": str(seconds)}
    with served(data, "--port", "0", **chosen) as running, running.client() as client:
        assert client.get("/readyz").status_code == 200
        yield running


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with server(tmp_path_factory.mktemp("connections")) as running:
        yield running


def opened(running: Served, sent: bytes, source: str = "127.0.0.1") -> socket.socket:
    url = httpx.URL(running.url)
    made = socket.create_connection((url.host, url.port or 80), timeout=20, source_address=(source, 0))
    made.sendall(sent)
    return made


def until_closed(connection: socket.socket, drip: bytes = b"") -> tuple[bytes, float]:
    """All that the server says until it closes, while a little more is sent, and the seconds."""
    said, began = b"", time.monotonic()
    with suppress(ConnectionError):
        while time.monotonic() - began < 10 * SECONDS:
            if select.select([connection], [], [], 0.2)[0]:
                more = connection.recv(4096)
                if not more:
                    break
                said += more
            else:
                connection.sendall(drip)
    return said, time.monotonic() - began


def held(running: Served) -> int:
    """The connections that the server holds."""
    found = psutil.Process(running.process.pid).net_connections()
    return sum(each.status == psutil.CONN_ESTABLISHED for each in found)


@pytest.mark.parametrize("drip", [b"", b"a"], ids=["nothing", "drips"])
@pytest.mark.parametrize("sent", [b"", HALF_HEAD, HALF_BODY, WHOLE + HALF_HEAD, WHOLE + HALF_BODY])
def test_a_request_that_does_not_come_is_given_up_in_time(usual: Served, sent: bytes, drip: bytes) -> None:
    with opened(usual, sent) as slow:
        said, seconds = until_closed(slow, drip)
    assert SECONDS * 0.9 < seconds < SECONDS * 2
    # Who has sent nothing may not want anything: nothing is said to it.
    assert said.count(b"HTTP/1.1 408 Request Timeout") == bool(sent or drip)
    assert said.count(b"HTTP/1.1 200 OK") == sent.startswith(WHOLE)
    assert said.endswith(b"Send it again, at once or faster.\n") == bool(sent or drip)


def test_a_body_may_come_slowly_and_with_pauses(usual: Served) -> None:
    part = b"x" * int(1.5 * BYTES_A_SECOND * SECONDS / 4)
    with opened(usual, HEAD + b"content-length: %d\r\n\r\n" % (12 * len(part))) as slow:
        for _ in range(12):
            slow.sendall(part)
            time.sleep(SECONDS / 4)
        said = slow.recv(4096)
    # What has come is no JSON, and that is all that is wrong with it.
    assert said.startswith(b"HTTP/1.1 400"), said
    assert b"request_too_slow" not in said


def test_who_waits_for_its_turn_is_not_given_up(usual: Served) -> None:
    """Two uploads that come slowly hold both places of those that are read; the third is not to blame."""

    def slowly() -> Iterator[bytes]:
        for _ in range(12):
            yield b" " * int(BYTES_A_SECOND * SECONDS / 2)
            time.sleep(SECONDS / 4)

    with usual.client(headers={"content-type": "application/json"}) as client, ThreadPoolExecutor(3) as pool:
        upload = partial(client.post, "/v1/collections/notes/documents")
        slow = [pool.submit(upload, content=slowly()) for _ in range(2)]
        time.sleep(SECONDS / 4)
        began = time.monotonic()
        third = upload(content=b" " * 2**20)
        assert time.monotonic() - began > 1.5 * SECONDS
        assert [each.result().status_code for each in slow] == [400, 400]
        assert (third.status_code, third.json()["code"]) == (400, "invalid_json")


def counted(running: Served, source: str) -> int:
    """How many of many half-open connections from one address the server keeps; others are answered."""
    with ExitStack() as stack, running.client() as client:
        for number in range(200):
            sent = HALF_BODY if number % 2 else HALF_HEAD
            stack.enter_context(opened(running, sent, source))
        answered = [client.get("/livez").status_code for _ in range(20)]
        # A new client from the same address is answered too.
        with opened(running, WHOLE, source) as honest:
            assert honest.recv(4096).startswith(b"HTTP/1.1 200 OK")
        assert answered == [200] * 20
        return held(running) - 1


MOST = 40


def test_an_address_keeps_a_share_of_the_connections_and_a_proxy_all(tmp_path: Path) -> None:
    with server(tmp_path, 30, CONNECTIONS=str(MOST)) as running:
        assert MOST // 2 - 3 <= counted(running, "127.0.0.2") <= MOST // 2 + 1
    assert lethe(tmp_path / "data", "keys", "create", "ward", "--scope", "query").code == 0
    with server(tmp_path, 30, CONNECTIONS=str(MOST), HOSTS='["lethe.example"]') as running:
        assert MOST - 3 <= counted(running, "127.0.0.2") <= MOST + 1


def test_idle_connections_make_room_for_those_that_ask(tmp_path: Path) -> None:
    with server(tmp_path, CONNECTIONS=str(MOST)) as running, ExitStack() as stack:
        for number in range(2 * MOST):
            idle = stack.enter_context(opened(running, WHOLE, f"127.0.0.{2 + number}"))
            assert idle.recv(4096).startswith(b"HTTP/1.1 200 OK")
        assert held(running) <= MOST + 1
