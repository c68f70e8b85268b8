"""Equality keys for dates, numbers, addresses and other values."""

import re

from ingest.labels import EMAIL
from ingest.language.naming import folded_word, words_of
from ingest.language.vocabulary import fold

Key = tuple[str, ...]

DATES = frozenset(("date", "date of birth"))
NUMBERS = frozenset(
    ("social security number", "passport number", "bank account number", "IBAN", "BIC code")
    + ("credit card number", "credit card CVV", "phone number", "MAC address", "PIN code", "vehicle VIN")
    + ("vehicle VRM", "phone IMEI", "national id number", "tax number", "driving licence number")
    + ("medical record number", "health insurance number", "employee number", "zip postal code")
)
"""Labels whose separators carry no meaning. In case numbers they do: 12/345 is not 123/45."""
_AMOUNT = "monetary amount"

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janner januari janvier enero gennaio janeiro stycznia",
            "february feb februar februari fevrier febrero febbraio fevereiro lutego",
            "march mar marz maart marts mars marzo marco marca",
            "april apr avril abril aprile kwietnia",
            "may mai mei maj mayo maggio maio maja",
            "june jun juni juin junio giugno junho czerwca",
            "july jul juli juillet julio luglio julho lipca",
            "august aug augustus augusti aout agosto sierpnia",
            "september sept sep septembre septiembre setiembre settembre setembro wrzesnia",
            "october oct oktober octobre octubre ottobre outubro pazdziernika",
            "november nov novembre noviembre novembro listopada",
            "december dec dezember desember decembre diciembre dicembre dezembro grudnia",
        ),
        start=1,
    )
    for name in names.split()
}
_BESIDE_DATES = frozenset(
    ("st", "nd", "rd", "th", "er", "of", "the", "de", "del", "di", "den", "der", "am", "le", "el", "on")
    + ("mon", "monday", "tue", "tues", "tuesday", "wed", "wednesday", "thu", "thur", "thurs", "thursday")
    + ("fri", "friday", "sat", "saturday", "sun", "sunday")
)
_YEAR_FIRST = re.compile(r"([0-9]{4})(?:([-/.])([0-9]{1,2})\2([0-9]{1,2})|([0-9]{2})([0-9]{2}))")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])\s?([0-9]{1,2})\2\s?([0-9]{4})")
_MONTH_YEAR = re.compile(r"([0-9]{1,2})[-/.]([0-9]{4})")
_PART_OF_DATE = re.compile(r"[0-9]+|[^\W\d_]+")

_SPELLED_AT = re.compile(r"\s{0,3}[\[({<]\s?at\s?[\])}>]\s{0,3}|\s{1,3}at\s{1,3}")
_SPELLED_DOT = re.compile(r"\s{0,3}[\[({<]\s?dot\s?[\])}>]\s{0,3}|\s{1,3}dot\s{1,3}")
_THOUSANDS = re.compile(r"(?<=[0-9])[,'’\u00a0\u202f ](?=[0-9]{3}(?![0-9]))")


def value_key(label: str, said: str) -> Key:
    """A key that two mentions of one label share if and only if they have the same value."""
    if label in DATES and (date := date_key(said)):
        return date
    if label in NUMBERS and (dense := "".join(filter(str.isalnum, said)).casefold()):
        return (dense,)
    if label == EMAIL:
        return (address(said),)
    if label == _AMOUNT:
        said = _THOUSANDS.sub("", said)
    return tuple(folded_word(word) for word in words_of(said)) or (said.casefold(),)


def address(said: str) -> str:
    """An e-mail address in lower case, also if spelled out: "anna at example dot org"."""
    written = said.casefold().strip(" <>").removeprefix("mailto:")
    if "@" in written:
        return written
    return _SPELLED_DOT.sub(".", _SPELLED_AT.sub("@", written, count=1))


def date_key(said: str) -> Key | None:
    """Year, month and day, "" for a missing part; None if it is not a single date.

    03/05/2019 is ambiguous (3 May or 5 March), so it equals only itself.
    """
    said = said.strip(" .,")
    if match := _YEAR_FIRST.fullmatch(said):
        year, _, *parts = match.groups()
        month, day = (part for part in parts if part is not None)
        return _date(int(year), int(month), int(day))
    if match := _YEAR_LAST.fullmatch(said):
        first, second, year = (int(match.group(number)) for number in (1, 3, 4))
        if first <= 12 and second <= 12 and first != second:
            return "ambiguous", str(first), str(second), str(year)
        month, day = sorted((first, second))
        return _date(year, month, day)
    if match := _MONTH_YEAR.fullmatch(said):
        return _date(int(match.group(2)), int(match.group(1)), None)
    return _worded_date(said)


def _worded_date(said: str) -> Key | None:
    parts = [part for part in _PART_OF_DATE.findall(fold(said)) if part not in _BESIDE_DATES]
    months = [part for part in parts if part in _MONTHS]
    years = [int(part) for part in parts if len(part) == 4 and part.isdecimal()]
    days = [int(part) for part in parts if len(part) < 3 and part.isdecimal()]
    if len(months) != 1 or len(years) > 1 or len(days) > 1 or len(parts) != 1 + len(years) + len(days):
        return None
    return _date(years[0] if years else None, _MONTHS[months[0]], days[0] if days else None)


def _date(year: int | None, month: int, day: int | None) -> Key | None:
    if not (1 <= month <= 12 and (day is None or 1 <= day <= 31)):
        return None
    return "date", *("" if part is None else str(part) for part in (year, month, day))
