"""The pattern type, and the function that runs it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from ingest.detection.patterns.measures import is_measure
from ingest.detection.patterns.page import Page, Where, is_unspaced, zones
from ingest.documents import Entity, Span
from ingest.labels import LABELS

ANYWHERE = Where()
"""Near any digit, with room for a cue word before it and the rest of an address after it."""

MIDDLE = Where((), 40, 40)
"""Matches with a word or two before a digit."""

TIGHT = Where((), 16, 40)
"""Matches that begin with a digit, or a few characters before one."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression with its anchors, check and confidence.

    The group ``id`` of ``regex``, else the whole match, is the identifier. ``check`` validates it.
    ``confidence`` is the expected precision of its matches, in [0, 1].
    """

    name: str
    label: str
    regex: str
    confidence: float
    where: Where = ANYWHERE
    check: Callable[[str], bool] | None = None


@cache
def compiled(regex: str) -> re.Pattern[str]:
    """Compile on first use: most texts never need most patterns."""
    return re.compile(regex)


def entity(name: str, label: str, start: int, end: int, confidence: float) -> Entity:
    """The entity that the pattern ``name`` found at ``[start, end)``."""
    row = LABELS[label]
    return Entity(Span(start, end), row.name, row.identifier, confidence, f"pattern:{name}")


def hits(pattern: Pattern, page: Page) -> Iterator[Entity]:
    """Every match of ``pattern`` in the page that passes its check."""
    places = zones(page, pattern.where)
    if not places:
        return
    regex = compiled(pattern.regex)
    group = "id" if "id" in regex.groupindex else 0
    texts = (page.text, page.whole) if is_unspaced(pattern.regex) else (page.text,)
    for text, (first, last) in product(texts, places):
        for match in regex.finditer(text, first, last):
            # An alternative without the group is meant as a whole.
            meant = group if match[group] is not None else 0
            if pattern.check is None or pattern.check(match[meant]):
                start, end = match.span(meant)
                yield entity(pattern.name, pattern.label, start, end, pattern.confidence)


# Between a cue word and its value: "passport no.: X", "PIN code is X", "account number (X". The
# quantifiers are possessive, so a cue without a value fails after one pass.
_GAP = r"[\s:=#.\-(\"'*]{0,6}+"
_COUNTER = r"(?:numbers?|numero|número|nos?|nr|num|nbr|n[º°o]|№|id|i\.d|code|ref(?:erence)?)"
_FILLER = r"(?:is|was|are|the|to|as|card|of|for|it's|ist|lautet|est|es)"
LINK = rf"{_GAP}(?:(?:{_COUNTER}|{_FILLER})(?![^\W\d_]){_GAP}){{0,4}}+"
STRONG_LINK = rf"(?=[\s(\-]{{0,3}}+(?:[:=#№]|\.:|{_COUNTER}(?![^\W\d_]))){LINK}"
COUNTED_LINK = rf"(?=[\s(\-.:]{{0,3}}+(?:[#№]|{_COUNTER}(?![^\W\d_]))){LINK}"
"""With a word or sign for a number: after "unit" or "group" a colon alone is no evidence."""
ID_VALUE = (
    r"(?=[A-Za-z/_.\-]{0,12}+[0-9])[A-Za-z0-9]{1,24}+(?:[\-/._](?=[A-Za-z\-/._]{0,8}[0-9]|[A-Z])[A-Za-z0-9]{1,20}+){0,6}+"
    r"(?![A-Za-z0-9])"
)
"""A run of letters, digits and joints with a digit near its start."""


def cued(
    name: str,
    label: str,
    cues: str,
    value: str,
    near: tuple[str, ...],
    *,
    confidence: float = 0.9,
    link: str = LINK,
    check: Callable[[str], bool] | None = None,
    figures: bool = True,
) -> Pattern:
    """Build the pattern of a value identified by the cue word before it.

    ``cues`` match in any case at the start of a word, as ``near`` does; ``figures`` means that the value
    contains a digit.
    """
    regex = rf"(?<![^\W_])(?i:{cues})(?![^\W\d_])(?i:{link})(?P<id>{value})"
    return Pattern(name, label, regex, confidence, Where(near, 16, 120, figures), check)


_DATE_OR_DECIMAL = r"[0-9]{1,4}([./-])[0-9]{1,2}\1[0-9]{1,4}|(?:19|20)[0-9]{2}|[0-9]{1,4}\.[0-9]{1,2}"
_RATIO = r"[0-9]{1,3}/[0-9]{1,3}"


def is_number_like(value: str) -> bool:
    """Whether a record number has three digits or letters and is no year, date or decimal."""
    if compiled(_DATE_OR_DECIMAL).fullmatch(value):
        return False
    return sum(char.isalnum() for char in value) >= 3


def is_long_number(value: str) -> bool:
    """Whether a record number also has four digits and is no ratio, so that it is unlikely to be a count."""
    return is_number_like(value) and _n_digits(value) >= 4 and not compiled(_RATIO).fullmatch(value)


def is_code(value: str) -> bool:
    """Whether a record number has six digits, or four among letters: neither a count nor a measurement."""
    letters = any(char.isalpha() for char in value)
    return is_long_number(value) and not is_measure(value) and _n_digits(value) >= (4 if letters else 6)


def _n_digits(value: str) -> int:
    return sum("0" <= char <= "9" for char in value)
