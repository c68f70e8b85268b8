"""How far a mention that was read reaches: one item of a list, a whole name, a date with its time."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.detection.joints import JOBS, LEADING, MOMENTS, YEAR, ZONE, united
from ingest.detection.kinds import of_its_kind
from ingest.detection.nothing import says_nothing
from ingest.detection.overlaps import CharacterSet
from ingest.detection.patterns.words import MONTHS, TEENS, TENS, UNITS
from ingest.detection.plausible import FUNCTION_WORDS, is_heading
from ingest.detection.rules.organizations import FIRM, TEXTS, spoils
from ingest.detection.sources import is_doubted
from ingest.documents import Entity, Identifier, Span
from ingest.labels import ORGANIZATION, PERSON
from ingest.language.name_grammar import PARTICLES
from ingest.language.tokens import CAPITAL, Tokens, tokenize
from ingest.language.vocabulary import WORD, fold, words
from ingest.spans import union_of
from models.detectors.words import Need

_PLACES = frozenset(("place", "city name", "county", "state or province"))
_WIDE = re.compile(r"[\r\n\t]+|[ \u00a0]{3,}")
"""What never stands inside an item: a line break, a tab, the gap between two columns."""
_AND = re.compile(r",? (?:and|&) |, ")
_OF = re.compile(
    r" (?:of|for|in) (?:the )?"
    r"((?:[A-Z][^\W_]+(?: (?:and|of|&) (?=[A-Z])| (?=[A-Z]))?)+|[a-z]{4,}(?=[,.;)\n]|$))"
)
_MERIDIEM = re.compile(r" ?[AaPp](?:\.[Mm]\.|[Mm]\b)")
_PREPOSITION = re.compile(r"(?:between|on|at|in|until|till|from|by|since|before|after) ", re.IGNORECASE)
_COUNTED = frozenset(("duration", "frequency", "quantity", "dosage", "person age"))
_OPENINGS = frozenset(
    (
        "apparently",
        "recently",
        "currently",
        "finally",
        "hopefully",
        "unfortunately",
        "actually",
        "also",
        "then",
    )
    + ("additionally", "initially", "meanwhile", "perhaps", "maybe", "previously", "probably", "possibly")
    + ("presumably", "usually", "typically", "since")
)
"""Words that open a sentence and begin no name."""
_OPENING = re.compile(rf"(?i:As for|{'|'.join(sorted(_OPENINGS))}) (?=[A-Z])")
_COUNT_OF = re.compile(rf"(?i)(?:{UNITS}|ten|eleven|twelve) (?=(?:{MONTHS})$)")
"""Seven November deals are no day."""
_DEALS = re.compile(r" [a-z]+s(?![^\W_])")
_IN_OR_THE = re.compile(r"(?i)(?<![^\W_])(?:on|in|by|since|until|till|from|to|before|after|of|the) $")
_CLOCK_STOP = re.compile(r"[AaPp]\.[Mm]$")
_ROW_OF_NAMES = 4
_LOWER_END = re.compile(r"(?<![\w.,/-])[0-9]{1,3} ?[-–] ?$")
_WIDEST_RANGE = 6
_LONGEST_SHORT = 2
"""Letters of an abbreviation that keeps its stop."""
_LONGEST_MONTH = 4
"""Letters of a month that is shortened with a stop."""
_WINDOW, _NEAR = 80, 16
"""Characters on each side of a joint that are read, and beside a mention."""
_ADDRESSES = frozenset(("street address", "zip postal code", "building number", "secondary address unit"))
_GREETED = frozenset(
    ("all", "everyone", "everybody", "colleague", "colleagues", "team", "friend", "friends", "customer")
    + ("customers", "client", "clients", "member", "members", "folks", "guys", "parents", "neighbours")
)
_GREETING = re.compile(r"(?i)(?<![^\W_])(?:dear|hello|hi|hey)[ ,]*$")
_RELATING = frozenset(
    ("about", "around", "between", "over", "under", "after", "before", "until", "since", "than", "per")
)
_HIGH = (
    rf"(?:(?:two|three|four|five|six|seven|eight|nine)[ -](?:hundred|{TENS}|{TEENS})(?:[ -](?:{UNITS}))?"
    r"|1[3-9][0-9]|[2-9][0-9]{2}|[1-9][0-9]{3})"
)
_NO_AGE = re.compile(rf"(?i){_HIGH}(?:(?:,| and| to| or|-) ?{_HIGH})*")
"""Two thirty three, 233: readings. One thirty may be said of one who is thirty."""
_AGED = re.compile(r"(?i)(?<![^\W_])(?:old|aged?|years?|yrs?|y\.?o|months?|weeks?|days?)(?![^\W_])")
_OLDER = re.compile(r"(?i)(?:(?:year|month|week|day)s?[ -]old|(?<=[0-9])[ -]?y\.?/?o\.?)(?![^\W_])")
_FRACTION = re.compile(r"(?:(?<=[\s0-9]\.)[0-9]+|[0-9]+\.[0-9]{3,}) +(?=[A-Za-z])")
"""The figure before a month in a table: .07 Mar."""
_NOT_OF_NAME = re.compile(r"(?:\s*\n\s*|\s{2,3})P\.? ?S\.?$|\s{1,3}vs?\.?$")
"""A postscript behind a signature, the other side of a case."""
_ITEM = re.compile(r"[.)] +[^\W\d_]")
_NO_AGE_AT_ALL = re.compile(r"(?i)(?:an? |of |from )?old age|one|0")
_MADAM = re.compile(r"(?i)(?<![^\W_])ma['’]am(?![^\W_])")
_TRAILING = re.compile(
    r"(?<![ ,])[ ,]+(?:and|or|with|without|of|for|to|from|by|at|the|than|but|because|until)$"
)
"""Words in small letters behind which an item would go on."""
_LEGAL_FORM = re.compile(
    r",? (?:[IVX]{1,3},? )?(?:LLC|L\.L\.C\.|LLP|L\.L\.P\.|(?:Inc|Ltd|Corp)(?:\.(?=,| [a-z(]))?|PLC|GmbH"
    r"|L\.P\.|Limited(?! [a-z])|Incorporated)(?![^\W_])"
)
_STOP_OF_FORM = re.compile(r"\.(?=,| [a-z(])")
_ELSEWHERE = re.compile(r" in (?!the (?:[a-z]+ )?(?:morning|afternoon|evening))[^0-9]+$")
_DAY = re.compile(r"[0-3]?[0-9](?:st|nd|rd|th)?")
_BARE_MONTH = re.compile(rf"(?i)(?:{MONTHS})\.?")
_SHORT_MONTH = re.compile(r"(?i) (?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$")
_MONTH_BEFORE = re.compile(rf"(?<![^\W_])(?i:{MONTHS})\.? $")
_DAY_AFTER_STOP = re.compile(r"\. [0-3]?[0-9](?:(?:st|nd|rd|th)(?![^\W_])|(?=[,;:)\n]|$))")
_DAY_AFTER = re.compile(r" [0-3]?[0-9](?:st|nd|rd|th)?(?:, (?:19|20)[0-9]{2})?(?![\w:.,]*[0-9])")
_SAID_OF_AGE = re.compile(
    r"(?i)(?:just |now )?(?:turn(?:ed|s|ing)?|around|about|nearly|almost|over) (?:the )?(?:age )?(?:of )?"
)
_STOPPED = re.compile(r"(?:[A-Z]\.){2,}")
_FILE = re.compile(r"docx?|pdf|xlsx?|txt|pptx?|csv|jpe?g|html?")
_MONTH = re.compile(rf"(?i)(?<![^\W_])(?:{MONTHS}|spring|summer|autumn|fall|winter)(?![^\W_])")
_LATER = frozenset(
    ("today", "tomorrow", "tonight", "yesterday", "now", "again", "back", "here", "there")
    + ("who", "which", "that", "done", "is", "was", "are", "were", "has", "had", "have", "will")
)
"""Words that follow a name and are no part of it."""
_ESCAPE = re.compile(r"(?<=\\)[nrt](?=[^\W\d_])")
"""The letter of a line break that a string in code says with a backslash."""
_MOST = 3
"""The most words of a name that are missing on one side; where more are capitalized, it is a heading."""
_PRONOUNS = frozenset("i me my you your he him his she her it its we us our they them their".split())
_OWNED = re.compile(r"(?<=[a-z])['’]s [a-z]{3,}(?:ed|ing|ly|tion|ness|ment|ity)$")
_SUFFIXES = frozenset(("jr", "sr", "md", "phd", "esq", "ii", "iii", "mba", "rn", "dds", "msc", "bsc"))


def whole(text: str, entities: Sequence[Entity], need_of: Callable[[Span], Need]) -> list[Entity]:
    """The mentions with their needs, each as far as its item reaches.

    Several items become several mentions, what says nothing is dropped, the rest of a name of an
    organization or place is added, and a date is joined with its time. A part that goes takes the whole
    along: the need of what is joined or completed is the highest of its parts. Mentions of patterns and
    structures, and direct identifiers other than names, are only joined, as dates with times.
    """
    tokens = tokenize(text)
    cut = [entity for entity in entities if is_doubted(entity) and not _is_one_anyway(entity)]
    sure = [entity for entity in entities if not is_doubted(entity) or _is_one_anyway(entity)]
    pieces = [piece for entity in cut for piece in _items(entity, text)]
    covered = CharacterSet(entity.span for entity in (*sure, *pieces))
    found = [(entity, entity) for entity in sure]
    found += [(piece, of_its_kind(_completed(piece, tokens, covered), text)) for piece in pieces]
    return united(text, [replace(named, need=need_of(piece.span)) for piece, named in found])


def _is_one_anyway(entity: Entity) -> bool:
    """Addresses and codes have their own forms, and may have gaps."""
    return entity.label in _ADDRESSES or (
        entity.identifier is Identifier.DIRECT and entity.label not in (PERSON, ORGANIZATION)
    )


def _items(entity: Entity, text: str) -> Iterator[Entity]:
    for start, end in _runs(entity.span.start, entity.span.end, text):
        for first, last in _listed(entity.label, start, end, text):
            span = _stripped(entity.label, first, _end_of_item(entity.label, first, last, text), text)
            if span is not None and not _says_nothing(entity.label, span, text):
                yield entity.at(span)


def _end_of_item(label: str, start: int, end: int, text: str) -> int:
    """Where an age or a date ends, and a name before the words that go on about it."""
    if label == PERSON and (other := _NOT_OF_NAME.search(text, start, end)):
        return other.start()
    if label in (PERSON, ORGANIZATION) and (owned := _OWNED.search(text, start, end)):
        return owned.start()
    if label == "person age" and (old := _OLDER.search(text, start, end)):
        return old.end()
    if label == "date" and (elsewhere := _ELSEWHERE.search(text[start:end])):
        return end if _MONTH.search(elsewhere.group()) else start + elsewhere.start()
    if label in (PERSON, ORGANIZATION, *_PLACES):
        parts = list(WORD.finditer(text, start, end))
        named = [number for number, part in enumerate(parts) if not part.group()[0].islower()]
        tail = named[-1] + 1 if named else len(parts)
        if 0 < tail < len(parts) and _goes_on_about(fold(parts[tail].group()), label):
            return parts[tail - 1].end()
    return end


def _numbers_an_item(span: Span, said: str, text: str) -> bool:
    """Whether a number begins a line as the number of its item, as in "3. He left"."""
    begins = not text[max(0, span.start - _NEAR) : span.start].rpartition("\n")[2].strip(" (")
    return begins and said.isdigit() and len(said) <= _LONGEST_SHORT and bool(_ITEM.match(text, span.end))


def _goes_on_about(word: str, label: str) -> bool:
    """Whether an ordinary word behind the last capitalized one is no part of the name."""
    ordinary = word in words("common_words") and word not in words(
        "given_names", "given_names_ambiguous", "surnames"
    )
    return word in _LATER or (label == PERSON and ordinary and word not in PARTICLES)


def _says_nothing(label: str, span: Span, text: str) -> bool:
    """Whether a span is no item of its label. Of names only headings and greetings of nobody are none."""
    said = text[span.start : span.end]
    if says_nothing(
        label, said, text[max(0, span.start - _WINDOW) : span.start], text[span.end : span.end + _WINDOW]
    ):
        return True
    if label == PERSON:
        if _FILE.fullmatch(said) and text[span.start - 1 : span.start] == ".":
            return True
        madam = _MADAM.search(text, max(0, span.start - _NEAR), span.end + _NEAR)
        if madam and madam.start() <= span.start and span.end <= madam.end():
            return True
        nobody = fold(said) in _GREETED and _GREETING.search(text, max(0, span.start - _NEAR), span.start)
        return bool(nobody) or is_heading(span, text)
    found = WORD.findall(said)
    if label in ("person age", "quantity", *MOMENTS) and (
        _NO_AGE_AT_ALL.fullmatch(said) or _numbers_an_item(span, said, text)
    ):
        return True
    if not found or all(word in FUNCTION_WORDS | _RELATING | _PRONOUNS for word in found):
        return True
    near = text[max(0, span.start - _NEAR) : span.end + _NEAR]
    return label == "person age" and bool(_NO_AGE.fullmatch(said)) and not _AGED.search(near)


def _runs(start: int, end: int, text: str) -> Iterator[tuple[int, int]]:
    """The parts between wide gaps."""
    at = start
    for gap in _WIDE.finditer(text, start, end):
        if gap.start() > at:
            yield at, gap.start()
        at = gap.end()
    if at < end:
        yield at, end


def _listed(label: str, start: int, end: int, text: str) -> Iterator[tuple[int, int]]:
    """The items of a list of people or firms."""
    at = start
    if label == PERSON:
        for place in _next_names(start, end, text):
            yield at, place
            at = place
    if label in (PERSON, ORGANIZATION, *_PLACES):
        for gap in _AND.finditer(text, at, end):
            left = WORD.findall(text[max(at, gap.start() - _WINDOW) : gap.start()])
            right = WORD.findall(text[gap.end() : min(end, gap.end() + _WINDOW)])
            apart = _APART.get(label, _two_places)
            if left and right and apart(left, right, "," in gap.group()):
                yield at, gap.start()
                at = gap.end()
    yield at, end


def _next_names(start: int, end: int, text: str) -> Iterator[int]:
    """Where the next name begins in a row of full names: a given name behind a surname."""
    found = list(WORD.finditer(text, start, end))
    gaps = (text[one.end() : other.start()] for one, other in pairwise(found))
    named = all(word.group()[0].isupper() for word in found)
    if len(found) < _ROW_OF_NAMES or not named or any(gap.strip() for gap in gaps):
        return
    given = [fold(word.group()) in words("given_names") for word in found]
    first = 0
    for number in range(2, len(found) - 1):
        if given[number] and not given[number - 1] and number - first >= 2:
            yield found[number].start()
            first = number


def _two_people(left: Sequence[str], right: Sequence[str], comma: bool) -> bool:
    """Not Keller, Tobias; not Mr and Mrs Keller."""
    if not (left[-1][0].isupper() and right[0][0].isupper()) or fold(right[0]) in _SUFFIXES:
        return False
    if comma:
        given = words("given_names")
        both = fold(left[-1]) in given and fold(right[0]) in given
        return (len(left) > 1 and len(right) > 1) or (len(left) == len(right) == 1 and both)
    return not all(fold(word) in words("titles") for word in left)


def _two_firms(left: Sequence[str], right: Sequence[str], comma: bool) -> bool:
    """Only after the end of a firm's name: a law firm's own name is a list too."""
    return fold(left[-1]) in FIRM and fold(right[0]) not in FIRM


def _two_places(left: Sequence[str], right: Sequence[str], comma: bool) -> bool:
    """Of a list; Trinidad and Tobago is one."""
    return comma and left[-1][0].isupper() and right[0][0].isupper()


_APART = {PERSON: _two_people, ORGANIZATION: _two_firms}


def _stripped(label: str, start: int, end: int, text: str) -> Span | None:
    """Without signs at its ends; a moment with its meridiem, not its preposition; a range with its start."""
    escape = _ESCAPE.match(text, start)
    start = escape.end() if escape and text[start + 1].isupper() else start
    while start < end and not (text[start].isalnum() or text[start] in "([\"'$€£#@<+-~"):
        start += 1
    end = _without_tail(label, start, end, text)
    if label in (PERSON, ORGANIZATION) and (opening := _OPENING.match(text, start, end)):
        start = opening.end()
    if text[start : start + 2] == "s " and text[start - 1 : start] in ("'", "’"):
        start += 2
    if label in MOMENTS:
        start, end = _whole_moment(start, end, text)
    if label == "person age" and (said := _SAID_OF_AGE.match(text, start, end)):
        start = said.end()
    if label in (ORGANIZATION, *_PLACES) and _STOPPED.fullmatch(text, start, end + 1):
        end += 1
    if label in _COUNTED and text[start : start + 1].isdigit():
        lower = _LOWER_END.search(text, max(0, start - _WIDEST_RANGE), start)
        start = lower.start() if lower else start
    return Span(start, end) if start < end else None


def _without_tail(label: str, start: int, end: int, text: str) -> int:
    """The end without signs, without a possessive, and without words behind which an item would go on."""
    while end > start and (text[end - 1] in " ,;:\u00a0" or _ends_sentence(label, start, end, text)):
        end -= 1
    if _owned(label, start, end, text):
        end -= 2
    while label != PERSON and (trailing := _TRAILING.search(text, start, end)):
        end = trailing.start()
    return end


def _whole_moment(start: int, end: int, text: str) -> tuple[int, int]:
    """With the month or day beside it and with its meridiem, but without its preposition."""
    for pattern in (_PREPOSITION, _FRACTION):
        before = pattern.match(text, start, end)
        start = before.end() if before else start
    counted = _COUNT_OF.match(text[start:end])
    if counted and _DEALS.match(text, end) and not _IN_OR_THE.search(text, max(0, start - _NEAR), start):
        start += counted.end()
    partial = _DAY.fullmatch(text, start, end) or YEAR.fullmatch(text, start, end)
    if partial and (month := _MONTH_BEFORE.search(text, max(0, start - _NEAR), start)):
        start = month.start()
    if _CLOCK_STOP.search(text, start, end) and text[end : end + 1] == ".":
        end += 1
    bare = _BARE_MONTH.fullmatch(text, start, end) is not None
    further = (
        (_DAY_AFTER,)
        if bare
        else (_DAY_AFTER_STOP if _SHORT_MONTH.search(text, start, end) else _MERIDIEM, ZONE)
    )
    for pattern in further:
        found = pattern.match(text, end)
        end = found.end() if found else end
    return start, end


def _owned(label: str, start: int, end: int, text: str) -> bool:
    """Whether a person's name ends with a possessive."""
    return label == PERSON and end - start > _LONGEST_SHORT and text[end - 2 : end] in ("'s", "’s")


