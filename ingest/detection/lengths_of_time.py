"""Durations that a learned model labels as dates: "two weeks ago" is no date."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.detection.patterns.words import CARDINAL
from models.detectors.words import FoundSpan

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
"""Not two consecutive numbers: "nineteen eighty" is a year."""
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
"""Lower case only: after a date, "Days in hospital" begins the next field of a form."""
EMPTY = re.compile(rf"(?:{_BEFORE}|(?:{_VAGUE}|ago|later|earlier|and|or|of|an?|what|long) )+", re.IGNORECASE)
"""Words that carry no time."""
LONGEST = 60


def with_lengths_of_time(spans: Sequence[FoundSpan], text: str) -> list[FoundSpan]:
    """The spans, with lengths of time relabeled as durations.

    A length of time is a number with its unit, in the span or right after it, plus comparative or relative
    words. With any other word the span stays a date; so does a unit before its number, as in "the year
    nineteen eighty" and "day 12".
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
