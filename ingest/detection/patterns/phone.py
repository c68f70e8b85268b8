"""Telephone numbers in common notations."""

import re
from collections.abc import Iterator, Sequence

from ingest.detection.overlaps import CharacterSet
from ingest.detection.patterns.checksums import digits_of
from ingest.detection.patterns.page import Page, Where, hints, zones
from ingest.detection.patterns.pattern import TIGHT, compiled, entity
from ingest.documents import Entity, Span

_REGIONS = hints("GB|DE|FR|NL|AU|SE|IT|BR")
"""Regions whose national notation is read; numbers with a country code are read for every country."""

_EXTENSION = r"(?:[ ,;]{0,2}(?:ext(?:ension)?|x|Ext|EXT|extn|durchwahl)[.:]?[ ]?#?[0-9]{1,6}(?![\w]))?"
_CANDIDATE = (
    r"(?<![\w$€£@%.,/+-])(?<![0-9][ (])"
    r"(?:\+[ ]?\(?|\(\+?)?[0-9](?:[ ().\-/]{0,3}+[0-9]){6,40}+"
    rf"(?![0-9]|[.\-/ ][0-9]|[ ]?[$€£%])(?![.,][0-9]){_EXTENSION}(?!\w)"
)
_SHAPED = (
    r"(?<![0-9A-Za-z])(?<![0-9][.-])(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}[.-])[0-9]{3}[ .-][0-9]{4}"
    r"(?![0-9]|[.-][0-9])"
)
"""A notation with unambiguous start and end: Room 300 (415) 555-0132,(415) 555-0188."""
_CUE = (
    r"(?:phones?|tel(?:e(?:phone|fon|fono)s?)?|tlf|telf|tfno|mobiles?|mob|cell(?:[ -]?phones?)?|handy"
    r"(?:nummer)?"
    r"|fax|pager"
    r"|landline|whatsapp|hotline|voicemail|contact(?: number)?|call(?: (?:me|us|him|her|them|back))?"
    r"|call(?:ed|ing) (?:me|us|him|her|them|back|at|on)"
    r"|(?:reach(?:ed)?|text(?:ed)?|ring|rang|dial(?:ed)?)(?: (?:me|us|him|her|them))?|portable|móvil"
    r"|teléfono|número"
    r"|phone number|number|numero|sms|answering|home|work|office|direct|toll[- ]free"
    r"|desk|emergency contact)"
)
_CUE_BEFORE = (
    rf"(?:^|(?<![^\W_]))(?i:{_CUE})(?:\W{{0,4}}(?i:numbers?|nos?|nr|is|was|at|on|to|me|:|#|'s|ist|est|es|his|her"
    rf"|home|work|office|cell|mobile)(?![^\W\d_])){{0,4}}\W{{0,4}}$"
)
_LOOK_BACK = 48
_MOST_GROUPS = 6
"""As in +33 1 23 45 67 89."""
_ASKED = (
    r"(?i:(?:call(?:ed|ing)?|reach(?:ed)?|dial(?:ed)?|ring|phone|contact|tel\.?|office|desk|number|extension)"
    r"(?: \w{1,12}){0,4}[ :,]{1,2})"
)
_NO_MORE = r"(?!\w|[./,-][0-9])"
_EXTENSION_ALONE = (
    r"(?<!\w)(?:(?i:ext(?:ension|n)?|bleep|pager|dect)"
    r"(?:\.?[ ](?:is|no|number)[ .:#]{1,3}|[ ]?[:#(][ ]?|\.[ ]?)"
    rf"(?P<id>[0-9]{{2,6}}){_NO_MORE}"
    rf"|(?i:ext(?:ension|n)?|bleep|pager|dect)[ ](?P<far>[0-9]{{3,6}}){_NO_MORE}"
    rf"|(?:{_ASKED}|(?<![^\n])|(?:(?<=[a-z] )|(?<=[a-z]\. ))(?=x-?[0-9]{{4,5}}[ ]?(?:\n|$))|(?<=\())"
    r"(?P<x>x-?[0-9]{4,5})(?!\w))"
)
EXTENSION_PLACES = Where(("ext", "x", "bleep", "pager", "dect"), 60, 40, figures=True)
_NANP = re.compile(
    r"(?:\+?1[ .-]?)?(?:\([2-9][0-9]{2}\)[ .-]?"
    r"|[2-9][0-9]{2}[ ]?[.\-/ ][ ]?)[0-9]{3}[ ]?[.\- ][ ]?[0-9]{4}(?![0-9])"
)
_LOCAL_555 = re.compile(r"555[-. ][0-9]{4}(?![0-9])")
_LOCAL_US = re.compile(r"[2-9][0-9]{2}[-. ][0-9]{4}(?![0-9])")
_CALLED = re.compile(r"(?i:\b(?:phone|tel|telephone|mobile|cell|fax|call|whatsapp))\W{0,3}#$")
"""Cues for a phone number with a #: an order has a number too."""
_GROUP = re.compile(r"(?:\+[ ]?\(?|\(\+?)?[0-9]+")
_ROUND = re.compile(r"0{5}$")
_DECIMAL = re.compile(r"(?<![0-9])0\.[0-9]")
_SHORTEST = 9
"""Minimum digits of a number without a cue word; three groups of a table are shorter."""
NATIONAL = 0.8
"""Confidence of a number with a trunk prefix and assigned digits."""
_HAS_EXTENSION = re.compile(r"[A-Za-z]")