def _ends_sentence(label: str, start: int, end: int, text: str) -> bool:
    """Whether a name ends with a stop that is no part of it: not Orr Inc., Tom Orr Jr. and A. B."""
    if label not in (PERSON, ORGANIZATION, *_PLACES, *MOMENTS) or text[end - 1] != ".":
        return False
    last = WORD.findall(text[max(start, end - _WINDOW) : end])[-1:]
    if label in MOMENTS:
        return bool(last) and len(last[0]) > _LONGEST_MONTH
    return bool(last) and len(last[0]) > _LONGEST_SHORT and fold(last[0]) not in FIRM | _SUFFIXES


def _completed(entity: Entity, tokens: Tokens, covered: CharacterSet) -> Entity:
    """With the capitalized words beside it that belong to its name, unless another mention has them."""
    if entity.label in JOBS:
        return _with_field(entity, tokens.text, covered)
    if entity.label != ORGANIZATION and entity.label not in _PLACES or tokens.caseless:
        return entity
    first = bisect_right(tokens.ends, entity.span.start)
    end = bisect_left(tokens.starts, entity.span.end)
    if first >= end or tokens.starts[first] < entity.span.start or tokens.ends[end - 1] > entity.span.end:
        return entity
    before, after = first, end
    cued = entity.label == ORGANIZATION and tokens.folded[first] in words("organization_cues")
    if tokens.shapes[first] == CAPITAL or cued:
        while before and tokens.gap(before) == " " and _goes_on(tokens, before - 1, covered):
            before -= 1
    if tokens.shapes[end - 1] == CAPITAL:
        while tokens.gap(after) == " " and _goes_on(tokens, after, covered):
            after += 1
    if first - before > _MOST or after - end > _MOST:
        return entity
    added = {*tokens.folded[before:first], *tokens.folded[end:after]}
    if entity.label in _PLACES and added & (words("organization_cues") | TEXTS):
        return entity
    whole = union_of(entity.span, tokens.span(before, after))
    return entity.at(_with_legal_form(whole, tokens.text, covered) if entity.label == ORGANIZATION else whole)


