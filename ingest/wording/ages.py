"""Ladders of ages: a band of five years, one of ten, an adult."""

import re
from collections.abc import Iterator

from ingest.wording.numerals import TENS, number_of
from ingest.wording.rungs import Rung

OLDEST = 90
"""From here on all ages are one, as in the safe harbour of HIPAA (45 CFR 164.514 (b)(2)(i)(C))."""
_ADULT, _LONGEST = 20, 130
_UNIT = re.compile(r"(?i)\b(years?|yrs?|yo|y|months?|mos?|weeks?|wks?|days?)\b|y/?o|y\.o")
WITH_SEX = re.compile(r"^(?:([0-9]{1,3}) ?[FMfm]|[FMfm] ?([0-9]{1,3}))$")
"""37F, M40."""
_BESIDE = re.compile(
    r"(?i)(?<![^\W_])(?:aged?|of|old|the|turned|around|about|almost|nearly|only|just"
    r"|and a (?:half|quarter))(?![^\W_])"
)
DECADE = re.compile(
    r"(?i)(?:(?:early|mid|late)[- ]?(?:to[- ](?:mid|late)[- ])?)?(?P<tens>[1-9]0['’]?s|teens|"
    + "|".join(f"{word[:-1]}ies" for word in TENS)
    + ")"
)


def years_of(said: str) -> int | None:
    """The age that the words say, in full years; None where they say none, or several."""
    said = WITH_SEX.sub(r"\1\2", said.strip())
    unit = _UNIT.search(said)
    number = _BESIDE.sub(" ", said[: unit.start()] if unit else said)
    value = number_of(number.replace("-", " "))
    if value is None or value > _LONGEST:
        return None
    per = {"m": 12, "w": 52, "d": 365}.get(unit.group()[0].lower() if unit else "y", 1)
    return int(value // per)


def bands_of(age: int) -> Iterator[tuple[int, int | None]]:
    """First and last year of the bands that hold an age, from narrow to wide; None for no end."""
    if age >= OLDEST:
        yield OLDEST, None
        return
    yield age // 5 * 5, age // 5 * 5 + 4
    yield age // 10 * 10, age // 10 * 10 + 9
    yield (_ADULT, None) if age >= _ADULT else (0, _ADULT - 1)


def rungs_of_age(age: int) -> list[Rung]:
    """The bands as words: "40 to 44", "under 10", "90 or over"; and at last the kind."""
    return [*_bands(age), Rung("[age]")]


def _bands(age: int) -> list[Rung]:
    return [
        Rung(f"{first} or over" if last is None else f"{first} to {last}" if first else f"under {last + 1}",
             float("inf") if last is None else last - first + 1)
        for first, last in bands_of(age)
    ]  # fmt: skip


def decade_words(age: int) -> str | None:
    """The decade of an adult in words: "forties"; None for the young and the very old."""
    return f"{TENS[age // 10 - 2][:-1]}ies" if _ADULT <= age < OLDEST else None
