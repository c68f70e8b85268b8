"""Many phrases, found in a text word by word, in any case, in time that grows with the text alone."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ingest.documents import Span
from ingest.language.vocabulary import fold

LONGEST = 200
"""Characters of a phrase: what a word of the text costs is bounded by the longest phrase."""

WIDEST_GAP = 8
"""Characters that may stand between two words of a phrase that is looked for at any price."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean: no blank ends a word, so each character is one."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_JOINTS = frozenset(("", "-", "‐", "‑", "'", "’", "/"))

Gap = Callable[[str], str]
"""Normalizes the gap between two words; the same for phrases and text."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text, folded, and where each stands."""

    text: str = field(repr=False)
    folded: Sequence[str] = field(repr=False)
    spans: Sequence[tuple[int, int]] = field(repr=False)


def words_of(text: str) -> Words:
    """Cut a text into words: letters and digits, without case and accents."""
    found = list(_WORD.finditer(text))
    return Words(text, [fold(each.group()) for each in found], [each.span() for each in found])


def any_gap(gap: str) -> str:
    """Whatever stands between the words, as long as it is short: for what must not be missed."""
    return "" if len(gap) <= WIDEST_GAP else gap


def same_gap(gap: str) -> str:
    """Blanks, hyphens and apostrophes count as nothing, a comma as itself: for what is let through."""
    if gap.count("\n") > 1:
        return "\n\n"
    kept = "".join(gap.split())
    return "" if kept in _JOINTS else kept


class _Node:
    """A place in the tree of all phrases: the words that go on from here, and the phrase that ends here."""

    __slots__ = ("after", "number")

    def __init__(self) -> None:
        self.after: dict[str, _Node] = {}
        self.number: int | None = None


class Phrases:
    """Phrases by their number in the order given. Of two that say the same, the first counts."""

    def __init__(self, phrases: Iterable[str], gap: Gap) -> None:
        self._root = _Node()
        self._gap = gap
        for number, phrase in enumerate(phrases):
            node = self._root
            for word in self._steps(words_of(phrase)):
                node = node.after.setdefault(word, _Node())
            if node.number is None and node is not self._root:
                node.number = number

    def found(self, words: Words) -> Iterator[tuple[Span, int]]:
        """For each word the longest phrase that begins there; phrases may overlap."""
        if not self._root.after:
            return
        steps = self._steps(words)
        for first, word in enumerate(words.folded):
            node, last, number = self._root.after.get(word), first, None
            end = first
            while node is not None:
                if node.number is not None:
                    last, number = end, node.number
                end += 1
                node = node.after.get(steps[end]) if end < len(steps) else None
            if number is not None:
                yield Span(words.spans[first][0], words.spans[last][1]), number

    def _steps(self, words: Words) -> list[str]:
        """Each word with what counts of the gap before it; the first by itself."""
        gaps = [
            self._gap(words.text[words.spans[number - 1][1] : words.spans[number][0]]) if number else ""
            for number in range(len(words.spans))
        ]
        return [f"{gap}{word}" for gap, word in zip(gaps, words.folded, strict=True)]


class Cover:
    """The places of phrases in a text, asked whether a span lies within one."""

    def __init__(self, spans: Iterable[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [span.start for span in ordered]
        self._reach = list(accumulate((span.end for span in ordered), max))

    def holds(self, span: Span) -> bool:
        """Whether one of the places has all of the span's characters."""
        before = bisect_right(self._starts, span.start)
        return before > 0 and self._reach[before - 1] >= span.end
