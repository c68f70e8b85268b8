"""A text made ready for matching, and where in it a pattern is worth trying.

Two ideas keep the pattern layer simple and quick. First, look-alike characters (full-width digits,
typographic dashes, no-break spaces) are mapped one to one to plain ones, so that no regular
expression has to know them and every offset stays true. Second, a regular expression never runs
over a whole text: each pattern names what stands near all of its matches (a cue word or a digit),
and is tried only within reach of those places.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_DIGITS = re.compile(r"[0-9]+")
_REST_OF_WORD = re.compile(r"\S*")
_LONGEST_WORD = 200
_QUOTES = {"’": "'", "‘": "'", "′": "'", "ʼ": "'", "″": '"', "“": '"', "”": '"', "„": '"'}


class _Plain(dict[int, int]):
    """Code point to its plain look-alike, worked out when first met."""

    def __missing__(self, point: int) -> int:
        self[point] = plain = ord(_plain(chr(point)))
        return plain


def _plain(char: str) -> str:
    if char.isascii():
        return char
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    if "\uff01" <= char <= "\uff5e":
        return chr(ord(char) - 0xFEE0)
    category = unicodedata.category(char)
    if category == "Pd" or char == "\u2212":
        return "-"
    if category == "Zs":
        return " "
    return _QUOTES.get(char, char)


_PLAIN = _Plain()


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Where matches of a pattern can lie: about one of its anchors.

    ``near`` are lower-case literals; one that begins with a letter counts at the start of a word.
    None at all stands for any digit. A match begins at most ``back`` characters before an anchor
    and ends before the end of the word ``reach`` characters after it. ``figures`` says that every
    match holds a digit. Two are equal only if they are one, which makes them cheap to look up.
    """

    near: tuple[str, ...] = ()
    back: int = 100
    reach: int = 160
    figures: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A text in plain characters and in lower case, both as long as the original.

    ``words`` says where the cue words begin, ``figures`` whether there is a
    digit, ``zones`` remembers what was worked out before.
    """

    text: str = field(repr=False)
    lowered: str = field(repr=False)
    words: Mapping[str, Sequence[int]] = field(repr=False)
    figures: bool
    zones: dict[Where, list[tuple[int, int]]] = field(default_factory=dict, repr=False)


def hints(joined: str) -> tuple[str, ...]:
    """The literals of a string that joins them by bars, which reads better than a tuple of forty."""
    return tuple(joined.split("|"))


class WordFinder:
    """Finds where any of many literals begins a word, in one pass over the text."""

    def __init__(self, literals: Iterable[str]) -> None:
        known = sorted({literal for literal in literals if literal[0].isalpha()})
        tree = _Tree()
        for literal in known:
            branch = tree
            for char in literal:
                branch = branch.setdefault(char, _Tree())
            branch[""] = _Tree()
        self._regex = re.compile(rf"(?<![^\W\d_])(?=({_regex_of(tree)}))") if known else None
        self._within = {
            longest: [literal for literal in known if longest.startswith(literal)] for longest in known
        }

    def places(self, lowered: str) -> dict[str, list[int]]:
        """The places, in order, of each literal that begins a word of ``lowered``."""
        found: dict[str, list[int]] = {}
        for match in self._regex.finditer(lowered) if self._regex else ():
            for literal in self._within[match[1]]:
                found.setdefault(literal, []).append(match.start())
        return found


class _Tree(dict[str, "_Tree"]):
    """Literals that share their beginnings; an empty key ends one."""


def _regex_of(tree: _Tree) -> str:
    branches = [re.escape(char) + _regex_of(rest) for char, rest in sorted(tree.items()) if char]
    if not branches:
        return ""
    group = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return group + "?" if "" in tree else group


def page_of(text: str, finder: WordFinder) -> Page:
    """Make ``text`` ready; offsets in the page are offsets in ``text``."""
    plain = text if text.isascii() else text.translate(_PLAIN)
    lowered = plain.lower()
    if len(lowered) != len(plain):  # a few capitals, such as a dotted I, grow when lowered
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in plain)
    return Page(plain, lowered, finder.places(lowered), _DIGITS.search(plain) is not None)


def zones(page: Page, where: Where) -> list[tuple[int, int]]:
    """Ranges of the page in which a match may lie, apart and in order; linear in the text."""
    if not page.figures and (where.figures or not where.near):
        return []
    if where not in page.zones:
        anchors = _digit_runs(page) if not where.near else sorted(_literals(page, where.near))
        found = _merged(page.text, anchors, where.back, where.reach)
        if where.near and where.figures:
            found = (zone for zone in found if _DIGITS.search(page.text, *zone))
        page.zones[where] = list(found)
    return page.zones[where]


def _digit_runs(page: Page) -> Iterable[tuple[int, int]]:
    return (match.span() for match in _DIGITS.finditer(page.text))


def _literals(page: Page, near: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    for literal in near:
        if literal[0].isalpha():
            for start in page.words.get(literal, ()):
                yield start, start + len(literal)
            continue
        start = page.lowered.find(literal)
        while start >= 0:
            end = start + len(literal)
            yield start, end
            start = page.lowered.find(literal, end)


def _merged(
    text: str, anchors: Iterable[tuple[int, int]], back: int, reach: int
) -> Iterator[tuple[int, int]]:
    first = last = -1
    for start, end in anchors:
        if first >= 0 and start - back <= last:
            last = max(last, end + reach)
            continue
        if first >= 0:
            yield first, _word_end(text, last)
        first, last = max(0, start - back), end + reach
    if first >= 0:
        yield first, _word_end(text, last)


def _word_end(text: str, place: int) -> int:
    if place >= len(text):
        return len(text)
    rest = _REST_OF_WORD.match(text, place, place + _LONGEST_WORD)
    return rest.end() if rest else place
