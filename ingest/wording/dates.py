"""Ladders of dates (INTACT, section 3.1, and the rules of its code), and of times of the day."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.detection.patterns.words import MONTHS
from ingest.wording.numerals import TENS, UNITS, number_of
from ingest.wording.rungs import Rung

NAMES = tuple("January February March April May June July August September October November December".split())
SEASONS = ("winter", "spring", "summer", "autumn")
WEEKDAY = re.compile(r"(?i)\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?\b\.?")
_MONTH = re.compile(rf"(?i)(?<![^\W\d_])(?:{MONTHS})(?![^\W\d_])\.?")
_YEAR = re.compile(r"(?<![0-9:.,/-])(?:1[5-9]|20)[0-9]{2}(?![0-9:]|['’]?s(?![^\W_]))")
_SHORT_YEAR = re.compile(r"['’]([0-9]{2})(?![0-9])")
_DAY = re.compile(r"(?<![0-9:.])([0-3]?[0-9])(?:st|nd|rd|th)?(?![0-9:.]|\s*[ap]\.?m)")
_ISO = re.compile(r"((?:1[5-9]|20)[0-9]{2})[-/.]([01]?[0-9])(?:[-/.]([0-3]?[0-9]))?(?![0-9])")
_TWO_YEARS = re.compile(r"((?:1[5-9]|20)[0-9]{2})[/-]([0-9]{2})")
"""2008/09: a season or a school year."""
_NUMERIC = re.compile(
    r"([0-3]?[0-9])\s?[/.-]\s?([0-3]?[0-9])(?:\s?[/.-]\s?((?:1[5-9]|20)?[0-9]{2}))?(?![0-9])"
)
_MONTH_YEAR = re.compile(r"([01]?[0-9])/((?:1[5-9]|20)[0-9]{2})(?![0-9])")
_SHORT_MONTH_YEAR = re.compile("([01]?[0-9])/([5-9][0-9])")
"""5/92: no day is so high, and no card is valid so long."""
_DECADE = re.compile(r"(?:(early|mid|late)[- ])?((?:1[5-9]|20)[0-9]0)['’]?s")
_CLOCK = re.compile(
    r"(?i)\b[0-2]?[0-9](?:[:h][0-5][0-9])+(?:\.[0-9]+)?\s*(?:[ap]\.?m\b\.?)?"
    r"|\b[0-2]?[0-9](?:\.[0-5][0-9])?\s*[ap]\.?m\b\.?"
)
_TWO_HOURS = re.compile(
    r"(?i)([0-2]?[0-9](?:[:.][0-5][0-9])?) ?(?:-|–|to) ?[0-2]?[0-9](?:[:.][0-5][0-9])? ?([ap])\.?m\b"
)
"""2-6pm: the first is of the half of the day that the second says."""
_FOUR_FIGURES = re.compile(r"(?i)([01][0-9]|2[0-3])[0-5][0-9] ?(?:hours|hrs|h)")
_OFFSET = re.compile(r"(?i) ?(?:(?:UTC|GMT) ?[+-]|\+)[01]?[0-9](?::?[0-5][0-9])?$")
"""The zone behind a time: UTC-05:00."""
_YEAR_BEHIND = re.compile(r"(?i)(?<=[a-z])[/-](?=(?:1[5-9]|20)[0-9]{2}(?![0-9]))")
"""The sign before the year in 3rd/2019."""
_CENTURIES = {"eighteen": 1800, "nineteen": 1900, "twenty": 2000, "two thousand": 2000}
_TENS = tuple(f"{word[:-1]}ies" for word in TENS)
_SMALL = "|".join((*UNITS[1:], *TENS))
_SPOKEN_YEAR = re.compile(
    r"(?i)(?<![^\W_])(?P<century>two thousand(?= |$|[^\w ])"
    rf"|(?:eighteen|nineteen|twenty)(?= (?:{_SMALL})(?![^\W_])))"
    rf"(?: and)?(?: (?P<rest>(?:{_SMALL})(?:[- ](?:{_SMALL}))?))?(?![^\W_])"
)
_MONTH_ENDS = re.compile(rf"(?i)(?<![^\W\d_])(?:{MONTHS})\.?,? $")
"""Before "twenty three", which is its day."""
_SPOKEN_DECADE = re.compile(
    rf"(?i)(?<![^\W_])(?P<century>eighteen|nineteen) (?P<tens>{'|'.join(_TENS)})(?![^\W_])"
)
_OH_YEAR = re.compile(rf"(?i)(?<=[a-z]) (?:of )?(?:o|oh|zero) (?P<unit>{'|'.join(UNITS[1:10])})(?![^\W_])")
"""May O two."""
_ONES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_TEENTHS = (
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth"),
    *("fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
)
_DAYS = {
    **{word: number for number, word in enumerate((*_ONES, *_TEENTHS, "twentieth"), 1)},
    **{f"twenty {word}": 20 + number for number, word in enumerate(_ONES, 1)},
    **{"thirtieth": 30, "thirty first": 31},
}
_LONGEST_FIRST = sorted(_DAYS, key=len, reverse=True)
_SPOKEN_DAY = re.compile(
    rf"(?ai)(?<![a-z0-9])(?:{'|'.join(word.replace(' ', '[- ]') for word in _LONGEST_FIRST)})(?![a-z0-9])"
)
_ATOM = re.compile(
    rf"(?i){_ISO.pattern}|(?:the )?(?:[0-3]?[0-9](?:st|nd|rd|th)?(?: day)? (?:of )?)?(?:{MONTHS})"
    rf"(?![^\W\d_])\.?(?:,? ?(?:the )?[0-3]?[0-9](?:st|nd|rd|th)?(?![0-9:]))?"
    rf"(?:,? (?:of )?(?:1[5-9]|20)[0-9]{{2}})?"
    rf"|{_MONTH_YEAR.pattern}|{_NUMERIC.pattern}|(?<![0-9])(?:1[5-9]|20)[0-9]{{2}}(?![0-9])"
)
_RANGE = re.compile(r"\s?(?:-|–|to|and|until|till|through|/)\s?")


@dataclass(frozen=True, slots=True)
class Date:
    """What a date says; None for what it leaves open. A day without a month is a day of some month."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


