"""A text prepared for matching, and the zones in which a pattern is tried.

Three ideas keep the pattern layer simple and fast. First, look-alike characters (full-width digits,
typographic dashes, no-break spaces) are mapped one to one to plain ones, so that regular expressions need not
list them and offsets stay valid. Second, letters of scripts without blanks between words do not count as
letters, so that a number ends where Chinese begins. Third, a regular expression never runs over a whole text:
each pattern has anchors near all of its matches (cue words or digits) and is tried only near those.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from ingest.language.plain_letters import plain_character

_DIGITS = re.compile(r"[0-9]+")
_REST_OF_WORD = re.compile(r"\S*")
_LONGEST_WORD = 200
_QUOTES = {"’": "'", "‘": "'", "′": "'", "ʼ": "'", "″": '"', "“": '"', "”": '"', "„": '"'}


_UNSPACED = re.compile(
    "[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts without blanks between words."""
_BORDER = "\x00"


class _Plain(dict[int, int]):
    """Code point to its plain look-alike, computed on first use."""

    def __missing__(self, point: int) -> int:
        self[point] = plain = ord(_plain(chr(point)))
        return plain


def _plain(char: str) -> str:
    char = plain_character(char)
    category = unicodedata.category(char)
    if category == "Pd" or char == "\u2212":
        return "-"
    if category == "Zs":
        return " "
    return _QUOTES.get(char, char)


_PLAIN = _Plain()


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Where matches of a pattern can lie: around its anchors.

    ``near`` are lower-case literals; one that begins with a letter must start a word. If empty, any digit is
    an anchor. A match begins at most ``back`` characters before an anchor and ends before the end of the word
    ``reach`` characters after it. ``figures`` means that every match contains a digit. Equality is identity,
    which makes look-ups cheap.
    """

    near: tuple[str, ...] = ()
    back: int = 100
    reach: int = 160
    figures: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A text in plain characters, in three forms of the original's length.

    ``text`` has a border for each letter of a script without blanks; ``whole`` keeps those letters, and
    ``lowered`` is ``whole`` in lower case. ``words`` has the positions of the cue words, ``figures`` says
    whether there is a digit, ``zones`` caches computed zones.
    """

    text: str = field(repr=False)
    whole: str = field(repr=False)
    lowered: str = field(repr=False)
    words: Mapping[str, Sequence[int]] = field(repr=False)
    figures: bool
    zones: dict[Where, list[tuple[int, int]]] = field(default_factory=dict, repr=False)


def hints(joined: str) -> tuple[str, ...]:
    """Split a bar-separated string into literals."""
    return tuple(joined.split("|"))


class WordFinder:
    """Finds all word starts that match one of many literals, in one pass over the text."""

    def __init__(self, literals: Iterable[str]) -> None:
        known = sorted({literal for literal in literals if _begins_words(literal)})
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
        """The ordered positions of each literal that begins a word of ``lowered``."""
        found: dict[str, list[int]] = {}
        for match in self._regex.finditer(lowered) if self._regex else ():
            for literal in self._within[match[1]]:
                found.setdefault(literal, []).append(match.start())
        return found


@cache
def _begins_words(literal: str) -> bool:
    return literal[0].isalpha() and not _UNSPACED.match(literal)


@cache
def is_unspaced(regex: str) -> bool:
    """Whether a regular expression contains letters of a script without blanks."""
    return _UNSPACED.search(regex) is not None


class _Tree(dict[str, "_Tree"]):
    """A prefix tree of literals; an empty key ends one."""


def _regex_of(tree: _Tree) -> str:
    branches = [re.escape(char) + _regex_of(rest) for char, rest in sorted(tree.items()) if char]
    if not branches:
        return ""
    group = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return group + "?" if "" in tree else group


def page_of(text: str, finder: WordFinder) -> Page:
    """Prepare ``text``; offsets in the page are offsets in ``text``."""
    whole = text if text.isascii() else text.translate(_PLAIN)
    lowered = whole.lower()
    if len(lowered) != len(whole):  # a few capitals, such as a dotted I, grow when lowered
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in whole)
    bordered = whole if text.isascii() else _UNSPACED.sub(_BORDER, whole)
    words = finder.places(lowered if bordered is whole else _UNSPACED.sub(_BORDER, lowered))
    return Page(bordered, whole, lowered, words, _DIGITS.search(whole) is not None)


def zones(page: Page, where: Where) -> list[tuple[int, int]]:
    """Disjoint, ordered ranges of the page in which a match may lie; linear in the text."""
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
        if _begins_words(literal):
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
