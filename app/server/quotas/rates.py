"""How many requests a caller may send in a minute."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from app.server.quotas.later import TryLater

OTHERS_PER_MINUTE = 600
"""The limit where the settings name none and others than this machine can reach the server."""
MOST_CALLERS = 10_000
"""How many callers are remembered; the one that was silent longest is forgotten first."""
_ROUNDING = 1e-6


class Rates:
    """A bucket of tokens for each caller, refilled as time passes. Safe to share between threads.

    A caller may send ``per_minute`` requests at once, or spread over a minute. None sets no limit.
    """

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute, self._clock = per_minute, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """The callers that are remembered."""
        return len(self._buckets)

    def take(self, caller: str) -> None:
        """Count a request of ``caller``, the id of a key or an address.

        Raises:
            TryLater: It has sent too many.
        """
        if self._per_minute is None:
            return
        refill = self._per_minute / 60
        with self._lock:
            now = self._clock()
            tokens, before = self._buckets.pop(caller, (float(self._per_minute), now))
            tokens = min(self._per_minute, tokens + (now - before) * refill)
            # Sums of sixtieths fall short of the whole, and who waited as long as was said is let through.
            enough = tokens >= 1 - _ROUNDING
            self._buckets[caller] = (tokens - 1 if enough else tokens, now)
            if len(self._buckets) > MOST_CALLERS:
                self._buckets.popitem(last=False)
        if not enough:
            wait = math.ceil((1 - tokens) / refill)
            raise TryLater(
                429,
                "rate_limit_exceeded",
                f"This caller has sent more than {self._per_minute} requests in a minute. Try again in "
                f"{wait} s, or let the operator raise server.requests_per_minute.",
                wait,
            )