def date_of(said: str) -> Date | None:
    """The date that the words say; None where they say none that is understood.

    Where both 3 April and 4 March are possible, the month is left open.
    """
    text = _YEAR_BEHIND.sub(" ", WEEKDAY.sub(" ", _CLOCK.sub(" ", in_figures(said))))
    if (two := _TWO_YEARS.fullmatch(text.strip())) and int(two[2]) == (int(two[1]) + 1) % 100:
        return Date(int(two[1]))
    if iso := _ISO.search(text):
        if int(iso[2]) > 12:
            return Date(int(iso[1]), None, int(iso[2]))
        return Date(int(iso[1]), int(iso[2]) or None, int(iso[3]) if iso[3] else None)
    if both := _MONTH_YEAR.fullmatch(text.strip()):
        return Date(int(both[2]), int(both[1])) if 1 <= int(both[1]) <= 12 else None
    if named := _MONTH.search(text):
        rest = f"{text[: named.start()]} {text[named.end() :]}"
        year = _year(rest)
        day = _DAY.search(_SHORT_YEAR.sub(" ", _YEAR.sub(" ", rest)))
        number = int(day[1]) if day and 1 <= int(day[1]) <= 31 else None
        return Date(year, _month(named.group()), number)
    if (short := _SHORT_MONTH_YEAR.fullmatch(text.strip())) and 1 <= int(short[1]) <= 12:
        return Date(1900 + int(short[2]), int(short[1]))
    if numeric := _NUMERIC.search(text):
        return _by_figures(int(numeric[1]), int(numeric[2]), numeric[3])
    year = _year(text)
    return Date(year) if year else None


