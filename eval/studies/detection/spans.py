"""Trimming of spans, and the characters that a set of spans covers. Half-open, in code points."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

Ends = tuple[int, int]
"""Start and end of a span."""

_TITLES = re.compile(r"(?:(?:mr|mrs|ms|dr|the)\b[.\s]*)+", re.IGNORECASE)


def trimmed(text: str, span: Ends) -> Ends | None:
    """The span without white space and punctuation at its rims; None if nothing is left."""
    start, end = span
    while start < end and _is_rim(text[start]):
        start += 1
    while start < end and _is_rim(text[end - 1]):
        end -= 1
    return (start, end) if start < end else None


def core(text: str, span: Ends) -> Ends:
    """The span without rims and without leading Mr, Mrs, Ms, Dr and "the".

    A span with nothing else stays whole.
    """
    inner = trimmed(text, span)
    if inner is None:
        return span
    titles = _TITLES.match(text, *inner)
    rest = trimmed(text, (titles.end(), inner[1])) if titles else inner
    return rest or inner


def _is_rim(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] in "PC"


def distinct(text: str, spans: Iterable[Ends]) -> list[Ends]:
    """The trimmed spans in the order of the text, each once."""
    return sorted({inner for span in spans if (inner := trimmed(text, span)) is not None})


class Cover:
    """The set of characters that some spans cover."""

    def __init__(self, spans: Iterable[Ends]) -> None:
        merged: list[Ends] = []
        for start, end in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        self.spans: Sequence[Ends] = merged
        self._starts = [start for start, _ in merged]
        self._ends = [end for _, end in merged]
        self._before = [0, *accumulate(end - start for start, end in merged)]

    def __len__(self) -> int:
        """How many characters there are."""
        return self._before[-1]

    def held(self, span: Ends) -> int:
        """How many characters of the span are covered."""
        first, last = bisect_right(self._ends, span[0]), bisect_left(self._starts, span[1])
        if first >= last:
            return 0
        whole = self._before[last] - self._before[first]
        return whole - max(0, span[0] - self._starts[first]) - max(0, self._ends[last - 1] - span[1])

    def touches(self, span: Ends) -> bool:
        """Whether at least one character of the span is covered."""
        return self.held(span) > 0

    def covers(self, span: Ends) -> bool:
        """Whether every character of the span is covered."""
        return self.held(span) == span[1] - span[0]
