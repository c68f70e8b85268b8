"""Lengths of time that a learned model takes for dates: "two weeks ago" says of nobody when that was."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.patterns.words import CARDINAL
from ingest.rules.vocabulary import WORD, fold
from models.windows import FoundSpan

DATE, DURATION = "date", "duration"
UNIT = re.compile(
    r"(?:minute|hour|day|night|week|fortnight|weekend|month|year|decade)s?|seconds|hrs?|mins?|yrs?"
)
NUMBER = re.compile(rf"\d{{1,3}}|{CARDINAL}")
"""Four digits may be a year, and words beyond ninety-nine too: "two thousand seven"."""
BESIDE = frozenset(
    ("a", "an", "half", "few", "couple", "several", "many", "some", "more", "most", "less", "than", "of")
    + ("and", "or", "to", "the", "last", "past", "next", "previous", "recent", "following", "coming", "other")
    + ("ago", "later", "earlier", "before", "after", "prior", "back", "now", "about", "around", "over")
    + ("almost", "nearly", "approximately", "roughly", "within", "during", "for", "in", "at", "least", "so")
    + ("these", "those", "this", "that", "every", "each", "per", "what", "how", "long", "additional")
)
"""Words that count vaguely, compare or point from now."""
AHEAD = re.compile(r"[\s-]*([a-z]+)", re.IGNORECASE)


def with_lengths_of_time(spans: Sequence[FoundSpan], text: str) -> list[FoundSpan]:
    """The spans, with lengths of time as durations: every word counts, is a unit or points from now.

    A number must have its unit within the span or right behind it: twenty alone may be a day or a year.
    """
    return [
        replace(span, label=DURATION) if span.label == DATE and _is_length(span, text) else span
        for span in spans
    ]


def _is_length(span: FoundSpan, text: str) -> bool:
    said = [fold(word) for word in WORD.findall(text[span.start : span.end])]
    units = any(UNIT.fullmatch(word) for word in said)
    numbers = any(NUMBER.fullmatch(word) for word in said)
    known = all(word in BESIDE or UNIT.fullmatch(word) or NUMBER.fullmatch(word) for word in said)
    return known and (units or not numbers or _unit_follows(text, span.end))


def _unit_follows(text: str, end: int) -> bool:
    ahead = AHEAD.match(text, end)
    return ahead is not None and UNIT.fullmatch(fold(ahead[1])) is not None
