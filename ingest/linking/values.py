"""Equality keys for dates, numbers, addresses and other values."""

import re

from ingest.labels import EMAIL
from ingest.language.naming import folded_word, words_of
from ingest.language.vocabulary import fold

Key = tuple[str, ...]

NUMBERS = frozenset(
    ("social security number", "passport number", "bank account number", "IBAN", "BIC code")
    + ("credit card number", "credit card CVV", "phone number", "MAC address", "PIN code", "vehicle VIN")
    + ("vehicle VRM", "phone IMEI", "national id number", "tax number", "driving licence number")
    + ("medical record number", "health insurance number", "employee number", "zip postal code")
)
"""Labels whose separators carry no meaning. In case numbers they do: 12/345 is not 123/45."""

_MONTH_NAMES = """
january jan januar janner januari janvier enero gennaio janeiro stycznia
february feb februar februari fevrier febrero febbraio fevereiro lutego
march mar marz maart marts mars marzo marco marca
april apr avril abril aprile kwietnia
may mai mei maj mayo maggio maio maja
june jun juni juin junio giugno junho czerwca
july jul juli juillet julio luglio julho lipca
august aug augustus augusti aout agosto sierpnia
september sept sep septembre septiembre setiembre settembre setembro wrzesnia
october oct oktober octobre octubre ottobre outubro pazdziernika
november nov novembre noviembre novembro listopada
december dec dezember desember decembre diciembre dicembre dezembro grudnia
"""
_MONTHS = {
    name: str(number) for number, line in enumerate(_MONTH_NAMES.splitlines()) for name in line.split()
}
_BESIDE_DATES = frozenset(
    "st nd rd th er of the de del di den der am le el on mon monday tue tues tuesday wed wednesday thu thur "
    "thurs thursday fri friday sat saturday sun sunday".split()
)
_YEAR_FIRST = re.compile(r"(?=.{8})([0-9]{4})([-/.]?)([0-9]{1,2})\2([0-9]{1,2})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])\s?([0-9]{1,2})\2\s?([0-9]{4})")
_MONTH_YEAR = re.compile(r"([0-9]{1,2})[-/.]([0-9]{4})")
_PART = re.compile(r"[0-9]+|[^\W\d_]+")
_SPELLED_AT = re.compile(r"[\s\[({<]{1,5}at[\s\])}>]{1,5}")
_SPELLED_DOT = re.compile(r"[\s\[({<]{1,5}dot[\s\])}>]{1,5}")
_THOUSANDS = re.compile(r"(?<=[0-9])[,'’\u00a0\u202f ](?=[0-9]{3}(?![0-9]))")


def value_key(label: str, said: str) -> Key:
    """A key that two mentions of one label share if and only if they have the same value."""
    if label in ("date", "date of birth") and (date := date_key(said)):
        return date
    if label in NUMBERS and (dense := "".join(filter(str.isalnum, said)).casefold()):
        return (dense,)
    if label == EMAIL:
        return (address(said),)
    if label == "monetary amount":
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
        return _date(match[1], match[3], match[4])
    if match := _YEAR_LAST.fullmatch(said):
        month, day = sorted((match[1], match[3]), key=int)
        if int(day) <= 12 and int(month) != int(day):
            return "ambiguous", str(int(match[1])), str(int(match[3])), match[4]
        return _date(match[4], month, day)
    if match := _MONTH_YEAR.fullmatch(said):
        return _date(match[2], match[1], "")
    parts = [part for part in _PART.findall(fold(said)) if part not in _BESIDE_DATES]
    months = [_MONTHS[part] for part in parts if part in _MONTHS]
    years = [part for part in parts if len(part) == 4 and part.isdecimal()]
    days = [part for part in parts if len(part) < 3 and part.isdecimal()]
    if len(months) != 1 or max(len(years), len(days)) > 1 or len(parts) != 1 + len(years) + len(days):
        return None
    return _date("".join(years), months[0], "".join(days))


def _date(year: str, month: str, day: str) -> Key | None:
    if not (1 <= int(month) <= 12 and (not day or 1 <= int(day) <= 31)):
        return None
    return "date", year, str(int(month)), day and str(int(day))
