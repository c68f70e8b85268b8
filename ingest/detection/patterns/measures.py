"""Distinguish measurements from identifying numbers, by the unit in or after the number."""

import re

from ingest.documents import Entity
from ingest.labels import label_of

_CURRENCIES = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DEM|DKK|EEK|EGP|ESP|EUR|FIM|FRF|GBP|GEL|HKD|HRK|HUF|IDR"
    "|IEP|ILS|INR|ISK|ITL|JPY|KES|KRW|LTL|LVL|MDL|MXN|MYR|NGN|NLG|NOK|NZD|PHP|PKR|PLN|PLZ|ROL|RON|RSD|RUB"
    "|RUR|SAR|SEK|SGD|SIT|SKK|THB|TRL|TRY|TWD|UAH|USD|VND|ZAR|BTC|ETH"
)
"""Currency codes (ISO 4217), with some historic ones and two of no state."""

_UNITS = (
    "mg|mcg|[µμu]g|ng|pg|kg|g|lbs?|oz|m[lL]|d[lL]|[µμ]l|L|mm|cm|km|[µμ]m|nm|ft"
    "|ms|ns|[µμ]s|secs?|seconds?|mins?|minutes?|hrs?|hours?|h|days?|wks?|weeks?|months?|mos|yrs?|years?"
    "|bpm|rpm|[kKMGT]?Hz|mmHg|cmH2O|[khM]?Pa|psi|bar|mV|kV|mA|mAh|[kM]?Wh|[kK]W|MW|B?HP|bhp|hp|VAC|VDC"
    "|[kKMGT]i?B|[kMG]bps|bytes|bits|ppm|ppb|IU|mEq|m?mol|mOsm|units?|tabs?|tablets?|caps|puffs|st[sk]|pcs"
    f"|{_CURRENCIES}"
)
_GLUED = r"[smlVWAKLd]|yo|y/o|st|nd|rd|th|x"
"""Units only directly after the number: after a blank it may be a word or an initial."""
_BEHIND = re.compile(rf"[ ]?(?:[%°]|(?:{_UNITS})(?![\w'-]|/[A-Za-z](?![\w])|\.\w))")
_NUMBER = r"[0-9]{1,5}(?:[.,/x×-][0-9]{1,5}){0,3}"
_MEASURE = re.compile(rf"{_NUMBER}[ ]?(?:{_UNITS})|{_NUMBER}(?:{_GLUED})")
_SURE = 0.95
"""From this confidence on, a format with check digits outweighs a unit after it."""


def is_measure(value: str) -> bool:
    """Whether the value is a number with its unit: 500mL, 24h, 3rd."""
    return _MEASURE.fullmatch(value) is not None


def measured(one: Entity, text: str) -> bool:
    """Whether a rigid pattern's match is a measurement, by the unit in it or after it."""
    if not label_of(one.label).rigid or one.confidence >= _SURE:
        return False
    start, end = one.span.start, one.span.end
    value = text[start:end]
    bare = not any(char.isalpha() and char != "x" for char in value)
    return is_measure(value) or (bare and _BEHIND.match(text, end) is not None)
