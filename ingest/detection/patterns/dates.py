"""Dates and times of day."""

import re

from ingest.detection.patterns.page import Where, hints
from ingest.detection.patterns.pattern import TIGHT, Pattern
from ingest.detection.patterns.words import FOREIGN_MONTHS, MONTHS, WEEKDAYS

_YEAR = r"(?:1[6-9]|20)[0-9]{2}(?!\w|[.,][0-9])"
_SHORT_YEAR = r"(?:'[0-9]{2}(?!\w))"
_DAY = r"(?:3[01]|[12][0-9]|0?[1-9])"
_NTH = r"(?:[ ]?(?:st|nd|rd|th)\b)?"
_DAYS = rf"{_DAY}{_NTH}(?:(?: ?- ?| to | and |, | or | & |/){_DAY}{_NTH})?"
_MONTH = rf"(?:{MONTHS})\b(?:(?<![a-z]{{5}})\.)?"
_WEEKDAY = rf"(?:\b{WEEKDAYS}\.?,? (?:the )?)?"

_DAY_FIRST = (
    rf"(?i)(?<![\w.,/$€£-]){_WEEKDAY}{_DAYS}(?: day)?(?: of |[ -]|, ?|\.? ){_MONTH}"
    rf"(?:(?:,? |-|, ?| of )(?:{_YEAR}|{_SHORT_YEAR}|(?<=-)[0-9]{{2}}(?![\w.])))?(?![\w])"
)
_MONTH_FIRST = (
    rf"(?i)(?<![\w-])(?:{WEEKDAYS}\.?,? )?{_MONTH}[ -](?:the )?{_DAYS}(?![\w:]|[.,/-][0-9])"
    rf"(?:(?:, ?| |-|,? of ){_YEAR}|,? {_SHORT_YEAR})?"
)
_MONTH_YEAR = (
    rf"(?i)(?<![\w-])(?:(?:early|mid|late)[- ])?{_MONTH}(?: ?(?:/|-|to|and|or) ?{_MONTH})?"
    rf"(?:,? | of |-|/)(?:{_YEAR}|{_SHORT_YEAR})(?!\w)"
)
_FOREIGN = (
    rf"(?i)(?<![\w.,/-])(?:{_DAY}|1er)(?:\.? | de | di |\.?º? de )(?:{FOREIGN_MONTHS})\b"
    rf"(?:(?: de | del | )?{_YEAR})?"
)

_ISO = (
    r"(?<![\w./-])(?:1[6-9]|20)[0-9]{2}(?:([-/.])(?:0[1-9]|1[0-2]|[1-9])\1(?:3[01]|[12][0-9]|0[1-9]|[1-9])"
    r"(?=T[0-9]{2}|\b)(?![./-][0-9])|年[0-9]{1,2}月[0-9]{1,2}日)"
)
_NUMERIC = (
    r"(?<![\w./,$€£-])(?:(?<!v)(?<!v\.))(?:[0-9]{1,2})([/.-])[ ]?[0-9]{1,2}\1[ ]?(?:(?:1[6-9]|20)[0-9]{2}"
    r"|[0-9]{2})"
    r"(?![\w]|[./-][0-9]|,[0-9]|[ ]?%)"
)


def _is_cased(value: str) -> bool:
    """Reject "may 5" and "march 12" in lower case: more often verbs than months."""
    bare = not re.search(r"(?:1[6-9]|20)[0-9]{2}", value)
    return not (bare and re.match(r"(?:may|march|mar|sat|sun|sep|dec|jan)\b", value))


def _is_calendar(value: str) -> bool:
    """Whether day, month and year, in any usual order, can be a date and not a version or section."""
    first, second, year = (part.strip() for part in re.split(r"[/.-]", value))
    low, high = sorted((int(first), int(second)))
    if not (1 <= low <= 12 and 1 <= high <= 31):
        return _is_year_first(first, second, year)
    dotted = "/" not in value
    return not (dotted and len(year) == 2 and (len(first) < 2 or len(second) < 2))


def _is_year_first(year: str, month: str, day: str) -> bool:
    return len(year) == len(day) == 2 and 1 <= int(month) <= 12 and 1 <= int(day) <= 31


_FULL = tuple(name for name in MONTHS.split("|") if len(name) > 4)
_SHORT = tuple(name for name in MONTHS.split("|") if len(name) <= 4)
_MONTH_HINTS = (*_FULL, *(name + end for name in _SHORT for end in hints(" |.|,|-|/|'|\n")))
_BY_MONTH = Where(_MONTH_HINTS, 40, 48)

_MERIDIEM = r"(?:[ap]\.[ ]?m\.|[ap]m\b|[AP]\.[ ]?M\.|[AP]M\b)"
_HOUR = r"(?:2[0-3]|1[0-9]|0?[0-9])"
_TIMES: tuple[tuple[str, str, float], ...] = (
    ("time-meridiem", rf"(?<![\w.:,/-]){_HOUR}(?:[:.][0-5][0-9]){{0,2}}[ ]?{_MERIDIEM}(?!\w)", 0.95),
    (
        "time",
        r"(?<!ratio )(?<!ratio of )(?<![\w:.,/-])(?:2[0-3]|1[0-9]|0[0-9]):[0-5][0-9](?::[0-5][0-9]"
        r"(?:\.[0-9]{1,6})?)?"
        r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?(?:[ ]?(?:hrs?|hours|uhr|Uhr|GMT|UTC|CET|EST|PST))?(?![\w:/]"
        r"|-[0-9]|\.[0-9])",
        0.85,
    ),
    (
        "time-iso",
        r"(?<=[0-9]T)[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?(?!\w)",
        0.95,
    ),
)

PATTERNS: tuple[Pattern, ...] = (
    Pattern("date-iso", "date", _ISO, 0.97, TIGHT),
    Pattern("date-numeric", "date", _NUMERIC, 0.9, TIGHT, _is_calendar),
    Pattern("date-day-month", "date", _DAY_FIRST, 0.97, _BY_MONTH, _is_cased),
    Pattern("date-month-day", "date", _MONTH_FIRST, 0.93, _BY_MONTH, _is_cased),
    Pattern("date-month-year", "date", _MONTH_YEAR, 0.95, _BY_MONTH),
    Pattern("date-foreign", "date", _FOREIGN, 0.9, TIGHT),
    *(Pattern(name, "time", regex, confidence, TIGHT) for name, regex, confidence in _TIMES),
)
