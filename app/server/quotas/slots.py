"""How many requests for a model run at once, so that slow ones leave threads to all others.

Routes share one pool of 40 threads, which looks up keys and writes the trail too. A language model may take
minutes for each answer, and long texts are sanitized one after the other; without bounds of their own they
would hold every thread, and nothing else would be answered.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Depends, Request

from app.server.quotas.later import TryLater

WAITING_PER_SLOT = 4
"""How many requests may wait for each that runs."""
MODELS_AT_ONCE = 2
"""Requests that find, sanitize, encode or erase at once: they share the cores, so more are no faster."""
UPLOADS_AT_ONCE = 2
"""Uploads that are in memory at once."""
_AGAIN_S = 5


class Slots:
    """Room for ``most`` requests at once, and a queue. A refusal says what waits, and a further remedy."""

    def __init__(self, most: int, what: str, remedy: str = "") -> None:
        self._free = asyncio.Semaphore(most)
        self._most_waiting = most * WAITING_PER_SLOT
        self._what, self._remedy = what, remedy
        self._running = self._waiting = 0

    def counts(self) -> Mapping[str, int]:
        """How many run and how many wait, at any time."""
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
                f"{self._waiting} {self._what} wait for an answer already. Try again in {_AGAIN_S} s"
                f"{self._remedy}.",
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


def _holds(kind: str) -> Any:
    """A dependency: a slot of the app's ``kind``, held until the answer is sent."""

    async def slot(request: Request) -> AsyncIterator[None]:
        slots: Slots = getattr(request.app.state, kind)
        async with slots.one():
            # Who has left while waiting is not worth a model's time.
            if await request.is_disconnected():
                raise TryLater(503, "client_gone", "The client left before its turn.", _AGAIN_S)
            yield

    return Depends(slot)


# Dependencies are asked in the order of parameters: behind that of the key, so that no stranger waits here.
Slot = Annotated[None, _holds("slots")]
"""A parameter of routes that write answers, behind the key."""
ModelSlot = Annotated[None, _holds("model_slots")]
"""A parameter of other routes that run a model, save for searches, behind the key."""


async def _turn(request: Request) -> AsyncIterator[None]:
    uploads: asyncio.Semaphore = request.app.state.uploads
    async with uploads:
        yield


UploadTurn = Annotated[None, Depends(_turn)]
"""A parameter of routes that read uploads, behind the key: those that wait hold no memory and no thread."""