def _with_legal_form(span: Span, text: str, covered: CharacterSet) -> Span:
    """A firm's name with its legal form, and with the stop of one that is shortened within a sentence."""
    form = _LEGAL_FORM.match(text, span.end)
    if form and not covered.touches(Span(*form.span())):
        return Span(span.start, form.end())
    shortened = text[span.end - 1 : span.end].isalpha() and _STOP_OF_FORM.match(text, span.end)
    last = WORD.findall(text[span.start : span.end])[-1:]
    return Span(span.start, span.end + 1) if shortened and last and fold(last[0]) in FIRM else span


def _with_field(entity: Entity, text: str, covered: CharacterSet) -> Entity:
    """A job with what follows it: the head of probate, the Director of Careers and Admissions."""
    field = _OF.match(text, entity.span.end)
    said = WORD.findall(text[entity.span.start : entity.span.end])
    if field is None or not said or fold(said[-1]) not in LEADING:
        return entity
    span = Span(entity.span.start, field.end())
    return entity if covered.touches(Span(*field.span())) else entity.at(span)


def _goes_on(tokens: Tokens, index: int, covered: CharacterSet) -> bool:
    if index >= len(tokens) or tokens.shapes[index] != CAPITAL or spoils(tokens, index):
        return False
    if tokens.folded[index] in words("titles") | _OPENINGS:
        return False
    return not covered.touches(tokens.span(index, index + 1))
