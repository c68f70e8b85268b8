"""The route of the trail: who did what, and whether the chain of entries holds."""

from collections.abc import Mapping
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic_core import from_json

from app.access.trail import Trail
from app.server.access import Auditing
from app.server.answers import TrailAnswer, TrailEntryAnswer
from retrieval.store.chain import Link

_LARGEST = 2**63 - 1
"""The largest number that the database can compare."""


def trail_routes(trail: Trail) -> APIRouter:
    """The trail of a data folder."""
    router = APIRouter()
    checked = _Checked(trail)

    @router.get("/v1/trail", response_model=TrailAnswer)
    def entries(
        key: Auditing,
        after: Annotated[int, Query(ge=0, le=_LARGEST, description="a number: entries behind it")] = 0,
        before: Annotated[int, Query(ge=0, le=_LARGEST, description="entries before this number")] = _LARGEST,
        most: Annotated[int, Query(ge=1, le=1000)] = 100,
        newest: Annotated[bool, Query(description="whether the newest come first")] = False,
        collection: Annotated[str | None, Query(max_length=64, description="entries that name it")] = None,
    ) -> Mapping[str, object]:
        """Who did what, the oldest first; a key for some collections sees what was done with these."""
        asked = key.collections
        if collection is not None:
            # One that is deleted by now is in the trail all the same.
            asked = frozenset({collection} if key.allows("audit", collection) else ())
        found = [_entry(link) for link in trail.between(after, before, most, asked, newest=newest)]
        head, broken = checked()
        return {
            "entries": found,
            "head": {"entry": head.number if head else 0, "digest": head.digest if head else ""},
            "whole": broken is None,
            "first_broken": broken,
        }

    return router


class _Checked:
    """The head of the trail, and the first entry that does not fit, looked for once for each head.

    A head that once held is remembered: a trail that loses its end while the server runs is broken.
    """

    def __init__(self, trail: Trail) -> None:
        self._trail, self._lock = trail, Lock()
        self._held: tuple[int, str] | None = None
        self._last: tuple[Link | None, int | None] | None = None

    def __call__(self) -> tuple[Link | None, int | None]:
        # Others wait for the one that looks: side by side they would read the same chain.
        with self._lock:
            head = self._trail.head()
            if self._last is None or self._last[0] != head:
                broken = self._trail.first_broken(self._held)
                if head and broken is None:
                    self._held = head.number, head.digest
                self._last = head, broken
            return self._last


def _entry(link: Link) -> TrailEntryAnswer:
    kept = {"entry": link.number, "at": link.at, "digest": link.digest}
    try:
        return TrailEntryAnswer.model_validate({**from_json(link.event), **kept})
    except (ValueError, TypeError):
        # It was written over; the chain says so, and the others are to be seen all the same.
        return TrailEntryAnswer.model_validate(kept)
