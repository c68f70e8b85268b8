"""How far a mention that was read reaches: one item of a list, a whole name, a date with its time."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from ingest.detection.nothing import says_nothing
from ingest.detection.overlaps import CharacterSet
from ingest.detection.patterns.words import MONTHS, TEENS, TENS, UNITS
from ingest.detection.plausible import FUNCTION_WORDS, is_heading
from ingest.detection.rules.organizations import FIRM, TEXTS, spoils
from ingest.detection.sources import is_doubted
from ingest.documents import Entity, Identifier, Span
from ingest.labels import ORGANIZATION, PERSON, VAGUE, label_of
from ingest.language.name_grammar import PARTICLES
from ingest.language.tokens import CAPITAL, Tokens, tokenize
from ingest.language.vocabulary import WORD, entries, fold, words
from ingest.spans import joined, union_of
from models.detectors.words import Need

_PLACES = frozenset(("place", "city name", "county", "state or province"))
_JOBS = frozenset(("job title", "job area", "demographic attribute"))
_MOMENTS = frozenset(("date", "time"))
_KIND_OF = {**dict.fromkeys(_MOMENTS, "date"), **dict.fromkeys(_JOBS, "job title")}
"""The labels whose mentions are joined as one item under another label."""
_NAMED_BY_LAST = frozenset(
    (("time", "date"), ("demographic attribute", "job title"), ("job area", "job title"))
)
_WIDE = re.compile(r"[\r\n\t]+|[ \u00a0]{3,}")
"""What never stands inside an item: a line break, a tab, the gap between two columns."""
_AND = re.compile(r",? (?:and|&) |, ")
_JOINTS = {
    "date": re.compile(r",? (?:at |on |@ ?)?|T|\u00a0"),
    "person age": re.compile(r"[ -]"),
    "job title": re.compile(r" (?:and )?|, "),
    PERSON: re.compile(", "),
    ORGANIZATION: re.compile(" (?:and|&|of) "),
}
"""What stands between the parts of a moment, of an age, of a job, of a surname and its initials, of an
institution."""
_INSTITUTIONS = frozenset(
    ("commission", "ministry", "department", "committee", "board", "council", "authority", "agency")
    + ("institute", "association", "society", "federation", "centre", "center", "office", "service")
)
"""The last words of names that begin with two fields: the Equality and Fairness Commission."""
_GOVERNING = _INSTITUTIONS | {"court", "ministry", "university", "bank", "house", "chamber", "school"}
_INITIALS = re.compile(r"(?:[A-Z]\.[ -]?){1,3}|[A-Z]{1,2}")
_OF = re.compile(
    r" (?:of|for|in) (?:the )?"
    r"((?:[A-Z][^\W_]+(?: (?:and|of|&) (?=[A-Z])| (?=[A-Z]))?)+|[a-z]{4,}(?=[,.;)\n]|$))"
)
_LEADING = frozenset(
    ("head", "director", "manager", "chief", "president", "chair", "chairman", "chairwoman", "professor")
    + ("dean", "secretary", "minister", "member", "vp", "lead", "coordinator", "supervisor", "student")
    + ("bs", "ba", "ms", "ma", "bsc", "msc", "phd", "mphil", "bachelor", "master", "masters", "degree")
)
"""The last words of a job or a degree whose field follows."""
_MERIDIEM = re.compile(r" ?[AaPp](?:\.[Mm]\.|[Mm]\b)")
_ZONE = re.compile(
    r" (?:(?:Eastern|Central|Mountain|Pacific|Greenwich)(?: (?:Standard|Daylight|Mean))?(?: Time)?"
    r"|(?:Standard|Daylight) Time|[ECMP][SD]T|GMT|UTC|CES?T|BST)\b"
)
_PREPOSITION = re.compile(r"(?:between|on|at|in|until|till|from|by|since|before|after) ", re.IGNORECASE)
_AT_AGE = re.compile(r"(?:the )?age of ")
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
_LENGTH = re.compile(
    r"(?i)(?:about |over |~)?[0-9]+(?:\.[0-9]+)?\+? (?:years?|months?|weeks?|days?|hours?|minutes?)"
)
_IN_TIME = re.compile(r"(?i) (?:ago|old|later|earlier|before|after|from|prior)(?![^\W_])")
_LOWER_END = re.compile(r"(?<![\w.,/-])[0-9]{1,3} ?[-–] ?$")
_WIDEST_RANGE = 6
_CITIZEN = re.compile(r" (?:nationals?|citizens?|nationality|passport|refugees?|origin|descent)\b")
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
_CLOCK = re.compile(
    r"(?i)(?:[0-2]?[0-9][:.][0-5][0-9](?:[:.,][0-9]+)*(?: ?[ap]\.?m\.?)?|[0-2]?[0-9] ?[ap]\.?m\.?"
    rf"|noon|midnight|[a-z]+ o'clock)(?:{_ZONE.pattern})?"
)
_WEEKDAY = re.compile(r"(?i)(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?")
_OLDER = re.compile(r"(?i)(?:year|month|week|day)s?[ -]old(?![^\W_])")
_FRACTION = re.compile(r"(?:(?<=[\s0-9]\.)[0-9]+|[0-9]+\.[0-9]{3,}) +(?=[A-Za-z])")
"""The figure before a month in a table: .07 Mar."""
_NOT_OF_NAME = re.compile(r"(?:\s*\n\s*|\s{2,3})P\.? ?S\.?$|\s{1,3}vs?\.?$")
"""A postscript behind a signature, the other side of a case."""
_ITEM = re.compile(r"[.)] +[^\W\d_]")
_NO_AGE_AT_ALL = re.compile(r"(?i)(?:an? |of |from )?old age|one")
_MADAM = re.compile(r"(?i)(?<![^\W_])ma['’]am(?![^\W_])")
_ELSEWHERE = re.compile(r" in (?!the (?:[a-z]+ )?(?:morning|afternoon|evening))[^0-9]+$")
_DAY = re.compile(r"[0-3]?[0-9](?:st|nd|rd|th)?")
_BARE_MONTH = re.compile(rf"(?i)(?:{MONTHS})\.?")
_MONTH_AND_DAY = re.compile(
    rf"(?i)(?:{MONTHS})\.?(?: [0-3]?[0-9](?:st|nd|rd|th)?)?"
    rf"|[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?(?:{MONTHS})\.?"
)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_MONTH_BEFORE = re.compile(rf"(?<![^\W_])(?i:{MONTHS})\.? $")
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
_AT_HOUR = re.compile(
    r"(?i)(?<![^\W_])(?:by|before|until|till|(?:up|open|start|close|begin|meet|leave|arrive)[a-z]* at) $"
)
_HOUR = re.compile(rf"(?i)1[0-2]|[1-9]|{UNITS}|ten|eleven|twelve")
_SURNAME_FIRST = re.compile(r"[A-ZÀ-Þ][^\W\d_]+(?:-[A-ZÀ-Þ][^\W\d_]+)?, ?(?:[A-Z]\.[ -]?){1,3}")
_NUMBERED = re.compile(
    r"(?i)(?<![^\W_])(?:room|ward|bed|gate|dock|theatre|suite|floor|unit|flat|apartment|seat) $"
)
_FIGURES = re.compile(r"[0-9]{1,4}[A-Za-z]?")
_NIGHT = re.compile(rf"{_WEEKDAY.pattern} (?:nite|night|morning|afternoon|evening|noon)")
_CURRENCY = "$€£"
_PRICED = frozenset(("monetary amount", "quantity", "building number", ORGANIZATION))
_CODED = re.compile(r"(?:-[^\W_]+)+")
_ESCAPE = re.compile(r"(?<=\\)[nrt](?=[^\W\d_])")
"""The letter of a line break that a string in code says with a backslash."""
_RETIRED = frozenset(
    ("retired", "former", "serving", "acting", "senior", "junior", "trainee", "assistant", "deputy", "new")
)
_MOST = 3
"""The most words of a name that are missing on one side; where more are capitalized, it is a heading."""
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
    found += [(piece, _of_its_kind(_completed(piece, tokens, covered), text)) for piece in pieces]
    return _united(text, [replace(named, need=need_of(piece.span)) for piece, named in found])


def _is_one_anyway(entity: Entity) -> bool:
    """Addresses and codes have their own forms, and may have gaps."""
    return entity.label in _ADDRESSES or (entity.identifier is Identifier.DIRECT and entity.label != PERSON)


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
    if label in ("person age", *_MOMENTS) and (
        _NO_AGE_AT_ALL.fullmatch(said) or _numbers_an_item(span, said, text)
    ):
        return True
    if not found or all(word in FUNCTION_WORDS | _RELATING for word in found):
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
    while end > start and (text[end - 1] in " ,;:\u00a0" or _ends_sentence(label, start, end, text)):
        end -= 1
    if _owned(label, start, end, text):
        end -= 2
    if label in (PERSON, ORGANIZATION) and (opening := _OPENING.match(text, start, end)):
        start = opening.end()
    if text[start : start + 2] == "s " and text[start - 1 : start] in ("'", "’"):
        start += 2
    if label in _MOMENTS:
        start, end = _whole_moment(start, end, text)
    if label == "person age" and (said := _SAID_OF_AGE.match(text, start, end)):
        start = said.end()
    if label in (ORGANIZATION, *_PLACES) and _STOPPED.fullmatch(text, start, end + 1):
        end += 1
    if label in _COUNTED and text[start : start + 1].isdigit():
        lower = _LOWER_END.search(text, max(0, start - _WIDEST_RANGE), start)
        start = lower.start() if lower else start
    return Span(start, end) if start < end else None


def _whole_moment(start: int, end: int, text: str) -> tuple[int, int]:
    """With the month or day beside it and with its meridiem, but without its preposition."""
    for pattern in (_PREPOSITION, _FRACTION):
        before = pattern.match(text, start, end)
        start = before.end() if before else start
    counted = _COUNT_OF.match(text[start:end])
    if counted and _DEALS.match(text, end) and not _IN_OR_THE.search(text, max(0, start - _NEAR), start):
        start += counted.end()
    partial = _DAY.fullmatch(text, start, end) or _YEAR.fullmatch(text, start, end)
    if partial and (month := _MONTH_BEFORE.search(text, max(0, start - _NEAR), start)):
        start = month.start()
    if _CLOCK_STOP.search(text, start, end) and text[end : end + 1] == ".":
        end += 1
    further = (_DAY_AFTER,) if _BARE_MONTH.fullmatch(text, start, end) else (_MERIDIEM, _ZONE)
    for pattern in further:
        found = pattern.match(text, end)
        end = found.end() if found else end
    return start, end


def _owned(label: str, start: int, end: int, text: str) -> bool:
    """Whether a person's name ends with a possessive."""
    return label == PERSON and end - start > _LONGEST_SHORT and text[end - 2 : end] in ("'s", "’s")


