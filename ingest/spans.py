"""Span arithmetic: the only place where characters are counted."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TypeVar

from ingest.documents import Action, Decision, Span

Replacement = tuple[Span, str]
Item = TypeVar("Item")


def joined(
    items: Iterable[Item], meet: Callable[[Item, Item], bool], join: Callable[[Item, Item], Item]
) -> list[Item]:
    """Items in order, with adjacent items that meet joined into one."""
    result: list[Item] = []
    for item in items:
        if result and meet(result[-1], item):
            result[-1] = join(result[-1], item)
        else:
            result.append(item)
    return result


def resolve(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions that replace text, without overlaps, in text order.

    Overlapping decisions merge into one over their union, and the strictest action wins. So every character
    that any decision would replace is replaced, nested or not. Decisions are resolved rather than entities,
    because a name nested in a longer phrase must not be dropped before it is decided.
    """
    acting = sorted((d for d in decisions if d.action is not Action.KEEP), key=_order)
    return joined(acting, lambda one, other: one.entity.span.overlaps(other.entity.span), _merge)


def _order(decision: Decision) -> tuple[int, int, int, str, str, float, str, int]:
    entity = decision.entity
    return (
        entity.span.start,
        -entity.span.end,
        -decision.action.strictness,
        entity.label,
        entity.identifier,
        -entity.confidence,
        entity.source,
        entity.link,
    )


def _merge(one: Decision, other: Decision) -> Decision:
    strictest = max(one, other, key=lambda d: d.action.strictness)
    union = union_of(one.entity.span, other.entity.span)
    return replace(strictest, entity=replace(strictest.entity, span=union))


def union_of(one: Span, other: Span) -> Span:
    """The smallest span that contains both."""
    return Span(min(one.start, other.start), max(one.end, other.end))


def merged(replacements: Iterable[Replacement]) -> list[Replacement]:
    """Disjoint replacements: overlapping ones become their union, with the words of the first."""
    ordered = sorted(replacements, key=lambda pair: (pair[0].start, -pair[0].end))
    return joined(
        ordered,
        lambda one, other: one[0].overlaps(other[0]),
        lambda one, other: (union_of(one[0], other[0]), one[1]),
    )


def substitute(text: str, replacements: Sequence[Replacement]) -> str:
    """Replace disjoint spans of ``text``; everything outside them is unchanged."""
    ordered = sorted(replacements)
    for (left, _), (right, _) in pairwise(ordered):
        if left.overlaps(right):
            raise ValueError(f"overlapping spans {left} and {right}")
    pieces: list[str] = []
    cursor = 0
    for span, words in ordered:
        if span.end > len(text):
            raise ValueError(f"{span} runs past the text, {len(text)} characters long")
        pieces += text[cursor : span.start], words
        cursor = span.end
    return "".join(pieces) + text[cursor:]


Edit = tuple[int, int, int, int]
"""Where something replaced begins and ends in a text, and what stands for it in the new one."""


def moved(place: int, edits: Sequence[Edit], *, after: bool) -> int:
    """Where a place of a text is in the new one, by ordered ``edits``.

    A place within something replaced is where its replacement ends, if ``after``, or where it starts.
    """
    number = bisect_left(edits, place, key=lambda edit: edit[0]) - 1
    if number < 0:
        return place
    _, end, start, stop = edits[number]
    return stop + place - end if place >= end else stop if after else start


class Shift:
    """Maps offsets of a text to offsets after ``substitute`` with the same replacements."""

    def __init__(self, replacements: Sequence[Replacement]) -> None:
        self._ordered = sorted(replacements)
        self._starts = [span.start for span, _ in self._ordered]
        growth = (len(words) - len(span) for span, words in self._ordered)
        self._growth = [0, *accumulate(growth)]

    def __call__(self, span: Span) -> Span | None:
        """The span in the new text, or None if a replacement touches it."""
        before = bisect_right(self._starts, span.start)
        if before and self._ordered[before - 1][0].overlaps(span):
            return None
        if before < len(self._ordered) and self._ordered[before][0].overlaps(span):
            return None
        by = self._growth[before]
        return Span(span.start + by, span.end + by)

    def remainders(self, span: Span) -> list[tuple[Span, Span]]:
        """The parts of a span that no replacement touches: pairs of old and new span, in order."""
        first = max(0, bisect_right(self._starts, span.start) - 1)
        pieces, cursor = [], span.start
        for number in range(first, bisect_left(self._starts, span.end)):
            other = self._ordered[number][0]
            if cursor < other.start:
                pieces.append(Span(cursor, other.start))
            cursor = max(cursor, other.end)
        if cursor < span.end:
            pieces.append(Span(cursor, span.end))
        places = ((piece, self(piece)) for piece in pieces)
        return [(piece, moved) for piece, moved in places if moved is not None]

    def of_replacement(self, number: int) -> tuple[int, int]:
        """Start and end, in the new text, of the ``number``-th replacement."""
        span, words = self._ordered[number]
        start = span.start + self._growth[number]
        return start, start + len(words)