def find_phones(page: Page, taken: Sequence[Span]) -> Iterator[Entity]:
    """Telephone numbers that do not overlap ``taken``, the matches of more reliable patterns.

    A number needs a valid country code, a trunk prefix and digits assigned in one of the regions, the shape
    of a North American number, or a cue word before it.
    """
    busy = CharacterSet(taken)
    for pattern in (_CANDIDATE, _SHAPED):
        found = list(_numbers(page, compiled(pattern), busy))
        for each in found:
            busy.add(each.span)
        yield from found
    yield from _extensions(page)


def _numbers(page: Page, regex: re.Pattern[str], busy: CharacterSet) -> Iterator[Entity]:
    for first, last in zones(page, TIGHT):
        for match in regex.finditer(page.text, first, last):
            start, end = _trimmed(page.text, *match.span())
            if end - start < 7 or busy.touches(Span(start, end)):
                continue
            for first_at, last_at, confidence in _read(page.text, start, end):
                yield entity("phone", "phone number", first_at, last_at, confidence)


def _read(text: str, start: int, end: int) -> list[tuple[int, int, float]]:
    """The number that a run of digit groups is, else the numbers inside it, from the left."""
    if confidence := _confidence(text, start, end):
        return [(start, end, confidence)]
    groups = [(start + group.start(), start + group.end()) for group in _GROUP.finditer(text[start:end])]
    found: list[tuple[int, int, float]] = []
    at = 0
    while at < len(groups):
        more, confidence = _longest(text, groups, at)
        if confidence:
            found.append((groups[at][0], groups[more][1], confidence))
        at = more + 1
    whole = len(found) > 1 and found[0][0] == start and found[-1][1] == end
    # A trunk prefix alone is weak evidence among other figures.
    return [each for each in found if whole or each[2] > NATIONAL]


def _longest(text: str, groups: Sequence[tuple[int, int]], at: int) -> tuple[int, float]:
    """The last group of the most confident long number that begins at group ``at``, and its confidence."""
    first = groups[at][0]
    best = (at, 0.0)
    # Nearly every group of a table begins no number, and to look further is slow.
    if text[first] not in "+(0" and not _NANP.match(text, first):
        return best
    for more in range(at, min(at + _MOST_GROUPS, len(groups))):
        confidence = _confidence(text, first, groups[more][1])
        if confidence and confidence >= best[1]:
            best = (more, confidence)
    return best


def _extensions(page: Page) -> Iterator[Entity]:
    regex = compiled(_EXTENSION_ALONE)
    for first, last in zones(page, EXTENSION_PLACES):
        for match in regex.finditer(page.text, first, last):
            start, end = match.span(match.lastgroup or 0)
            yield entity("phone-extension", "phone number", start, end, 0.7)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and not text[end - 1].isalnum():
        end -= 1
    if text[start] == "(" and ")" not in text[start:end]:
        start += 1
    return start, end


def _confidence(text: str, start: int, end: int) -> float:
    value = text[start:end]
    number = _HAS_EXTENSION.split(value)[0]
    n_digits = len(digits_of(number))
    if not 7 <= n_digits <= 15:
        return 0.0
    before = text[max(0, start - _LOOK_BACK) : start]
    if before.endswith("#") and not _CALLED.search(before):
        return 0.0
    if value[0] == "+" or value.startswith(("(+", "00")):
        return _international(value)
    bare = number.rstrip(" ,;")
    if _LOCAL_555.fullmatch(bare) or (_NANP.fullmatch(bare) and _is_written_as_one(bare)):
        return 0.9
    if compiled(_CUE_BEFORE).search(before) and not _ROUND.search(bare):
        return 0.85
    if _HAS_EXTENSION.search(value) and _LOCAL_US.match(value):
        return 0.85
    if number.strip() == digits_of(number) or _DECIMAL.search(number):
        return 0.0
    if number.startswith("("):
        return 0.85 if _is_national(number) else 0.0
    return NATIONAL if n_digits >= _SHORTEST and _is_national(number) else 0.0


def _is_written_as_one(bare: str) -> bool:
    """Whether its groups are joined, or form an assigned number, as few table rows do."""
    import phonenumbers

    if not bare.replace(" ", "").isdigit():
        return True
    return phonenumbers.is_valid_number(phonenumbers.parse(bare, "US"))


def _international(value: str) -> float:
    import phonenumbers

    number = "+" + value[2:] if value.startswith("00") else value.lstrip("(")
    try:
        parsed = phonenumbers.parse(number, None)
    except phonenumbers.NumberParseException:
        return 0.0
    if phonenumbers.is_valid_number(parsed):
        return 0.97
    return 0.85 if value[0] != "0" and phonenumbers.is_possible_number(parsed) else 0.0


def _is_national(number: str) -> bool:
    """Whether the number, with its trunk prefix, is assigned in one of the regions."""
    import phonenumbers

    for region in _REGIONS if number.startswith(("0", "(")) else ():
        try:
            parsed = phonenumbers.parse(number, region)
        except phonenumbers.NumberParseException:
            return False
        if phonenumbers.is_valid_number_for_region(parsed, region):
            return True
    return False
