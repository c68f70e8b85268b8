"""Lengths of time that a learned model takes for dates: "two weeks ago" says of nobody when that was."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.patterns.words import CARDINAL
from models.windows import FoundSpan

DATE, DURATION = "date", "duration"
_UNIT = "minute|hour|day|night|week|fortnight|weekend|month|year|decade"
_UNITS = rf"(?:(?:{_UNIT})s|seconds|hrs|mins|yrs)"
_ONE = "(?:half )?(?:an?|one|1)"
_VAGUE = "(?:a )?(?:few|couple(?: of)?)|several|many|some|half"
_NUMBER = rf"(?:\d{{1,3}}(?:\.\d)?|{CARDINAL})"
_COUNT = (
    rf"(?:{_NUMBER}(?:(?: ?, ?| or | to ){_NUMBER})?|\d{{1,2}} ?[-–] ?\d{{1,2}}|{_VAGUE})"
    r"(?: and (?:a half|a quarter))?(?: more)?"
)
"""Two numbers in a row are none: "nineteen eighty" is a year."""
_TIME = (
    rf"(?:{_COUNT} {_UNITS}|{_NUMBER}-(?:{_UNIT})|{_ONE}[ -](?:{_UNIT})(?: and a half)?"
    rf"|{_UNITS}|(?:last|past|next|this|that|previous|following|every|each|per|other) (?:{_UNIT}))"
)
_BEFORE = (
    "(?:for|in|within|during|over|about|around|almost|nearly|approximately|roughly|at least|more than"
    "|less than|up to|the|these|those|past|last|next|other|previous|following|coming|additional|every|each"
    "|so|how) "
)
_BEHIND = " (?:ago|later|earlier|before|after|prior|back|from now|or so|now)"
LENGTH = re.compile(
    rf"(?:{_BEFORE}){{0,3}}{_TIME}(?: (?:and|to|or) {_TIME})?(?:{_BEHIND}){{0,2}}", re.IGNORECASE
)
COUNT = re.compile(rf"(?:{_BEFORE}){{0,3}}{_COUNT}", re.IGNORECASE)
UNIT_AHEAD = re.compile(rf"[ \n]{_UNITS}\b|-(?:{_UNIT})\b")
"""In small letters: behind a date, "Days in hospital" begins the next field of a form."""
EMPTY = re.compile(rf"(?:{_BEFORE}|(?:{_VAGUE}|ago|later|earlier|and|or|of|an?|what|long) )+", re.IGNORECASE)
"""Words that give no time at all."""
LONGEST = 60


def with_lengths_of_time(spans: Sequence[FoundSpan], text: str) -> list[FoundSpan]:
    """The spans, with lengths of time as durations.

    One is a number with its unit, in the span or right behind it, and words that compare or point from now
    around them. Whatever else stands in the span leaves it a date; so do units before their number, for "the
    year nineteen eighty" and "day 12" are dates.
    """
    return [
        replace(span, label=DURATION) if span.label == DATE and _is_length(span, text) else span
        for span in spans
    ]


def _is_length(span: FoundSpan, text: str) -> bool:
    if span.end - span.start > LONGEST:
        return False
    said = " ".join(text[span.start : span.end].split())
    if LENGTH.fullmatch(said) or EMPTY.fullmatch(f"{said} "):
        return True
    return COUNT.fullmatch(said) is not None and UNIT_AHEAD.match(text, span.end) is not None
