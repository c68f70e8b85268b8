"""Long texts for models that read few words: the windows, and what was found in them.

Pure arithmetic over offsets. All ranges are half-open and count code points of the whole text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens ``first`` to ``last`` of a text, and characters ``start`` to ``end`` around them."""

    first: int
    last: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """Characters ``start`` to ``end`` carry ``label``, with a score in [0, 1]."""

    start: int
    end: int
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What a window may hold: at most ``tokens`` tokens, of total size at most ``size``.

    ``overlap`` is how many tokens two neighbors share. Raises ``ValueError`` unless
    0 <= 2 * overlap <= tokens.
    """

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
    length: int,
    tokens: Sequence[tuple[int, int]],
    limits: Limits,
    sizes: Sequence[int] | None = None,
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
        # The gap after a window's last token is its own, so no character falls between two.
        start = tokens[first][0] if made else 0
        end = tokens[last][0] if last < len(tokens) else length
        # Before a token that needs a window of its own, what is left may be in the last one whole.
        if not made or last > made[-1].last:
            made.append(Window(first, last, start, end))
        if last == len(tokens):
            return made
        first = max(last - limits.overlap, (first + last + 1) // 2)


def _last_that_fits(first: int, n_tokens: int, limits: Limits, sizes: Sequence[int] | None) -> int:
    last = min(first + limits.tokens, n_tokens)
    if sizes is None or limits.size is None:
        return last
    total = sizes[first]
    for position in range(first + 1, last):
        total += sizes[position]
        if total > limits.size:
            return position
    return last


def merge(
    found: Iterable[tuple[Window, Sequence[FoundSpan]]], tokens: Sequence[tuple[int, int]]
) -> list[FoundSpan]:
    """What the windows over ``tokens`` found, in offsets of the whole text, as one list by start.

    The union: a character that any window marked stays marked. To ask only the window where a span
    is farther from the edge would forget what just the other one saw, and what a detector forgets
    is published. A span that touches the inner edge of its window may be a fragment, so it is
    joined with any span of its label that overlaps it, and takes the higher score. Thus a span no
    longer than the overlap that crosses an edge comes out whole, as its other window sees it all.
    """
    pieces = [(span, _is_cut(span, window, tokens)) for window, spans in found for span in spans]
    pieces.sort(key=lambda piece: (piece[0].label, piece[0].start, -piece[0].end, piece[1]))
    joined = [span for _, same in groupby(pieces, key=lambda piece: piece[0].label) for span in _join(same)]
    return sorted(joined, key=lambda span: (span.start, span.end, span.label))


def _is_cut(span: FoundSpan, window: Window, tokens: Sequence[tuple[int, int]]) -> bool:
    return (window.first > 0 and span.start <= tokens[window.first][0]) or (
        window.last < len(tokens) and span.end >= tokens[window.last - 1][1]
    )


def _join(pieces: Iterable[tuple[FoundSpan, bool]]) -> list[FoundSpan]:
    """Join the fragments among spans of one label, sorted by start."""
    joined: list[tuple[FoundSpan, bool]] = []
    for span, cut in pieces:
        if joined and _same_span(joined[-1], (span, cut)):
            last, last_cut = joined[-1]
            hull = replace(last, end=max(last.end, span.end), score=max(last.score, span.score))
            joined[-1] = (hull, cut and last_cut)
        else:
            joined.append((span, cut))
    return [span for span, _ in joined]


def _same_span(one: tuple[FoundSpan, bool], other: tuple[FoundSpan, bool]) -> bool:
    (left, left_cut), (right, right_cut) = one, other
    if (left.start, left.end) == (right.start, right.end):
        return True
    return (left_cut or right_cut) and right.start < left.end
