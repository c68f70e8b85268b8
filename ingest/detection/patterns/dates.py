"""Dates, dates of birth and times of day."""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from ingest.detection.patterns.page import Page, Where, hints, zones
from ingest.detection.patterns.pattern import MIDDLE, TIGHT, Pattern, compiled, entity
from ingest.detection.patterns.words import FOREIGN_MONTHS, MONTHS, ORDINAL, WEEKDAYS
from ingest.documents import Entity

_YEAR = r"(?:1[6-9]|20)[0-9]{2}(?!\w|[.,][0-9])"
_RECENT_YEAR = r"(?:19[2-9][0-9]|20[0-4][0-9])(?!\w|[.,][0-9])"
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
_ORDINAL_DAY = rf"(?i)(?<![\w-])(?:{ORDINAL})(?: day)? of (?:{MONTHS})\b(?:,? {_YEAR})?"
_MONTH_ORDINAL = rf"(?i)(?<![\w-])(?:{MONTHS})(?: the)? (?:{ORDINAL})(?!\w)(?:,? {_YEAR})?"
_FOREIGN = (
    rf"(?i)(?<![\w.,/-])(?:{_DAY}|1er)(?:\.? | de | di |\.?º? de )(?:{FOREIGN_MONTHS})\b"
    rf"(?:(?: de | del | )?{_YEAR})?"
)
_FOREIGN_YEAR = rf"(?i)(?<!\w)(?:{FOREIGN_MONTHS})\b(?: de | del | ){_YEAR}"
_SEASON = (
    r"(?i)(?<!\w)(?:(?:early|mid|late)[- ])?(?:spring|summer|autumn|fall|winter|christmas|easter"
    r"|thanksgiving"
    rf"|new year's(?: eve| day)?|q[1-4])(?:,? of|,|/)? {_YEAR}"
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
_MONTH_SLASH_YEAR = (
    r"(?<![\w./,$€£-])(?<!nos\. )(?<!no\. )(?<!no )(?<!No\. )(?<!No )(?<!nº )(?:(?:1[0-2]|0?[1-9])[/.]|"
    r"(?:1[0-2]|0[1-9])-)"
    rf"{_RECENT_YEAR}(?![./-][0-9])"
)
_SHORT_CUE = (
    r"(?i:on|since|dated?|until|till|from|by|before|after|due|through|between|d/d|expir(?:y|es|ation)|exp)"
)
_DAY_SLASH_MONTH = rf"(?:(?<!\w){_SHORT_CUE}[ :.]{{1,3}}(?P<id>{_DAY}/{_DAY})(?![\w/]|[.,-][0-9]))"
_TWO_TWO = r"(?<![\w./,$€£%-])[0-9]{2}/[0-9]{2}(?![\w/%]|[.,-][0-9])"
_MONTH_SLASH_SHORT_YEAR = (
    r"(?<!\w)(?i:in|since|of|from|by|until|around|exp(?:\.|iry|iration|ires)?(?: date)?)[ :]{1,3}"
    r"(?P<id>(?:1[0-2]|0?[1-9])/[0-9]{2})(?![\w/]|[.,-][0-9])"
)
_COMPACT = (
    r"(?i:date|dated|dob|birth|born|on)[ :]{1,3}(?P<id>(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]"
    r"|[12][0-9]|3[01]))"
    r"(?![\w.])"
)

_YEAR_CUE = (
    r"(?:in(?: the)?(?: years?| early| late| mid| about| around| or around)?|since|until|till|from|by"
    r"|before|after|during"
    r"|around|about|circa|between|early|late|mid|years?|of the year|spring|summer|autumn|fall|winter"
    r"|class of|as of|back in"
    r"|through|throughout|ending|ended|end of|beginning of|start of|en|im jahr(?:e)?|seit|depuis|desde"
    r"|anno|born|dob|founded"
    r"|established|graduated|january|christmas)"
)
_YEAR_TAIL = (
    rf"(?:, {_YEAR}){{0,9}}+"
    rf"(?:(?: ?[-/] ?)(?:{_YEAR}|[0-9]{{1,2}}(?![\w.,/-]))|(?:,? (?:and|to|or|until|through|y|et"
    rf"|und) ){_YEAR})?"
)
_BARE_YEAR = (
    rf"(?i)(?<![\w-]){_YEAR_CUE}[ -](?P<id>(?:1[6-9]|20)[0-9]{{2}}(?![\w%$€£]|[.,/-][0-9]{{3}}|,[0-9]"
    rf"|\.[0-9]|:[0-9]"
    rf"| (?:mg|ml|mcg|g|kg|km|m|people|patients|persons|euros?|dollars?|square|calories|hours|hrs|meters"
    rf"|metres|feet)\b)"
    rf"{_YEAR_TAIL})"
)
_BRACKETED_YEAR = (
    r"\((?:(?i:born|b\.|circa|c\.|since|until|from) ?)?(?P<id>(?:(?<=[a-z.] )|(?<=[a-z.])|"
    r"(?=[0-9]{4} ?-))(?:1[7-9]|20)[0-9]{2}"
    r"(?: ?- ?(?:(?:1[7-9]|20)?[0-9]{2})?)?)\)"
)
_DECADE = r"(?i)(?<![\w-])(?:(?:early|mid|late)[- ])?(?:1[6-9]|20)[0-9]0'?s(?!\w)"


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


def _is_day_and_month(value: str) -> bool:
    first, second = (int(part) for part in value.split("/"))
    low, high = sorted((first, second))
    fraction = len(value) == 3 and second <= 4 and first < second
    return 1 <= low <= 12 and 1 <= high <= 31 and not fraction and value not in ("24/7", "10/10")


def _is_padded(value: str) -> bool:
    """Accept "03/04" and not "10/12": without a cue, only a leading zero marks a date, not a ratio."""
    return "0" in (value[0], value[3]) and _is_day_and_month(value)


_FULL = tuple(name for name in MONTHS.split("|") if len(name) > 4)
_SHORT = tuple(name for name in MONTHS.split("|") if len(name) <= 4)
_MONTH_HINTS = (*_FULL, *(name + end for name in _SHORT for end in hints(" |.|,|-|/|'|\n")))
_BY_MONTH = Where(_MONTH_HINTS, 40, 48)

_TIME_CUE = r"(?i:at|by|from|until|till|to|around|about|approximately|before|after|time|@)"
_MERIDIEM = r"(?:[ap]\.[ ]?m\.|[ap]m\b|[AP]\.[ ]?M\.|[AP]M\b)"
_HOUR = r"(?:2[0-3]|1[0-9]|0?[0-9])"
_HOUR_WORD = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
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
    (
        "time-cue",
        rf"(?<!\w)(?:{_TIME_CUE}[ :]{{1,2}}|(?i:between|from) [0-9]:[0-5][0-9] (?:and|to) "
        rf"|[0-9]:[0-5][0-9] ?- ?)(?P<id>[0-9]:[0-5][0-9])(?![\w:/]|[.-][0-9])",
        0.8,
    ),
    (
        "time-uhr",
        r"(?<![\w.:,/-])(?:(?:[0-9]{1,2}[:.h][0-9]{2}|[0-9]{4})[ ]?(?:hrs|hours|Uhr|heures|h)"
        r"|[0-9]{1,2} ?(?:Uhr|o'clock))\b",
        0.85,
    ),
    ("time-french", r"(?<![\w.:,/-])(?:2[0-3]|1[0-9]|0?[0-9])h[0-5][0-9](?!\w)", 0.8),
)
_TIME_WORDS = (
    rf"(?i)(?<!\w)(?:(?:(?:half|quarter|five|ten|twenty(?:[- ]five)?)(?: minutes)? (?:past|after)|"
    rf"(?:quarter|(?:five|ten|twenty) minutes) to) {_HOUR_WORD}(?!\w| (?:years|days))"
    rf"|{_HOUR_WORD}(?:[ -](?:thirty|fifteen|forty[- ]five))? (?:o'clock|[ap]\.?m\b\.?)"
    rf"|half past [0-9]{{1,2}})"
)

