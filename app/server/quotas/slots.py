"""How many requests for a model run at once, so that slow ones leave threads to all others.

Routes share one pool of 40 threads, which looks up keys and writes the trail too. A language model may take
minutes for each answer, and long texts are sanitized one after the other; without bounds of their own they
would hold every thread, and nothing else would be answered.

Those that wait are taken in their order. A key may have half of the places to wait in, so that none keeps all
others out. Callers without keys are one, and have all.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Annotated, Any
from weakref import WeakValueDictionary

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
        self._waiting_of = Counter[str | None]()

    def counts(self) -> Mapping[str, int]:
        """How many run and how many wait, at any time."""
        return {"running": self._running, "waiting": self._waiting}

    @asynccontextmanager
    async def one(self, caller: str | None) -> AsyncIterator[None]:
        """Hold a slot, after those that came before; no thread is held while waiting.

        ``caller`` is the id of a key, None where there is none.

        Raises:
            TryLater: Too many wait already, of the caller or of all.
        """
        if self._free.locked():
            self._check(caller)
        self._waiting += 1
        self._waiting_of[caller] += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
            self._waiting_of[caller] -= 1
            # So that keys that come and go are not remembered.
            self._waiting_of += Counter()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._free.release()

    def _check(self, caller: str | None) -> None:
        own = self._waiting_of[caller]
        if caller is not None and own >= max(1, self._most_waiting // 2):
            said = f"{own} {self._what} of this caller wait already, the most of one caller"
        elif self._waiting >= self._most_waiting:
            said = f"{self._waiting} {self._what} of all callers wait already"
        else:
            return
        again = f"Try again in {_AGAIN_S} s{self._remedy}."
        raise TryLater(503, "server_busy", f"{said}. {again}", _AGAIN_S)


class UploadSlots:
    """Room for ``UPLOADS_AT_ONCE``, one of each key: who sends slowly keeps only itself waiting."""

    def __init__(self) -> None:
        self.free = asyncio.Semaphore(UPLOADS_AT_ONCE)
        self._of = WeakValueDictionary[str, asyncio.Lock]()

    @asynccontextmanager
    async def one(self, caller: str | None) -> AsyncIterator[None]:
        """Hold a place, after other uploads of the key and those that came before; None stands for no key."""
        own = nullcontext() if caller is None else self._of.setdefault(caller, asyncio.Lock())
        async with own, self.free:
            yield


def _holds(kind: str) -> Any:
    """A dependency: a slot of the app's ``kind``, held until the answer is sent; none where it has none."""

    async def slot(request: Request) -> AsyncIterator[None]:
        slots: Slots | None = getattr(request.app.state, kind)
        if slots is None:
            yield
            return
        async with slots.one(getattr(request.state, "key_id", None)):
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
SearchSlot = Annotated[None, _holds("search_slots")]
"""A parameter of searches, behind the key: they hold one where more than the encoder runs."""


async def _turn(request: Request) -> AsyncIterator[None]:
    uploads: UploadSlots = request.app.state.uploads
    async with uploads.one(request.state.key_id):
        yield


UploadTurn = Annotated[None, Depends(_turn)]
"""A parameter of routes that read uploads, behind the key: those that wait hold no memory and no thread."""
