"""Ladders of sums of money, quantities and durations: rounded, then only their order of magnitude."""

import re

from ingest.ladders.numerals import SCALES, leading, number_of
from ingest.ladders.rungs import Rung

_NUMBER = re.compile(
    r"(?i)(?:[0-9]{1,3}(?:[,  '][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"
    r"(?: ?(?:hundred|thousand|million|billion|trillion)\b)?"
    r"|\b(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two"
    r"|three|four|five|six|seven|eight|nine))?)(?: (?:hundred|thousand|million|billion))?)\b"
)
_HEDGE = re.compile(
    r"(?i)\b(?:about|around|roughly|approximately|nearly|almost|some|over|under|more than|at least)\s*$"
)
_TIME = re.compile(r"(?i)\b(?:years?|yrs?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|decades?)\b")
_LED = re.compile(r"(?i)(?<![^\W_])(?:past|last|next|the|these|those)\s$")
_SPAN = re.compile(
    r"(?i)(?P<lead>(?:the )?(?:past|last|next) )?\w+ ?(?:to|or|-|–) ?(?P<most>\w+) "
    r"(?P<unit>years|months|weeks|days|hours)(?: ago)?"
)
FEW, SEVERAL = 4, 9


def rounded(said: str, before: str) -> list[Rung]:
    """The rungs of a mention with one number: the number rounded, then left open.

    "$61,500" gives "roughly $60,000"; "31 years" gives "more than 30 years"; "5 days" gives "several days".
    Empty where the mention has no number, or several.
    """
    if (span := _SPAN.fullmatch(said)) and (most := number_of(span["most"])) is not None:
        about = "few" if most <= FEW else "several" if most <= SEVERAL else "many"
        led = span["lead"] or _LED.search(before)
        ago = " ago" if said.casefold().endswith(" ago") else ""
        article = "a " if about == "few" and not led else ""
        return [Rung(f"{span['lead'] or ''}{article}{about} {span['unit']}{ago}", 5)]
    numbers = list(_NUMBER.finditer(said))
    value = number_of(numbers[0].group()) if len(numbers) == 1 else None
    if value is None:
        return []
    start, end = numbers[0].span()
    said, start, end = _unhedged(said, start, end)
    hedge = "" if _HEDGE.search(f"{before}{said[:start].rstrip('$€£')}") else "roughly "
    if _TIME.search(said):
        return _long(said, start, end, value)
    if value != int(value) or value > SEVERAL:
        words = f"{hedge}{said[:start]}{_near(value, numbers[0].group())}{said[end:]}"
        return [Rung(words, max(1.0, leading(value)))]
    if value < 2:
        return []
    return [Rung(f"{said[:start]}{'a few' if value <= FEW else 'several'}{said[end:]}", 5)]


def _unhedged(said: str, start: int, end: int) -> tuple[str, int, int]:
    """Without "over" and the like before the number, which rounding replaces."""
    found = _HEDGE.search(said[:start])
    if found is None:
        return said, start, end
    length = start - found.start()
    return said[: found.start()] + said[start:], start - length, end - length


def _long(said: str, start: int, end: int, value: float) -> list[Rung]:
    if value < 2:
        return []
    if value <= SEVERAL:
        return [Rung(f"{said[:start]}{'a few' if value <= FEW else 'several'}{said[end:]}", 4)]
    floor = int(value // 10 * 10)
    more = "at least" if floor == value else "more than"
    return [Rung(f"{said[:start]}{more} {_figures(floor, said[start:end])}{said[end:]}", 10)]


def _near(value: float, like: str) -> str:
    """The value rounded, in the scale of the original: 200 million."""
    scale = like.rpartition(" ")[2]
    if scale in SCALES:
        return f"{leading(value / SCALES[scale]):g} {scale}"
    return _figures(leading(value), like)


def _figures(value: float, like: str) -> str:
    """The number, with separators where the original has them or has letters."""
    plain = like.isdigit()
    return f"{value:.0f}" if plain else f"{value:,.0f}"