PATTERNS: tuple[Pattern, ...] = (
    Pattern("date-iso", "date", _ISO, 0.97, TIGHT),
    Pattern("date-numeric", "date", _NUMERIC, 0.9, TIGHT, _is_calendar),
    Pattern("date-month-slash-year", "date", _MONTH_SLASH_YEAR, 0.85, TIGHT),
    Pattern("date-short", "date", _DAY_SLASH_MONTH, 0.65, TIGHT, _is_day_and_month),
    Pattern("date-padded", "date", _TWO_TWO, 0.6, TIGHT, _is_padded),
    Pattern("date-month-short-year", "date", _MONTH_SLASH_SHORT_YEAR, 0.6, MIDDLE),
    Pattern(
        "date-compact",
        "date",
        _COMPACT,
        0.85,
        Where(hints("date|dated|dob|birth|born|on "), 0, 16, figures=True),
    ),
    Pattern("date-day-month", "date", _DAY_FIRST, 0.97, _BY_MONTH, _is_cased),
    Pattern("date-month-day", "date", _MONTH_FIRST, 0.93, _BY_MONTH, _is_cased),
    Pattern("date-month-year", "date", _MONTH_YEAR, 0.95, _BY_MONTH),
    Pattern("date-ordinal", "date", _ORDINAL_DAY, 0.95, _BY_MONTH),
    Pattern("date-month-ordinal", "date", _MONTH_ORDINAL, 0.8, _BY_MONTH, _is_cased),
    Pattern("date-foreign", "date", _FOREIGN, 0.9, TIGHT),
    Pattern("date-foreign-year", "date", _FOREIGN_YEAR, 0.85, MIDDLE),
    Pattern(
        "date-season",
        "date",
        _SEASON,
        0.85,
        Where(
            hints("spring|summer|autumn|fall|winter|christmas|easter|thanksgiving|new year|q1|q2|q3|q4"),
            12,
            40,
            figures=True,
        ),
    ),
    Pattern("year", "date", _BARE_YEAR, 0.8, MIDDLE),
    Pattern("year-bracketed", "date", _BRACKETED_YEAR, 0.65, Where(("(",), 0, 24, figures=True)),
    Pattern("decade", "date", _DECADE, 0.6, TIGHT),
    *(Pattern(name, "time", regex, confidence, TIGHT) for name, regex, confidence in _TIMES),
    Pattern(
        "time-words",
        "time",
        _TIME_WORDS,
        0.85,
        Where(hints("past |o'clock|quarter |pm|am|p.m|a.m|after |twenty"), 40, 24),
    ),
)

