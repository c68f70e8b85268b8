"""Dates, times and ages, as they are written and as they are said."""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random

from models.training.synthetic.marked import Marked, mark
from models.training.synthetic.stage import Stage, weighted

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()


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


def _suffixed(day: int) -> str:
    suffix = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{suffix}"


def _numeric(day: date, random: Random) -> str:
    form = random.choice(
        ("%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d.%m.%Y", "%d-%m-%Y", "%Y-%m-%d", "%d/%m/%y", "%m-%d-%Y")
    )
    if random.random() < 0.2:
        return f"{day.month}/{day.day}/{day.year}"
    return day.strftime(form)


def _long(day: date, random: Random) -> str:
    month = MONTHS[day.month - 1]
    return random.choice(
        (
            f"{month} {day.day}, {day.year}",
            f"{day.day} {month} {day.year}",
            f"{_suffixed(day.day)} {month} {day.year}",
            f"{month} {_suffixed(day.day)}, {day.year}",
            f"{_suffixed(day.day)} of {month}, {day.year}",
            f"{month[:3]} {day.day}, {day.year}",
            f"{day.day:02d}-{month[:3]}-{day.year}",
            f"{day.day} {month[:3]} {day.year}",
        )
    )


def _short(day: date, random: Random) -> str:
    month = MONTHS[day.month - 1]
    return random.choice(
        (
            f"{month} {day.day}",
            f"{day.day} {month}",
            f"the {_suffixed(day.day)} of {month}",
            f"{month[:3]} {_suffixed(day.day)}",
            f"{day.month}/{day.day}",
            f"{month} {_suffixed(day.day)}",
        )
    )


def _spoken(day: date, random: Random) -> str:
    month = MONTHS[day.month - 1]
    said = random.choice((f"the {ordinal_words(day.day)} of {month}", f"{month} {ordinal_words(day.day)}"))
    if random.random() < 0.5:
        said += random.choice((" ", ", ")) + year_words(day.year)
    return said if random.random() < 0.5 else said.lower()


def _weekday(day: date, random: Random) -> str:
    name = WEEKDAYS[day.weekday()]
    month = MONTHS[day.month - 1]
    return random.choice((name, name, f"{name}, {day.day} {month}", f"{name} {month} {_suffixed(day.day)}"))


_WRITE: dict[str, Callable[[date, Random], str]] = {
    "numeric": _numeric,
    "long": _long,
    "short": _short,
    "spoken": _spoken,
    "weekday": _weekday,
    "iso": lambda day, random: day.isoformat(),
    "year": lambda day, random: str(day.year),
    "yearwords": lambda day, random: year_words(day.year),
    "month": lambda day, random: f"{MONTHS[day.month - 1]} {day.year}",
    "monthname": lambda day, random: MONTHS[day.month - 1],
    "log": lambda day, random: f"{day.day:02d}/{MONTHS[day.month - 1][:3]}/{day.year}",
    "mail": lambda day, random: (
        f"{WEEKDAYS[day.weekday()][:3]}, {day.day} {MONTHS[day.month - 1][:3]} {day.year}"
    ),
}
_USUAL = (("numeric", 4.0), ("long", 5.0), ("short", 1.5), ("iso", 1.0))
_USUAL_WITH_YEAR = (("numeric", 4.0), ("long", 4.0), ("iso", 1.0))


def written(day: date, random: Random, style: str = "") -> str:
    """The day in that style, or in a usual one."""
    return _WRITE[style or weighted(random, _USUAL)](day, random)


def any_date(stage: Stage, style: str) -> Marked:
    """A day within three years of the example's own; a year alone may lie decades back."""
    back = 12000 if style.startswith("year") else 1100
    day = stage.today - timedelta(days=stage.random.randrange(back))
    return Marked(written(day, stage.random, style))


def birth(stage: Stage, born: date, style: str) -> Marked:
    """A day of birth, which is a date as well."""
    style = style or weighted(stage.random, _USUAL_WITH_YEAR)
    return mark(written(born, stage.random, style), "date of birth", "date")


def age(stage: Stage, years: int, style: str) -> Marked:
    """An age: digits, or words, or the compound that stands before "man"."""
    said = {
        "": str(years),
        "words": number_words(years),
        "compound": f"{years}-year-old",
        "compoundwords": f"{number_words(years)}-year-old",
        "short": stage.random.choice((f"{years} yo", f"{years} y/o", f"{years}yo", f"{years} year old")),
    }
    return mark(said[style], "person age")


def clock(stage: Stage, style: str) -> Marked:
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
        return Marked(shown[style])
    return Marked(random.choice((shown["hm"], shown["half"], shown["half"], f"{hour % 12 + 1}{half}")))