def _ends_sentence(label: str, start: int, end: int, text: str) -> bool:
    """Whether a name ends with a stop that is no part of it: not Orr Inc., Tom Orr Jr. and A. B."""
    if label not in (PERSON, ORGANIZATION, *_PLACES, *_MOMENTS) or text[end - 1] != ".":
        return False
    last = WORD.findall(text[max(start, end - _WINDOW) : end])[-1:]
    if label in _MOMENTS:
        return bool(last) and len(last[0]) > _LONGEST_MONTH
    return bool(last) and len(last[0]) > _LONGEST_SHORT and fold(last[0]) not in FIRM | _SUFFIXES


def _completed(entity: Entity, tokens: Tokens, covered: CharacterSet) -> Entity:
    """With the capitalized words beside it that belong to its name, unless another mention has them."""
    if entity.label in _JOBS:
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
    return entity.at(union_of(entity.span, tokens.span(before, after)))


def _with_field(entity: Entity, text: str, covered: CharacterSet) -> Entity:
    """A job with what follows it: the head of probate, the Director of Careers and Admissions."""
    field = _OF.match(text, entity.span.end)
    said = WORD.findall(text[entity.span.start : entity.span.end])
    if field is None or not said or fold(said[-1]) not in _LEADING:
        return entity
    span = Span(entity.span.start, field.end())
    return entity if covered.touches(Span(*field.span())) else entity.at(span)


