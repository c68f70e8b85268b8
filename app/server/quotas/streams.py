"""How many streams of events are open at once: each looks at its job again and again."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from app.server.quotas.later import TryLater

MOST_OF_ONE, MOST_OF_ALL = 4, 40
"""Streams of one caller, and of all together."""
_AGAIN_S = 5


class Streams:
    """Counts those that are open, by caller. For one event loop."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    @contextmanager
    def one(self, caller: str) -> Iterator[None]:
        """Hold one of a caller, the id of a key.

        Raises:
            TryLater: The caller, or all together, have too many.
        """
        if self._open[caller] >= MOST_OF_ONE or self._open.total() >= MOST_OF_ALL:
            whose = "This caller follows" if self._open[caller] >= MOST_OF_ONE else "All callers follow"
            raise TryLater(
                429,
                "too_many_streams",
                f"{whose} as many jobs as the server sends events of ({MOST_OF_ONE} for each caller, "
                f"{MOST_OF_ALL} in all). Close one, or try again in {_AGAIN_S} s.",
                _AGAIN_S,
            )
        self._open[caller] += 1
        try:
            yield
        finally:
            self._open[caller] -= 1
            # So that keys that come and go are not remembered.
            self._open += Counter()
