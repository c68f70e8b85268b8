"""How many answers are written at once, so that slow ones leave threads to searches.

Routes share one pool of 40 threads. A language model may take minutes for each answer; without a bound of
their own, chats would hold every thread, and nothing else would be answered.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, Request

from app.server.quotas.later import TryLater

WAITING_PER_SLOT = 4
"""How many chats may wait for each answer that is written at once."""
_AGAIN_S = 5


class Slots:
    """Room for ``most`` answers at once, and a queue."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._most_waiting = most * WAITING_PER_SLOT
        self._running = self._waiting = 0

    def counts(self) -> Mapping[str, int]:
        """How many are written and how many wait, at any time."""
        return {"running": self._running, "waiting": self._waiting}

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a slot, after those that came before; no thread is held while waiting.

        Raises:
            TryLater: Too many wait already.
        """
        if self._free.locked() and self._waiting >= self._most_waiting:
            raise TryLater(
                503,
                "server_busy",
                f"{self._waiting} chats wait for an answer already. Try again in {_AGAIN_S} s, or let the "
                "operator raise server.answers_at_once.",
                _AGAIN_S,
            )
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._free.release()


async def _slot(request: Request) -> AsyncIterator[None]:
    slots: Slots = request.app.state.slots
    async with slots.one():
        # Who has left while waiting is not worth a model's time.
        if await request.is_disconnected():
            raise TryLater(503, "client_gone", "The client left before its turn.", _AGAIN_S)
        yield


Slot = Annotated[None, Depends(_slot)]
"""A parameter of routes that write answers: they hold a slot until the answer is sent."""
