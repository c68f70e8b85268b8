"""The fixed public domains of LPRAG, from which each label's values are drawn.

A domain is part of the program and independent of every document. The guarantee rests on this: every value of
a label has the same possible replacements.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, partial
from string import capwords

from ingest.detection.patterns.words import CARDINAL
from ingest.language.vocabulary import entries, fold, words
from ingest.linking.values import date_key


@dataclass(frozen=True, slots=True)
class Words:
    """A fixed list of words and phrases, loaded lazily."""

    listed: Callable[[], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A fixed range, in the unit of ``read``, and one constant wording for its values.

    ``read`` returns None if there is no such number; the middle of the range is used then, so that the
    replacement does not reveal whether the mention could be parsed.
    """

    low: float
    high: float
    read: Callable[[str], float | None]
    write: Callable[[float], str]


Domain = Words | Numbers


@cache
def phrases(*names: str, proper: bool = False) -> tuple[str, ...]:
    """The distinct entries of the word lists ``names``, capitalized as names if ``proper``."""
    found = dict.fromkeys(entry for name in names for entry in entries(name))
    return tuple(map(capwords, found)) if proper else tuple(found)


@cache
def full_names() -> tuple[str, ...]:
    """One full name for each given name of the lists; surnames take turns."""
    given = sorted(words("given_names"))
    # Reversed, so that the two alphabetical lists do not pair Anna with Abbott and Zoe with Zimmerman.
    family = sorted(words("surnames"), key=lambda name: name[::-1])
    return tuple(capwords(f"{name} {family[turn % len(family)]}") for turn, name in enumerate(given))


@cache
def vocabulary() -> tuple[str, ...]:
    """About ten thousand single words, sorted: the neighbor vocabulary of the compatible mode."""
    names = ("common_words", "given_names", "surnames", "cities", "countries", "organizations", "jobs")
    medical = ("diseases", "symptoms", "medications", "medical_tests", "procedures")
    return tuple(sorted(words(*names, *medical)))


_VALUES = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
        " sixteen seventeen eighteen nineteen".split()
    )
} | dict(
    zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True)
)
_VALUE = re.compile("|".join(sorted(_VALUES, key=len, reverse=True)))
_QUANTITY = re.compile(
    rf"(?:(?P<figure>\d[\d,]*(?:\.\d+)?)|\b(?P<words>{CARDINAL})(?![^\W\d_]))[\s-]*(?P<unit>[^\W\d_]+|['\"])?"
)

_DAYS: Mapping[str, float] = {
    "second": 1 / 86400, "minute": 1 / 1440, "hour": 1 / 24, "day": 1, "night": 1, "week": 7, "wk": 7,
    "month": 30, "mo": 30, "year": 365, "yr": 365, "decade": 3650,
}  # fmt: skip
_YEARS: Mapping[str, float] = {
    "year": 1, "yr": 1, "y": 1, "month": 1 / 12, "mo": 1 / 12, "week": 1 / 52, "wk": 1 / 52, "day": 1 / 365,
}  # fmt: skip
_MONEY: Mapping[str, float] = {
    "billion": 1e9, "bn": 1e9, "million": 1e6, "mn": 1e6, "m": 1e6, "thousand": 1e3, "k": 1e3, "hundred": 100,
}  # fmt: skip
_CENTIMETERS: Mapping[str, float] = {
    "m": 100, "meter": 100, "metre": 100, "feet": 30.48, "foot": 30.48, "ft": 30.48, "'": 30.48, "cm": 1,
    "inche": 2.54, "inch": 2.54, "in": 2.54, '"': 2.54,
}  # fmt: skip
_MILLIGRAMS: Mapping[str, float] = {"kg": 1e6, "g": 1e3, "gram": 1e3, "mg": 1, "mcg": 1e-3, "ug": 1e-3}


def amount(said: str, units: Mapping[str, float]) -> float | None:
    """The first quantity of ``said``, plus following ones in smaller units: "2 years and 3 months".

    In the unit whose value in ``units`` is 1. A number without a unit takes the next one ("2-3 weeks"), or 1
    if there is none. None without a number in figures or in words up to 99.
    """
    found = [(_figure(match), units.get((match["unit"] or "").removesuffix("s")))
             for match in _QUANTITY.finditer(fold(said))]  # fmt: skip
    if not found:
        return None
    smallest = next((unit for _, unit in found if unit is not None), 1.0)
    total = found[0][0] * smallest
    for figure, unit in found[1:]:
        if unit is not None and unit < smallest:
            total, smallest = total + figure * unit, unit
    return total


