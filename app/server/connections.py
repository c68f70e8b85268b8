"""Connections that keep the server waiting: how long, and how many at once.

A connection waits for its client until a whole request has come, and again once it is answered. While a
request is answered, nothing here closes it.
"""

import asyncio
import time
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

BYTES_A_SECOND = 8 * 2**10
"""The slowest that a body may come for long: that of a line of 64 kbit/s."""
_TOO_SLOW = b"The request did not come in time. Send it again, at once or faster.\n"


class Waiting:
    """The connections that wait for their clients, those that do so the longest first.

    Beyond ``most`` of them, or ``most_of_one`` of one address (None for any number), the one that waits the
    longest is closed. ``seconds`` are those in which the head of a request must have come, and for which its
    body may pause, or lag behind ``BYTES_A_SECOND``.
    """

    def __init__(self, most: int, most_of_one: int | None, seconds: float) -> None:
        self._most, self._most_of_one, self.seconds = most, most_of_one, seconds
        self._until: dict[Connection, float] = {}
        self._of = Counter[str]()

    def __len__(self) -> int:
        return len(self._until)

    def begin(self, connection: "Connection", until: float) -> None:
        """A connection waits from now on, and is given up when its time is over."""
        self.end(connection)
        self._until[connection] = until
        self._of[connection.address] += 1
        if len(self._until) > self._most:
            self._give_up(next(iter(self._until)))
        elif self._most_of_one is not None and self._of[connection.address] > self._most_of_one:
            self._give_up(next(each for each in self._until if each.address == connection.address))

    def go_on(self, connection: "Connection", received: int) -> None:
        """More of a body has come, which buys time."""
        now = time.monotonic()
        bought = max(self._until[connection], now) + received / BYTES_A_SECOND
        self._until[connection] = min(bought, now + self.seconds)

    def end(self, connection: "Connection") -> None:
        """A connection waits no more."""
        if self._until.pop(connection, None) is not None:
            self._of[connection.address] -= 1
            if not self._of[connection.address]:
                # So that addresses that come and go are not remembered.
                del self._of[connection.address]

    def look(self) -> None:
        """Give up those whose time is over."""
        now = time.monotonic()
        for connection, until in [*self._until.items()]:
            if connection.held_up():
                self._until[connection] = now + self.seconds
            elif until < now:
                self._give_up(connection)

    def _give_up(self, connection: "Connection") -> None:
        self.end(connection)
        connection.give_up()


class Connection(H11Protocol):
    """A connection that counts among those that wait, as long as it does."""

    def __init__(self, waiting: Waiting, **given: Any) -> None:
        super().__init__(**given)
        self._waiting = waiting
        self._state = ""
        self.address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._enter("head")

    def data_received(self, data: bytes) -> None:
        """Wait for what is missing of the request, if anything is."""
        if self._state == "idle":
            self._enter("head")
        super().data_received(data)
        if self._state == "body" and self._now() == "body":
            self._waiting.go_on(self, len(data))
        else:
            self._enter(self._now())

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        idle = self._now() == "head" and not self.conn.trailing_data[0]
        self._enter("idle" if idle else self._now())

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._enter("closed")
        super().connection_lost(exc)

    def held_up(self) -> bool:
        """Whether it is the server that takes no more of a body for now."""
        return self._state == "body" and (
            self.flow.read_paused or self.conn.they_are_waiting_for_100_continue
        )

    def give_up(self) -> None:
        """Close it, and say why to a client that has begun a request."""
        state, self._state = self._state, "closed"
        begun = self.conn.trailing_data[0] if state == "head" else state == "body"
        if begun and not (state == "body" and self.cycle.response_started):
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: text/plain\r\n"
                b"content-length: %d\r\n\r\n%b" % (len(_TOO_SLOW), _TOO_SLOW)
            )
        self.transport.close()

    def _now(self) -> str:
        if self.transport.is_closing():
            return "closed"
        if self.cycle is None or self.cycle.response_complete:
            return "head"
        return "body" if self.cycle.more_body else "answered"

    def _enter(self, state: str) -> None:
        if state == self._state or self._state == "closed":
            return
        self._state = state
        if state in ("head", "body"):
            self._waiting.begin(self, time.monotonic() + self._waiting.seconds)
        elif state == "idle":
            # The server's own clock for those that are idle closes it.
            self._waiting.begin(self, float("inf"))
        else:
            self._waiting.end(self)
