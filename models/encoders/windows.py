"""Windows over texts longer than a model reads: arithmetic over half-open ranges of code points."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens ``first`` to ``last`` of a text, and characters ``start`` to ``end`` around them."""

    first: int
    last: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Limits:
    """At most ``tokens`` of total ``size``; neighbors share ``overlap``, at most half, else ValueError."""

    tokens: int
    overlap: int
    size: int | None = None

    def __post_init__(self) -> None:
        if self.tokens < 1 or not 0 <= 2 * self.overlap <= self.tokens:
            raise ValueError(
                f"windows of {self.tokens} tokens cannot overlap by {self.overlap}: "
                "the overlap must be at most half of a window"
            )


def windows(
    length: int, tokens: Sequence[tuple[int, int]], limits: Limits, sizes: Sequence[int] | None = None
) -> list[Window]:
    """Windows over a text of ``length`` characters whose tokens lie at ``tokens``, in order.

    Every token and every character is in a window. Neighbors share ``limits.overlap`` tokens, or
    half of the left one's where ``sizes`` made that shorter than two overlaps. A single token
    larger than ``limits.size`` gets a window of its own: no token is left out. An empty text has
    no window, a text without tokens has one.
    """
    if length == 0:
        return []
    if not tokens:
        return [Window(0, 0, 0, length)]
    made: list[Window] = []
    first = 0
    while True:
        last = _last_that_fits(first, len(tokens), limits, sizes)
        # Before an oversized token, the remaining tokens may already be in the last window.
        if not made or last > made[-1].last:
            # The gap after a window's last token is its own, so no character falls between two.
            start = tokens[first][0] if made else 0
            end = tokens[last][0] if last < len(tokens) else length
            made.append(Window(first, last, start, end))
        if last == len(tokens):
            return made
        first = max(last - limits.overlap, (first + last + 1) // 2)


def _last_that_fits(first: int, n_tokens: int, limits: Limits, sizes: Sequence[int] | None) -> int:
    last = min(first + limits.tokens, n_tokens)
    if sizes is None or limits.size is None:
        return last
    totals = accumulate(sizes[first:last])
    return next((at for at, total in enumerate(totals, first) if at > first and total > limits.size), last)