def _goes_on(tokens: Tokens, index: int, covered: CharacterSet) -> bool:
    if index >= len(tokens) or tokens.shapes[index] != CAPITAL or spoils(tokens, index):
        return False
    if tokens.folded[index] in words("titles") | _OPENINGS:
        return False
    return not covered.touches(tokens.span(index, index + 1))


def _of_its_kind(entity: Entity, text: str) -> Entity:
    """A state is no organization, a nationality no name, an age no date and no hour, a price no number."""
    start, end = entity.span.start, entity.span.end
    if entity.label in _PRICED and text[start].isdigit() and start and text[start - 1] in _CURRENCY:
        return labelled(entity.at(Span(start - 1, end)), "monetary amount")
    if entity.label == "person age" and _HOUR.fullmatch(text, start, end):
        at_hour = _AT_HOUR.search(text, max(0, start - _NEAR), start)
        return labelled(entity, "time") if at_hour else entity
    if relabelled := _by_form(entity, text):
        return relabelled
    code = _CODED.match(text, end) if entity.label in (ORGANIZATION, PERSON, VAGUE) else None
    if code and any(map(str.isdigit, text[start : code.end()])):
        return entity.at(Span(start, code.end()))
    if entity.label not in (ORGANIZATION, PERSON, "date", "county"):
        return entity
    said = " ".join(map(fold, WORD.findall(text[entity.span.start : entity.span.end])))
    if entity.label == "date" and _AT_AGE.match(said):
        return labelled(entity, "person age")
    if entity.label == "date" and _LENGTH.fullmatch(text, start, end) and not _IN_TIME.match(text, end):
        return labelled(entity, "duration")
    if entity.label in (ORGANIZATION, "county") and said in _phrases("countries"):
        return labelled(entity, "country")
    citizens = _phrases("demonyms") | _phrases("countries")
    named = said in words("given_names", "given_names_ambiguous")
    if entity.label == PERSON and not named and said in citizens and _CITIZEN.match(text, entity.span.end):
        return labelled(entity, "nationality")
    return entity