def in_figures(said: str) -> str:
    """The words with spoken years, decades and days in figures: "March 8th 2006", "the 1940s"."""

    def year(match: re.Match[str]) -> str:
        rest = number_of(match["rest"]) if match["rest"] else 0
        if rest is None:
            return match.group()
        day = match["century"].casefold() == "twenty" and rest < 10
        if day and _MONTH_ENDS.search(match.string[: match.start()]):
            return f"{20 + int(rest)}th"
        return str(int(_CENTURIES[match["century"].casefold()] + rest))

    def decade(match: re.Match[str]) -> str:
        tens = 2 + _TENS.index(match["tens"].casefold())
        return f"{_CENTURIES[match['century'].casefold()] + 10 * tens}s"

    text = _SPOKEN_DECADE.sub(decade, said)
    text = _SPOKEN_YEAR.sub(year, text)
    text = _OH_YEAR.sub(lambda match: f" {2000 + UNITS.index(match['unit'].casefold())}", text)
    return _SPOKEN_DAY.sub(lambda match: f"{_DAYS[match.group().casefold().replace('-', ' ')]}th", text)


def _year(text: str) -> int | None:
    if full := _YEAR.search(text):
        return int(full.group())
    short = _SHORT_YEAR.search(text)
    return _of_two(int(short[1])) if short else None


def _of_two(year: int) -> int:
    return year + (2000 if year <= 30 else 1900)


def _month(name: str) -> int:
    return next(n for n, month in enumerate(NAMES, 1) if month.casefold().startswith(name[:3].casefold()))


def _by_figures(first: int, second: int, said: str | None) -> Date | None:
    year = None if said is None else int(said) if len(said) == 4 else _of_two(int(said))
    low, high = sorted((first, second))
    if said is None and (low, high) == (7, 24):
        return None
    if not (1 <= low <= 12 and high <= 31) or (said is None and high <= 12):
        # a day all the same, though its month is open
        return Date(year, None, low) if year and high <= 12 else Date(year) if year else None
    if high > 12:
        return Date(year, low, high)
    return Date(year, low, low) if low == high else Date(year, None, low)


def rungs_of_date(date: Date) -> Iterator[Rung]:
    """The rungs of a date; ``admits`` counts days where it names a day, else months, else years."""
    if date.year is None:
        yield from _of_no_year(date)
        return
    year, days = date.year, 1.0
    if date.month and date.day:
        yield Rung(f"{NAMES[date.month - 1]} {year}", 30)
        days = 30.42
    if date.month:
        yield Rung(f"{_season(date.month)} {year}", 3 * days)
        yield Rung(str(year), 12 * days)
        days *= 12
    elif date.day:
        yield Rung(str(year), 365)
        days = 365
    ending = year % 10
    yield Rung(f"the {_part_of_decade(ending)} {year // 10 * 10}s", (4 if ending < 4 else 3) * days)
    yield Rung(f"the {year // 10 * 10}s", 10 * days)
    yield Rung(f"the {_part_of_century(year % 100)} {_ordinal(year // 100 + 1)} century", 30 * days)
    yield Rung(f"the {_ordinal(year // 100 + 1)} century", 100 * days)


