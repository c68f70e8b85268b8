"""Ladders of sums of money, quantities and durations: a band that holds the number, then its kind alone."""

import re
from math import floor, log10

from ingest.wording.numerals import SCALES, number_of
from ingest.wording.rungs import Rung

_NUMBER = re.compile(
    r"(?i)(?:[0-9]{1,3}(?:[,  '][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"
    r"(?: ?(?:hundred|thousand|million|billion|trillion)\b)?"
    r"|\b(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two"
    r"|three|four|five|six|seven|eight|nine))?)(?: (?:hundred|thousand|million|billion))?)\b"
)
_HEDGE = re.compile(
    r"(?i)\b(?:about|around|roughly|approximately|nearly|almost|some|over|under|more than"
    r"|less than|at least)\s*$"
)
_UNIT = re.compile(r"(?i)[ -]?(?:years?|yrs?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|decades?)\b")
_NOT_CLOSE = r"(?<![^\W_])(?<!just )(?<!little )(?<!bit )(?<!slightly )(?<!shade )"
_COMPARED = re.compile(
    rf"(?i){_NOT_CLOSE}(?:less than|more than|at least|at most|up to|over|under|every|each)\s$"
)
_GLUED = re.compile(r"[^\W_]|%|°")
_LED = re.compile(r"(?i)(?<![^\W_])(?:past|last|next|first|the|these|those)\s$")
_SPAN = re.compile(
    r"(?i)(?P<lead>(?:the )?(?:past|last|next) )?\w+ ?(?:to|or|-|–) ?(?P<most>\w+) "
    r"(?P<unit>years|months|weeks|days|hours)(?: ago)?"
)
FEW, SEVERAL = 4, 9
_VAGUE = re.compile(
    r"(?:[Aa] |[Tt]he )?(?:(?:past|last|next|first) )?(?:[Ff]ew|[Cc]ouple(?: of)?|[Ss]everal)"
    r"(?: (?:years|months|weeks|days|hours|minutes|times|people|others))?"
)
_LESSER = re.compile(
    r"(?i)(?<![^\W_])(?P<unit>pounds?|lbs?|feet|foot|ft|hours?|years?|weeks?|dollars?|euros?)"
    r"(?:,? and|,)? [a-z0-9-]+"
    r" (?:(?:ounce|minute|min|second|month|day|cent)s?|oz|inch(?:es)?|pence)$"
)
"""The smaller unit of nine pounds two ounces."""
_HALF = re.compile(r"(?i) and (?:a|one) (?:half|quarter)(?![^\W_])|(?<=[0-9])½")
_NUMBERED = re.compile(
    r"(?i)(?<![^\W_])(?:week|month|day|quarter|year|type|page|room|bed|ward|dock|gate|level|grade|stage|phase|no\.?"
    r"|number|unit|item|section|chapter|part|version|flat|floor) $"
)
"""Before a number that tells which one, not how many."""
_BOUND = re.compile(
    rf"(?i){_NOT_CLOSE}(?:(?:over|above|more than|at least|exceeding)"
    r"|(?P<below>under|below|less than|fewer than|up to|at most))\s$"
)
_ODD = re.compile(r"(?i)(?<=\w)[ -](?:some|odd)(?=[ -][a-z])")
"""The sign of a rough number behind it: thirty some years."""
_STEPS = (1, 2, 5, 10)
_CURRENCY = "$€£"


