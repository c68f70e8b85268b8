"""Dates, times and ages, in written and spoken forms."""

from datetime import date, timedelta
from random import Random

from models.training.synthetic.marked import MarkedPiece, mark
from models.training.synthetic.stage import Stage, weighted

_MONTHS = ("January February March April May June July August September October November December").split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_LAYOUTS: dict[str, tuple[str, ...]] = {
    "numeric": (
        *("{mm}/{dd}/{year}", "{dd}/{mm}/{year}", "{mm}/{dd}/{yy}", "{dd}.{mm}.{year}", "{dd}-{mm}-{year}"),
        *("{year}-{mm}-{dd}", "{dd}/{mm}/{yy}", "{mm}-{dd}-{year}", "{m}/{d}/{year}", "{m}/{d}/{year}"),
    ),
    "long": (
        *("{month} {d}, {year}", "{d} {month} {year}", "{nth} {month} {year}", "{month} {nth}, {year}"),
        *("{nth} of {month}, {year}", "{mon} {d}, {year}", "{dd}-{mon}-{year}", "{d} {mon} {year}"),
    ),
    "short": (
        *("{month} {d}", "{d} {month}", "the {nth} of {month}", "{mon} {nth}", "{m}/{d}", "{month} {nth}"),
    ),
    "spoken": tuple(
        f"{day}{year}"
        for day in ("the {said} of {month}", "{month} {said}")
        for year in ("", "", " {year_said}", ", {year_said}")
    ),
    "weekday": ("{weekday}", "{weekday}", "{weekday}, {d} {month}", "{weekday} {month} {nth}"),
    "iso": ("{year}-{mm}-{dd}",),
    "year": ("{year}",),
    "yearwords": ("{year_said}",),
    "month": ("{month} {year}",),
    "monthname": ("{month}",),
    "log": ("{dd}/{mon}/{year}",),
    "mail": ("{wday}, {d} {mon} {year}",),
}
_USUAL = (("numeric", 4.0), ("long", 5.0), ("short", 1.5), ("iso", 1.0))
_USUAL_WITH_YEAR = (("numeric", 4.0), ("long", 4.0), ("iso", 1.0))


def number_words(number: int) -> str:
    """A number below one hundred in words."""
    if number < 20:
        return _UNITS[number]
    tens, unit = divmod(number, 10)
    return _TENS[tens] + (f"-{_UNITS[unit]}" if unit else "")


def ordinal_words(number: int) -> str:
    """The day of a month in words."""
    if number <= 20:
        return _ORDINALS[number]
    tens, unit = divmod(number, 10)
    return f"{_TENS[tens]}-{_ORDINALS[unit]}" if unit else "thirtieth"


def year_words(year: int) -> str:
    """A year as it is said."""
    century, rest = divmod(year, 100)
    if century == 20 and rest < 10:
        return f"two thousand {number_words(rest)}" if rest else "two thousand"
    return f"{number_words(century)} {number_words(rest).replace('-', ' ') if rest else 'hundred'}"


def written(day: date, random: Random, style: str) -> str:
    """The day in that style."""
    ending = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    month, weekday = _MONTHS[day.month - 1], _WEEKDAYS[day.weekday()]
    text = random.choice(_LAYOUTS[style]).format(
        **{"d": day.day, "dd": f"{day.day:02d}", "nth": f"{day.day}{ending}", "said": ordinal_words(day.day)},
        **{"m": day.month, "mm": f"{day.month:02d}", "mon": month[:3], "month": month},
        **{"year": day.year, "yy": f"{day.year % 100:02d}", "year_said": year_words(day.year)},
        **{"weekday": weekday, "wday": weekday[:3]},
    )
    return text.lower() if style == "spoken" and random.random() < 0.5 else text


def any_date(stage: Stage, style: str) -> MarkedPiece:
    """A day within three years of the example's own; a year alone may lie decades back."""
    back = 12000 if style.startswith("year") else 1100
    day = stage.today - timedelta(days=stage.random.randrange(back))
    return MarkedPiece(written(day, stage.random, style or weighted(stage.random, _USUAL)))


def birth(stage: Stage, born: date, style: str) -> MarkedPiece:
    """A day of birth, which is a date as well."""
    style = style or weighted(stage.random, _USUAL_WITH_YEAR)
    return mark(written(born, stage.random, style), "date of birth", "date")


def age(stage: Stage, years: int, style: str) -> MarkedPiece:
    """An age: digits, or words, or the compound that stands before "man"."""
    said = {
        "": str(years),
        "words": number_words(years),
        "compound": f"{years}-year-old",
        "compoundwords": f"{number_words(years)}-year-old",
        "short": stage.random.choice((f"{years} yo", f"{years} y/o", f"{years}yo", f"{years} year old")),
    }
    return mark(said[style], "person age")


def clock(stage: Stage, style: str) -> MarkedPiece:
    """A time of day."""
    random = stage.random
    hour, minute, second = random.randrange(24), random.randrange(60), random.randrange(60)
    half = random.choice(("am", "pm", " AM", " PM", " a.m.", " p.m."))
    shown = {
        "full": f"{hour:02d}:{minute:02d}:{second:02d}",
        "hm": f"{hour:02d}:{minute:02d}",
        "half": f"{hour % 12 + 1}:{minute:02d}{half}",
        "words": f"{random.choice(('half past', 'quarter to'))} {number_words(hour % 12 + 1)}",
    }
    if style:
        return MarkedPiece(shown[style])
    return MarkedPiece(random.choice((shown["hm"], shown["half"], shown["half"], f"{hour % 12 + 1}{half}")))