def _of_no_year(date: Date) -> Iterator[Rung]:
    month = NAMES[(date.month or 1) - 1]
    if date.month and date.day:
        third = ("early", "mid", "late")[min(2, (date.day - 1) // 10)]
        yield Rung(f"{third}{'-' if third == 'mid' else ' '}{month}", 10)
        yield Rung(f"the {'first' if date.day <= 15 else 'second'} half of {month}", 15)
        yield Rung(month, 30)
        yield Rung(f"the {_season(date.month)}", 91)
    elif date.month:
        yield Rung(f"the {_season(date.month)}", 3)
        yield Rung(f"the {'first' if date.month <= 6 else 'second'} half of the year", 6)
    yield Rung("[month]")


def _season(month: int) -> str:
    return SEASONS[month % 12 // 3]


def _part_of_decade(ending: int) -> str:
    return "early" if ending <= 3 else "mid" if ending <= 6 else "late"


def _part_of_century(year: int) -> str:
    return "early" if year <= 30 else "mid" if year <= 60 else "late"


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def atoms(said: str) -> list[tuple[int, int, Date]]:
    """The dates within a mention that are joined by nothing but words of a range; empty if it is no range."""
    found = [
        (match.start(), match.end(), date)
        for match in _ATOM.finditer(_YEAR_BEHIND.sub(" ", said))
        if (date := date_of(match.group())) is not None
    ]
    gaps = [said[one[1] : other[0]] for one, other in zip(found, found[1:], strict=False)]
    return found if len(found) > 1 and all(_RANGE.fullmatch(gap) for gap in gaps) else []


def decade_of(said: str) -> list[Rung]:
    """The rungs of "the early 1990s"."""
    found = _DECADE.search(in_figures(said))
    if found is None:
        return []
    year = int(found[2])
    rungs = [Rung(f"the {year}s", 10)] if found[1] else []
    return [*rungs, Rung(f"the {_ordinal(year // 100 + 1)} century", 10)]


_RELATIVE = (
    (re.compile(r"(?i).*\bago"), "some time ago"),
    (re.compile(r"(?i)(?:yesterday|the other day|last (?:night|week|month|weekend|\w+day))\b.*"), "recently"),
    (
        re.compile(
            r"(?i)(?:the )?(?:last )?(?:year|spring|summer|autumn|fall|winter) before(?: last)?"
            r"|(?:a )?years? before|last (?:year|spring|summer|autumn|fall|winter)"
        ),
        "some time ago",
    ),
    (re.compile(r"(?i)(?:tomorrow|next (?:week|month|weekend|\w+day))\b.*"), "soon"),
    (re.compile(r"(?i)today|tonight|this (?:morning|afternoon|evening|week|\w+day)"), "that day"),
)


def relative_of(said: str) -> str | None:
    """What "three weeks ago" says without its measure; None for what is not relative."""
    return next((words for pattern, words in _RELATIVE if pattern.fullmatch(said.strip())), None)


def part_of_day(said: str) -> str | None:
    """Morning, afternoon, evening or night, of a time or of both its ends; None if it leaves that open."""
    text = said.strip()
    if two := _TWO_HOURS.search(text):
        text = f"{two[1]} {two[2]}m {text[two.end(1) :]}"
    clocks = [clock.group() for clock in _CLOCK.finditer(_OFFSET.sub("", text))]
    if len(clocks) > 1:
        parts = {_part_of_clock(clock) for clock in clocks}
        return parts.pop() if len(parts) == 1 else None
    if four := _FOUR_FIGURES.fullmatch(text):
        return _part(int(four[1]))
    named = {"noon": "afternoon", "midnight": "night"}.get(text.casefold())
    return named or _part_of_clock(clocks[0] if clocks else text)


def _part_of_clock(said: str) -> str | None:
    found = re.search(r"(?i)([0-2]?[0-9])(?:[:.h][0-5][0-9])*\s*([ap])?\.?(?:m\b)?", said)
    if found is None or int(found[1]) > 23:
        return None
    hour = int(found[1])
    if found[2]:
        hour = hour % 12 + (12 if found[2] in "pP" else 0)
    elif hour <= 12 and not re.fullmatch(r"0[0-9].*", found.group().strip()):
        return None
    return _part(hour)


def has_clock(said: str) -> bool:
    """Whether the words say a time of the clock."""
    return _CLOCK.search(said) is not None


def _part(hour: int) -> str:
    if hour < 5 or hour >= 22:
        return "night"
    return "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"