def rungs_of_amount(said: str, before: str) -> list[Rung]:
    """The rungs of a mention with one number.

    "$61,500" gives "$50,000 to $100,000"; "31 years" "more than 30 years"; "5 days" "several days". None
    holds the number itself. Empty where the mention has no number, several, or one that is not understood.
    """
    if _VAGUE.fullmatch(said):
        return [Rung(said, 10)]
    said = _ODD.sub("", said)
    said = _HALF.sub("", _LESSER.sub(r"\g<unit>", said))
    span = _SPAN.fullmatch(said)
    one = span and number_of(said[: span.start("unit")]) is not None
    if span and not one and (most := number_of(span["most"])) is not None:
        led = span["lead"] or _LED.search(before)
        ago = " ago" if said.casefold().endswith(" ago") else ""
        article = "a " if most <= FEW and not led else ""
        many = "several" if led and most > SEVERAL else _many(most)
        return [Rung(f"{span['lead'] or ''}{article}{many} {span['unit']}{ago}", 10)]
    numbers = list(_NUMBER.finditer(said))
    value = number_of(numbers[0].group()) if len(numbers) == 1 else None
    if value is None or value < 1:
        return []
    start, end = numbers[0].span()
    if _GLUED.match(said, end) or (start and said[start - 1].isalnum()) or _NUMBERED.search(said, 0, start):
        return []
    sign = said[start - 1] if start and said[start - 1] in _CURRENCY else ""
    hedge = _HEDGE.search(said, 0, start - len(sign))
    head, tail = said[: hedge.start() if hedge else start - len(sign)] + sign, said[end:]
    bounded = None if hedge else _BOUND.search(before)
    if _UNIT.match(said, end) and not bounded:
        led = _LED.search(f"{before}{head}") is not None
        return [] if _COMPARED.search(f"{before}{head}") else _long(head, value, tail, led)
    behind = tail.startswith(tuple(_CURRENCY))
    if bounded or behind or head.endswith(tuple(_CURRENCY)) or value > SEVERAL:
        return [_band(head, value, numbers[0].group(), tail, bounded)]
    few = "a few" if 1 < value <= FEW else "several"
    return (
        [Rung(f"{head}{few}{tail}", 10)] if value == int(value) > 1 and not _COMPARED.search(before) else []
    )


def _many(value: float) -> str:
    return "few" if value <= FEW else "several" if value <= SEVERAL else "many"


def _long(head: str, value: float, tail: str, led: bool) -> list[Rung]:
    """A length of time: above the ten before it, which is never the number."""
    if value < 2:
        return []
    if led and value <= SEVERAL:
        return [Rung(f"{head}{_many(value)} {tail.lstrip(' -')}", 10)]
    below = int(value) - (value == int(value))
    step = max(10, 10 ** int(log10(below))) if below else 10
    above = below // step * step if below > 100 else below // 10 * 10
    if above:
        more = f"{above} or more" if led else f"more than {above}"
        return [Rung(f"{head}{more} {tail.lstrip(' -')}", 10)]
    article = "a " if value <= FEW else ""
    return [Rung(f"{head}{article}{_many(value)} {tail.lstrip(' -')}", 10)]


def band_of(value: float) -> tuple[float, float]:
    """The ends of a band around a number from 1: 1, 2 or 5 times a power of ten, and never the number."""
    power = 10.0 ** floor(log10(value))
    ends = [step * power for step in (0.1, 0.2, 0.5, *_STEPS)]
    low = max(end for end in ends if end < value)
    return low, next(end for end in (*ends, 20 * power) if end > value)


def _band(head: str, value: float, like: str, tail: str, bounded: re.Match[str] | None) -> Rung:
    """The band around a number; behind "over" its lower end, behind "under" its upper one."""
    scale = like.rpartition(" ")[2]
    per = 1 if scale == "hundred" else SCALES.get(scale, 1)
    low, high = band_of(value / per) if value / per >= 1 else band_of(value)
    unit = f" {scale}" if per > 1 and value / per >= 1 else ""
    sign = head[-1] if head.endswith(tuple(_CURRENCY)) else ""
    form = ",.10g" if "," in like or value < 1000 else ".10g"
    counted = (high - low) / 10 ** (floor(log10(high)) - 1)
    if bounded:
        return Rung(f"{head}{high if bounded['below'] else low:{form}}{unit}{tail}", max(10.0, counted))
    return Rung(f"{head}{low:{form}}{unit} to {sign}{high:{form}}{unit}{tail}", max(10.0, counted))