def _figure(match: re.Match[str]) -> float:
    if match["figure"]:
        return float(match["figure"].replace(",", ""))
    return float(sum(_VALUES[part] for part in _VALUE.findall(match["words"])))


def _magnitude(said: str, units: Mapping[str, float]) -> float | None:
    """The logarithm to base 10, so that noise scales with the value."""
    value = amount(said, units)
    return None if value is None else math.log10(max(value, 1e-9))


def _magnitudes(low: float, high: float, wording: str, units: Mapping[str, float]) -> Numbers:
    def write(magnitude: float) -> str:
        return wording.format(round(10**magnitude))

    return Numbers(math.log10(low), math.log10(high), partial(_magnitude, units=units), write)


FIRST_DAY, LAST_DAY = date(1930, 1, 1), date(2029, 12, 31)
_LONE_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def _day(said: str) -> float | None:
    """The ordinal of the day; missing parts take their middle, ambiguous dates their first reading."""
    _, *parts = date_key(said) or ("",)
    lone = _LONE_YEAR.search(said)
    if not parts and lone is None:
        return None
    if not parts and lone is not None:
        parts = [lone.group(), "", ""]
    if parts[2:] and len(parts[2]) == 4:
        parts = [parts[2], parts[0], parts[1]]
    year, month, day = (int(part) if part else None for part in parts)
    year = min(max(year or 1980, FIRST_DAY.year), LAST_DAY.year)
    return float((date(year, month or 7, 1) + timedelta(days=(day or 15) - 1)).toordinal())


def _written_day(ordinal: float) -> str:
    return date.fromordinal(round(ordinal)).isoformat()


_PLACES = Words(partial(phrases, "cities", proper=True))
_STATES = Words(partial(phrases, "states", proper=True))
_NAMES = Words(full_names)
_DISEASES = Words(partial(phrases, "diseases"))
_DATES = Numbers(float(FIRST_DAY.toordinal()), float(LAST_DAY.toordinal()), _day, _written_day)

DOMAINS: Mapping[str, Domain] = {
    "person full name": _NAMES,
    "bank account name": _NAMES,
    "gender": Words(partial(phrases, "genders")),
    "job title": Words(partial(phrases, "jobs")),
    "city name": _PLACES,
    "county": _STATES,
    "state or province": _STATES,
    "country": Words(partial(phrases, "countries", proper=True)),
    "place": Words(partial(phrases, "places", proper=True)),
    "nationality": Words(partial(phrases, "demonyms", proper=True)),
    "demographic attribute": Words(partial(phrases, "ethnicities", proper=True)),
    "language": Words(partial(phrases, "languages", proper=True)),
    "religion": Words(partial(phrases, "religions", proper=True)),
    "marital status": Words(partial(phrases, "marital_statuses")),
    "organization": Words(partial(phrases, "organizations", proper=True)),
    "symptom": Words(partial(phrases, "symptoms")),
    "disease": _DISEASES,
    "diagnosis": _DISEASES,
    "medication": Words(partial(phrases, "medications")),
    "medical test": Words(partial(phrases, "medical_tests")),
    "procedure": Words(partial(phrases, "procedures")),
    "medical department": Words(partial(phrases, "departments")),
    "allergy": Words(partial(phrases, "allergens")),
    "date": _DATES,
    "date of birth": _DATES,
    "person age": Numbers(0, 120, partial(amount, units=_YEARS), lambda age: f"{round(age)} years old"),
    "person height": Numbers(50, 220, partial(amount, units=_CENTIMETERS), lambda cm: f"{round(cm)} cm"),
    "building number": _magnitudes(1, 1000, "{}", {}),
    "duration": _magnitudes(2, 10_000, "{} days", _DAYS),
    "dosage": _magnitudes(1, 10_000, "{} mg", _MILLIGRAMS),
    "monetary amount": _magnitudes(1, 10_000_000, "${:,}", _MONEY),
    "quantity": _magnitudes(1, 1_000_000, "{:,}", _MONEY),
}
"""Domains by label. Every other label gets its constant descriptor, which costs no budget.

The unit of a number is replaced too: each label has one wording for all its values.
"""
