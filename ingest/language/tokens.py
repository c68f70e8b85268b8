"""A text cut into words, with what the rules ask of each: its place, its folded form, its shape."""

from dataclasses import dataclass, field

from ingest.documents import Span
from ingest.language.vocabulary import WORD, fold

CAPITAL, ALL_CAPS, INITIAL, LOWER, NUMBER = "C", "U", "I", "l", "9"
"""The shapes: Anna, ANNA, A, anna, 42nd."""

JOINTS = frozenset((" ", "-", "‑", "'", "’", "\n", "  ", " '", " ’", "/", "&", " & ", " - ", "\u00a0", " / "))
"""The allowed gap between two words of one phrase."""

CASELESS_SHARE = 0.02
"""A text is caseless when a smaller share of its words than this starts with a capital letter."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The n words of a text: offsets, folded forms and shapes, each a list of n."""

    text: str = field(repr=False)
    starts: list[int] = field(repr=False)
    ends: list[int] = field(repr=False)
    folded: list[str] = field(repr=False)
    shapes: list[str] = field(repr=False)
    caseless: bool

    def __len__(self) -> int:
        return len(self.starts)

    def gap(self, index: int) -> str:
        """The gap between word ``index - 1`` and word ``index``; a line break at the edges."""
        if not 0 < index < len(self.starts):
            return "\n"
        return self.text[self.ends[index - 1] : self.starts[index]]

    def joined(self, index: int) -> bool:
        """Whether word ``index`` may continue the phrase of the word before it."""
        gap = self.gap(index)
        if gap in JOINTS:
            return True
        return gap in (".", ". ") and self.ends[index - 1] - self.starts[index - 1] <= 2

    def span(self, first: int, end: int) -> Span:
        """The characters of the words ``first`` to ``end``, the latter not included."""
        return Span(self.starts[first], self.ends[end - 1])

    def opens_sentence(self, index: int) -> bool:
        """Whether the word follows a line break, a stop, a colon or an opening quotation mark."""
        return index == 0 or any(char in '\n.!?:;“"”•]' for char in self.gap(index))

    def possessive_end(self, end: int) -> int:
        """``end`` moved past a possessive 's that follows it."""
        if end < len(self) and self.folded[end] == "s" and self.gap(end).strip() in ("'", "’"):
            return end + 1
        return end


def _shape(word: str) -> str:
    first = word[0]
    if first.isupper():
        if len(word) == 1:
            return INITIAL
        return ALL_CAPS if word.isupper() else CAPITAL
    return NUMBER if first.isdigit() else LOWER


def tokenize(text: str) -> Tokens:
    """Cut ``text`` into words."""
    starts: list[int] = []
    ends: list[int] = []
    folded: list[str] = []
    shapes: list[str] = []
    for match in WORD.finditer(text):
        word = match.group()
        starts.append(match.start())
        ends.append(match.end())
        folded.append(fold(word))
        shapes.append(_shape(word))
    written = len(shapes) - shapes.count(NUMBER)
    caseless = written - shapes.count(LOWER) < CASELESS_SHARE * written
    return Tokens(text, starts, ends, folded, shapes, caseless)
