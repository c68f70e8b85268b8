"""Words to the days that they may mean: "autumn of 1972", "the early 1960s", "3 and 9 May".

For judging replacements. It shares no code with the ladders of dates that make them.
"""

import re
from calendar import month_abbr, month_name, monthrange
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from math import inf

from eval.measures.said_numbers import Range

_MONTHS = {name: number for names in (month_abbr, month_name) for number, name in enumerate(names) if name}
_MONTHS["Sept"] = 9
_SEASONS = {"winter": (12, 2), "spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11)}
_QUARTERS = {"first": (1, 3), "second": (4, 6), "third": (7, 9), "fourth": (10, 12)}
_TENS = {
    "twenties": 2,
    "thirties": 3,
    "forties": 4,
    "fifties": 5,
    "sixties": 6,
    "seventies": 7,
    "eighties": 8,
}
_TENS["nineties"] = 9
_CENTURIES = {"sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20}
_CENTURIES["twenty-first"] = 21
_PARTS = {
    **dict.fromkeys(("early", "beginning", "start"), (0.0, 0.5)),
    **dict.fromkeys(("mid", "middle", "midpoint"), (0.25, 0.75)),
    **dict.fromkeys(("late", "end"), (0.5, 1.0)),
    **{"first half": (0.0, 0.55), "second half": (0.45, 1.0)},
}
"""The part of a whole; neighbours overlap, since people draw the lines differently."""
_CENTURY = r"(?:1[0-9]|20)"
_YEAR = rf"{_CENTURY}[0-9]{{2}}"
_TOKEN = re.compile(
    rf"(?P<iso>(?<!\d){_YEAR}-[01][0-9]-[0-3][0-9](?!\d))"
    rf"|(?P<figures>(?<!\d)[0-3]?[0-9][/.][0-3]?[0-9][/.](?:{_YEAR}|[0-9]{{2}})(?!\d))"
    rf"|(?P<month_year>(?<!\d)[01]?[0-9]/{_YEAR}(?!\d))"
    rf"|(?P<decade>(?:(?<!\d){_CENTURY}[0-9]0|['’][0-9]0)['’]?s\b|\b(?:nineteen )?(?i:{'|'.join(_TENS)})\b)"
    rf"|(?P<year>(?<!\d){_YEAR}(?:\s?[/–-]\s?(?:{_YEAR}|[0-9]{{1,2}}))?(?!\d))"
    rf"|(?P<century>\b(?i:[0-9]{{2}}(?:st|nd|rd|th)|{'|'.join(_CENTURIES)})[ -]century)"
    rf"|(?P<month>\b(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b)"
    rf"|(?P<season>\b(?i:{'|'.join(_SEASONS)})\b)"
    rf"|(?P<quarter>\b(?i:{'|'.join(_QUARTERS)}) quarter of)"
    rf"|(?P<part>\b(?i:{'|'.join(_PARTS)})\b)"
    r"|(?P<hedge>\b(?i:around|about|approximately|circa)\b)"
    r"|(?P<side>\b(?i:before|until|after|since)\b)"
    r"|(?P<day>(?<![\d.,:/])[0-3]?[0-9](?:st|nd|rd|th)?(?![\d:/]|[.,]\d|\s?[ap]\.?m|\w))"
)
_SOME_YEAR = 2000
_A_YEAR = 366.0
_WHOLE = frozenset(
    ("iso", "figures", "month_year", "decade", "year", "century", "month", "season", "quarter")
)
Slots = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Moment:
    """Days, in one of several readings; of any year, if ``dated`` is false."""

    readings: tuple[Range, ...]
    dated: bool = True

    def holds(self, other: "Moment") -> bool:
        """Whether the days of the other are among these, in some reading of both."""
        if self.dated != other.dated:
            return not self.dated and any(self.holds(_undated(days)) for days in other.readings)
        return any(mine.holds(days) for mine in self.readings for days in other.readings)

    @property
    def width(self) -> float:
        """How many days it may be; those of any year are more than those of one."""
        return self.readings[0].width * (1 if self.dated else _SOME_YEAR)


def moment_of(said: str) -> Moment | None:
    """The days from the first to the last that the words name; None where they name none."""
    groups = [slots for slots in _groups(said) if _WHOLE & slots.keys()]
    moments: list[Moment] = []
    year = ""
    for slots in reversed(groups):
        year = slots.get("year", year)
        moment = _moment({"year": year, **slots} if year and {"month", "season"} & slots.keys() else slots)
        moments += [moment] if moment else []
    if len(moments) < 2:
        return moments[0] if moments else None
    ends = [each.readings[0] for each in moments if each.dated] or [each.readings[0] for each in moments]
    days = Range(min(each.low for each in ends), max(each.high for each in ends))
    return Moment((days,), any(each.dated for each in moments))


def _undated(days: Range) -> Moment:
    first = date.fromordinal(int(max(days.low, 1)))
    shift = date(_SOME_YEAR, first.month, 1).toordinal() - first.replace(day=1).toordinal()
    once = Range(days.low + shift, days.high + shift)
    return Moment((once, Range(once.low + _A_YEAR, once.high + _A_YEAR)), dated=False)


def _groups(said: str) -> Iterator[dict[str, str]]:
    """The parts of one date after the other: a part that is there already starts the next date."""
    slots: dict[str, str] = {}
    for token in _TOKEN.finditer(said):
        kind = token.lastgroup or ""
        ended = "month" in slots and ("year" in slots or "day" in slots)
        if (kind in slots and kind != "day") or (kind in ("day", "part", "hedge") and ended):
            yield slots
            slots = {}
        slots[kind] = f"{slots['day']} {token.group()}" if kind == "day" and "day" in slots else token.group()
    yield slots


def _moment(slots: Slots) -> Moment | None:
    try:
        readings = _readings(slots)
    except ValueError:  # there is no 31 April
        return None
    if not readings:
        return None
    dated = bool({"iso", "figures", "month_year", "decade", "year", "century"} & slots.keys())
    return Moment(tuple(_modified(days, slots) for days in readings), dated)


def _modified(days: Range, slots: Slots) -> Range:
    """Its early or late part; what is around it, before it or after it."""
    if part := _PARTS.get(slots.get("part", "").casefold()):
        days = Range(days.low + part[0] * days.width, days.low + part[1] * days.width)
    if "hedge" in slots:
        days = Range(days.low - days.width, days.high + days.width)
    match slots.get("side", "").casefold():
        case "before" | "until" as side:
            return Range(-inf, days.low if side == "before" else days.high)
        case "after" | "since" as side:
            return Range(days.high if side == "after" else days.low, inf)
    return days


def _readings(slots: Slots) -> tuple[Range, ...]:
    numbers = {kind: [int(each) for each in re.findall(r"[0-9]+", said)] for kind, said in slots.items()}
    years = numbers.get("year", [_SOME_YEAR])
    if "iso" in slots or "month_year" in slots:
        year, month, *day = numbers.get("iso") or reversed(numbers["month_year"])
        return (_days(year, month, *day),)
    if "figures" in slots:
        return _by_figures(*numbers["figures"])
    if "decade" in slots:
        return (_years(_decade(slots["decade"]), 10),)
    if "century" in slots:
        word = re.split("[ -]century", slots["century"].casefold())[0]
        return (_years(100 * (_CENTURIES.get(word) or numbers["century"][0]) - 100, 100),)
    if "month" in slots:
        days = numbers.get("day", [])
        return (_days(years[0], _MONTHS[slots["month"]], *((min(days), max(days)) if days else ())),)
    if "season" in slots or "quarter" in slots:
        quarter = slots.get("quarter", "").split(" ")[0].casefold()
        first, last = _QUARTERS[quarter] if quarter else _SEASONS[slots["season"].casefold()]
        if first < last:
            return (Range(_days(years[0], first).low, _days(years[0], last).high),)
        # the winter of a year is the one that begins in it, or the one that ends in it
        starts = (years[0], years[0] - 1)
        return tuple(Range(_days(each, first).low, _days(each + 1, last).high) for each in starts)
    figures = 10 ** len(str(years[-1]))
    return (_years(years[0], years[0] // figures * figures + years[-1] - years[0] + 1),)


def _by_figures(one: int, two: int, year: int) -> tuple[Range, ...]:
    """A day and a month in either order, where both are possible."""
    year += 0 if year > 99 else 1900 if year > 30 else 2000
    return tuple(_days(year, month, day) for day, month in {(one, two), (two, one)} if month <= 12)


def _decade(said: str) -> int:
    if figures := re.search(r"\d+", said):
        return int(figures.group()) + (0 if len(figures.group()) > 2 else 1900)
    return 1900 + 10 * _TENS[said.casefold().split()[-1]]


def _days(year: int, month: int, first: int = 0, last: int = 0) -> Range:
    """The days of a month, or those from its day ``first`` to ``last``."""
    final = last or first or monthrange(year, month)[1]
    return Range(
        float(date(year, month, first or 1).toordinal()), float(date(year, month, final).toordinal() + 1)
    )


def _years(first: int, count: int) -> Range:
    return Range(float(date(first, 1, 1).toordinal()), float(date(first + count, 1, 1).toordinal()))