def _by_form(entity: Entity, text: str) -> Entity | None:
    """The number of a room as one, Lind, A. as a person, Friday night as a date."""
    start, end = entity.span.start, entity.span.end
    if entity.label in ("place", "date") and _FIGURES.fullmatch(text, start, end):
        numbered = _NUMBERED.search(text, max(0, start - _NEAR), start)
        return labelled(entity, "secondary address unit") if numbered else None
    if entity.label == "demographic attribute" and _SURNAME_FIRST.fullmatch(text, start, end):
        return labelled(entity, PERSON)
    night = _NIGHT.match(text, start) if entity.label == PERSON else None
    if night and night.end() >= end:
        return labelled(entity.at(Span(start, night.end())), "date")
    return None


def labelled(entity: Entity, label: str) -> Entity:
    """The mention under another label, and its kind of identifier."""
    return replace(entity, label=label, identifier=label_of(label).identifier)


@cache
def _phrases(name: str) -> frozenset[str]:
    return frozenset(" ".join(WORD.findall(entry)) for entry in entries(name))


def _united(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """The mentions by place; the parts of one moment, age or name as one."""
    parts: dict[str, list[Entity]] = {kind: [] for kind in (*_JOINTS, "")}
    for entity in sorted(entities, key=lambda entity: entity.span):
        kind = _KIND_OF.get(entity.label, entity.label)
        parts[kind if kind in _JOINTS else ""].append(entity)

    def meet(one: Entity, other: Entity) -> bool:
        between = _JOINTS[_KIND_OF.get(one.label, one.label)]
        apart = one.span.end <= other.span.start
        if not apart or between.fullmatch(text, one.span.end, other.span.start) is None:
            return False
        said, behind = text[one.span.start : one.span.end], text[other.span.start : other.span.end]
        if one.label in _MOMENTS:
            return _one_moment(said, behind)
        gap = text[one.span.end : other.span.start]
        if one.label in _JOBS and not _one_job(one.label, other.label, said, gap, behind):
            return False
        return (
            is_doubted(one)
            and is_doubted(other)
            and (one.label in _JOBS or _one_item(one.label, said, gap, behind))
        )

    def join(one: Entity, other: Entity) -> Entity:
        first = other if (one.label, other.label) in _NAMED_BY_LAST else one
        return replace(first, span=union_of(one.span, other.span), need=_highest(one.need, other.need))

    united = [_with_zone(each, text) for kind in _JOINTS for each in joined(parts[kind], meet, join)]
    return sorted([*parts[""], *united], key=lambda entity: entity.span)


def _with_zone(entity: Entity, text: str) -> Entity:
    zone = _ZONE.match(text, entity.span.end) if entity.label in _MOMENTS else None
    return entity.at(Span(entity.span.start, zone.end())) if zone else entity


def _one_job(label: str, behind_label: str, said: str, gap: str, behind: str) -> bool:
    """Whether two mentions say one job: retired dentist; Chair and Chief Officer; Manager, Customer Care."""
    if gap == " ":
        return behind_label == "job title" and fold(said) in _RETIRED
    if label != "job title" or not (said[0].isupper() and behind[0].isupper()):
        return False
    if gap == ", ":
        return fold(WORD.findall(said)[-1]) in _LEADING
    return behind_label == "job title"


def _one_moment(said: str, behind: str) -> bool:
    """Whether a date and its time, or a weekday and its date, are side by side; never two of a kind."""
    if _WEEKDAY.fullmatch(said):
        return not _WEEKDAY.search(behind)
    if _YEAR.fullmatch(behind):
        return _MONTH_AND_DAY.fullmatch(said) is not None
    alone = _CLOCK.fullmatch(said) is not None, _CLOCK.fullmatch(behind) is not None
    return alone[0] != alone[1] and not _CLOCK.search(said if alone[1] else behind)


def _one_item(label: str, said: str, gap: str, behind: str) -> bool:
    """Whether a surname has its initials behind it, an age its unit, an institution its second field."""
    if label == PERSON:
        return _INITIALS.fullmatch(behind) is not None
    if label == ORGANIZATION:
        ends = {fold(word) for word in WORD.findall(behind)[-1:]}
        if gap == " of ":
            return fold(WORD.findall(said)[-1]) in _GOVERNING
        return WORD.fullmatch(said) is not None and not said.isupper() and ends <= _INSTITUTIONS
    return not behind[0].isdigit()


def _highest(one: Need | None, other: Need | None) -> Need | None:
    if one is None or other is None:
        return one or other
    return Need(max(one.tells, other.tells), max(one.should, other.should), max(one.must, other.must))
