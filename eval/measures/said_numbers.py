"""Words to the numbers that they may mean: "several thousand", "40 to 44", "more than ten years".

For judging replacements. It shares no code with the ladders that make them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nextafter, prod

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
    **{
        "fortnight": ("time", 14),
        "month": ("time", 30.4),
        "year": ("time", 365.25),
        "decade": ("time", 3652),
    },
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
        """How far it is from the lowest to the highest value."""
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
    for index, match in enumerate(matches):
        end = matches[index + 1].start() if index + 1 < len(matches) else len(said)
        if index + 1 < len(matches) and _BETWEEN.fullmatch(said, match.end(), end):
            continue
        first = next(each for each in matches if each.start() >= start)
        scale = match["scale"] if first is not match and not first["scale"] else ""
        low, high = _plain(first, scale), _plain(match)
        one = _bounded(
            Range(min(low[0], high[0]), high[1]), said[start : first.start()], said[match.end() : end]
        )
        one = _in_units(one, said[start : first.start()], said[match.end() : end])
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