_BIRTH_CUE = (
    r"(?i)(?<![^\W_])(?:born|birth(?:day|date)?s?|d\.? ?o\.? ?b\.?|b\.|geb(?:\.|oren)|geburtsdatum|né"
    r"(?:e)?|naissance|nacid[oa]"
    r"|nacimiento|nat[oa](?= il| a)|nascita|nasciment[oa]|geboortedatum|född|fødselsdato|data urodzenia)"
    r"(?:[\s:=.,()\-/]{0,6}|[ ,][^.;\n0-9]{0,60}?[\s:(]{0,3})$"
)
_BIRTH_AFTER = r"(?i)[ ,(]{0,2}(?:is (?:my|his|her|their) birthday|\(?(?:date of birth|dob))"
_BIRTH_HINTS = hints(
    "born|birth|dob|d.o.b|d o b|d.o b|d. o|b.|geb|né|naissance|nacid|nacim|nato|nata|nascit|nascim|född"
    "|fødsel|data"
)
_LOOK_BACK = 72
NEAR_BIRTH = Where(_BIRTH_HINTS, 60, 160)


def with_birth_dates(page: Page, found: Iterable[Entity]) -> Iterator[Entity]:
    """The same entities, with dates after a birth cue labeled as dates of birth."""
    near_birth = zones(page, NEAR_BIRTH)
    before, after = compiled(_BIRTH_CUE), compiled(_BIRTH_AFTER)
    for one in found:
        start, end = one.span.start, one.span.end
        if one.label == "date" and _lies_in(near_birth, start):
            cue = before.search(page.text[max(0, start - _LOOK_BACK) : start])
            if cue or after.match(page.text, end):
                name = one.source.removeprefix("pattern:")
                yield entity(f"birth-{name}", "date of birth", start, end, one.confidence)
                continue
        yield one


def _lies_in(places: Sequence[tuple[int, int]], place: int) -> bool:
    index = bisect_right(places, (place, sys.maxsize)) - 1
    return index >= 0 and place < places[index][1]
