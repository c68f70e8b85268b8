"""What a pattern is, and the one function that runs it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from ingest.documents import Entity, Span
from ingest.labels import LABELS
from ingest.patterns.page import Page, Where, zones

ANYWHERE = Where()
"""Near any digit, with room for a cue word before it and the rest of an address after it."""

AHEAD = Where((), 2, 120)
"""Matches that begin with a digit and go on for long."""

MIDDLE = Where((), 40, 40)
"""Matches with a word or two before a digit."""

TIGHT = Where((), 16, 40)
"""Matches that begin with a digit, or a few characters before one."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression with what is needed to run it cheaply and to trust its matches.

    The group ``id`` of ``regex``, or else the whole match, is what identifies. ``check`` sees the
    identifying characters and may refuse them.
    ``confidence`` is the share of matches, in [0, 1], that we expect to be right.
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
    """Make the entity that the pattern ``name`` found at ``[start, end)``."""
    row = LABELS[label]
    return Entity(Span(start, end), row.name, row.identifier, confidence, f"pattern:{name}")


def hits(pattern: Pattern, page: Page) -> Iterator[Entity]:
    """Every match of ``pattern`` in the page that passes its check."""
    places = zones(page, pattern.where)
    if not places:
        return
    regex = compiled(pattern.regex)
    group = "id" if "id" in regex.groupindex else 0
    for first, last in places:
        for match in regex.finditer(page.text, first, last):
            if pattern.check is None or pattern.check(match[group]):
                start, end = match.span(group)
                yield entity(pattern.name, pattern.label, start, end, pattern.confidence)


# Between a cue word and its value: "passport no.: X", "PIN code is X", "account number (X". The
# quantifiers are possessive, so a cue without a value fails after one pass.
_GAP = r"[\s:=#.\-(\"'*]{0,6}+"
_COUNTER = r"(?:numbers?|numero|número|nos?|nr|num|nbr|n[º°o]|№|id|i\.d|code|ref(?:erence)?)"
_FILLER = r"(?:is|was|are|the|to|as|card|of|for|it's|ist|lautet|est|es)"
LINK = rf"{_GAP}(?:(?:{_COUNTER}|{_FILLER})(?![^\W\d_]){_GAP}){{0,4}}+"
STRONG_LINK = rf"(?=[\s(\-]{{0,3}}+(?:[:=#№]|\.:|{_COUNTER}(?![^\W\d_]))){LINK}"
ID_VALUE = (
    r"(?=[A-Za-z/_.\-]{0,12}+[0-9])[A-Za-z0-9]{1,24}+(?:[\-/._](?=[A-Za-z\-/._]{0,8}[0-9]|[A-Z])[A-Za-z0-9]{1,20}+){0,6}+"
    r"(?![A-Za-z0-9])"
)
"""A run of letters, digits and joints that holds a digit early on."""


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
    """Build the pattern of a value that is known by the word before it.

    ``cues`` match in any case and at the start of a word, as ``near`` does; ``figures`` says that
    the value holds a digit.
    """
    regex = rf"(?<![^\W_])(?i:{cues})(?![^\W\d_])(?i:{link})(?P<id>{value})"
    return Pattern(name, label, regex, confidence, Where(near, 16, 120, figures), check)


def is_number_like(value: str) -> bool:
    """Whether a record number has three digits or letters and is neither a year nor a date."""
    if compiled(r"[0-9]{1,4}([./-])[0-9]{1,2}\1[0-9]{1,4}|(?:19|20)[0-9]{2}").fullmatch(value):
        return False
    return sum(char.isalnum() for char in value) >= 3
