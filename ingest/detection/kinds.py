"""The kind of a mention, from its form, from what stands beside it and from the other mentions."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from ingest.detection.joints import WEEKDAY
from ingest.detection.overlaps import CharacterSet
from ingest.detection.patterns.words import MONTHS, TEENS, TENS, UNITS
from ingest.detection.rules.medical import KINDS
from ingest.detection.sources import RULE
from ingest.documents import Entity, Span
from ingest.labels import ORGANIZATION, PERSON, VAGUE, label_of
from ingest.language.vocabulary import WORD, entries, fold, words

_NEAR = 16
_SHORTEST_TERM = 3
_NO_MEDICINE = frozenset(
    ("place", ORGANIZATION, PERSON, VAGUE, "job title", "job area", "demographic attribute", "event")
)
"""Labels under which models find medical terms."""
_ILLNESSES = ("disease", "diagnosis")
_REST_OF_ILLNESS = re.compile(
    r"(?i:(?: affective| mood| personality| spectrum)? disorder| disease| syndrome)(?![^\W_])"
    r"| type (?:I{1,3}|[12])(?![\w.,/-])| II(?![\w-])"
)
"""Bipolar affective disorder, bipolar II."""
_READING = re.compile(r"(?P<what>[a-z][a-z0-9]+) [<>]?[0-9]+(?:[.,][0-9]+)?")
_LENGTH = re.compile(
    r"(?i)(?:about |over |~)?[0-9]+(?:\.[0-9]+)?\+? (?:years?|months?|weeks?|days?|hours?|minutes?)"
)
_IN_TIME = re.compile(r"(?i) (?:ago|old|later|earlier|before|after|from|prior)(?![^\W_])")
_CITIZEN = re.compile(r" (?:nationals?|citizens?|nationality|passport|refugees?|origin|descent)\b")
_AT_AGE = re.compile(r"(?:the )?age of ")
_SURNAME_FIRST = re.compile(r"[A-ZÀ-Þ][^\W\d_]+(?:-[A-ZÀ-Þ][^\W\d_]+)?, ?(?:[A-Z]\.[ -]?){1,3}")
_NUMBERED = re.compile(
    r"(?i)(?<![^\W_])(?:room|ward|bed|gate|dock|theatre|suite|floor|unit|flat|apartment|seat) $"
)
_COUNT = re.compile(
    rf"(?i)(?:[0-9]+|{UNITS}|ten|eleven|twelve|{TEENS}|{TENS})"
    r" (?!(?:year|month|week|day|yr|mo|winter|summer)s)[a-z]{3,}s"
)
"""Nineteen pupils."""
_NUMERIC_DATE = re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1(?:[0-9]{2}){1,2}")
_FIGURES = re.compile(r"[0-9]{1,4}[A-Za-z]?")
_NIGHT = re.compile(rf"{WEEKDAY.pattern} (?:nite|night|morning|afternoon|evening|noon)")
_CURRENCY = "$€£"
_PRICED = frozenset(("monetary amount", "quantity", "building number", ORGANIZATION))
_CODED = re.compile(r"(?:-[^\W_]+)+")
_AT_HOUR = re.compile(
    r"(?i)(?<![^\W_])(?:by|before|until|till|(?:up|open|start|close|begin|meet|leave|arrive)[a-z]* at) $"
)
_HOUR = re.compile(rf"(?i)1[0-2]|[1-9]|{UNITS}|ten|eleven|twelve")
_JOINTS = frozenset(("v", "vs", "versus", "and", "&", "or"))
_THE = re.compile(r"(?i)(?<![^\W_])the $")
_PEOPLE = re.compile(
    r"[sS](?![^\W_])|['’]s? (?:family|house|home|estate)(?![^\W_])"
    r"| (?:family|families|couple|brothers|sisters|household|estate|home|twins|boys|girls|children|kids)"
)
_FIRST_PART = re.compile("[A-Z][a-z]+")
_CAMEL = re.compile(r"(?!Mac|Fitz|Anna|Mary)[A-Z][a-z]{3,}[A-Z][A-Za-z]+|[A-Z][a-z]+[A-Z]{2,}")
_LIVED_IN = re.compile(
    r"(?i)(?<![^\W_])(?:liv(?:e|es|ed|ing)|born|raised|resid(?:e|es|ed|ing)|based|located|grew up|stationed"
    r"|settled) (?:(?:up|down|out|over|back) )?in(?: [A-Z]\w+,?(?: and| or))? $"
)
_BEHIND_STREET = re.compile(
    r"(?<![^\W_])[0-9]{1,4}[A-Za-z]? (?:[A-Z][a-z]+['’]?s? ){1,3}"
    r"(?:Street|Road|Lane|Avenue|Close|Row|Drive|Crescent|Terrace|Way|Court|Square|Gardens|Place|Hill|Grove|Walk"
    r"|Green|Mews|Park|Rise|St|Rd|Ave), $"
)
_INSIDE = re.compile(r"(?i)(?<![^\W_])(?:in|near|outside|at) $")
_WINDOW = 60
LIVED_IN = f"{RULE}lived-in"
_ACRONYM = re.compile("[A-Z]{3,7}")
_TITLE = re.compile(r"(?i)(?<![^\W_])(?:dr|mr|mrs|ms|miss|prof|professor|doctor|sir|judge)\.? $")
_QUOTED = re.compile(r"(?P<quote>['\"]),\s?(?P=quote)(?P<name>[A-Z][a-z]+(?:-[A-Z][a-z]+)?)(?P=quote)")
_MONTH = re.compile(rf"(?i)(?:{MONTHS})\.?")
_IN_MONTH = re.compile(
    r"(?i)(?<![^\W_])(?:in|on|of|since|until|till|by|from|to|for|through|during|before|after|about|around|and|or"
    r"|early|mid|late|last|next|this|every|each|the|that|[0-9]+(?:st|nd|rd|th)?)[ -]$"
)


def with_kinds(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """The mentions with months that are somebody's first name as persons, and other things' names as theirs.

    Where somebody lives is a place: "lives in Ashdale", "4 Mill Row, Ashdale"; so is "in Ashdale" beside it.
    A name is another thing's, wherever it stands, if it stands behind "the", has a capital inside, is an
    acronym of nobody here, or begins the longer name of an organization. Both keep the class of a direct
    identifier. Surnames that stand in quotes of their own behind a first name are found too.
    """
    found = [labelled(each, PERSON) if _is_first_name(each, text, entities) else each for each in entities]
    found += _quoted_surnames(text, found)
    people = [each for each in found if each.label == PERSON]
    things = {_said(text, each) for each in people if _is_thing(text, each)}
    things |= _acronyms(text, people) | _firms(text, people, found)
    lived = {_said(text, each) for each in people if _is_lived_in(each, text)}
    lived -= {
        _said(text, each) for each in people if not (_is_lived_in(each, text) or _is_inside(each, text))
    }
    return [_of_another_kind(each, text, things, lived) for each in found]


def _of_another_kind(entity: Entity, text: str, things: Collection[str], lived: Collection[str]) -> Entity:
    """A person who is one of the things, or of the places that are ``lived`` in, as that."""
    if entity.label != PERSON:
        return entity
    said = _said(text, entity)
    if said in things:
        return replace(entity, label=ORGANIZATION)
    place = said in lived and said.split()[0] not in words("given_names")
    return replace(entity, label="place", source=LIVED_IN) if place else entity


def _quoted_surnames(text: str, entities: Sequence[Entity]) -> Iterator[Entity]:
    """Behind 'Anna', in a row of values, 'Lind': the surname that no other mention has."""
    taken = CharacterSet(each.span for each in entities)
    for each in entities:
        behind = _QUOTED.match(text, each.span.end) if each.label == PERSON else None
        if behind is None or text[each.span.start - 1 : each.span.start] != behind["quote"]:
            continue
        span, name = Span(*behind.span("name")), fold(behind["name"])
        if not taken.touches(span) and (name in words("surnames") or name not in words("common_words")):
            yield replace(each, span=span, source="rule:quoted-surname")


def _said(text: str, entity: Entity) -> str:
    return fold(text[entity.span.start : entity.span.end])


def _is_first_name(entity: Entity, text: str, entities: Sequence[Entity]) -> bool:
    """Whether a month is the first name of somebody in the text, and not "in April"."""
    start, end = entity.span.start, entity.span.end
    if not _MONTH.fullmatch(text, start, end) or _IN_MONTH.search(text, max(0, start - _NEAR), start):
        return False
    name = text[start:end]
    return any(
        each.label == PERSON and (word := WORD.search(text, each.span.start, each.span.end)) is not None
        and word.group() == name
        for each in entities
    )  # fmt: skip


def _is_thing(text: str, entity: Entity) -> bool:
    start, end = entity.span.start, entity.span.end
    if _CAMEL.fullmatch(text, start, end):
        first = _FIRST_PART.match(text, start)
        return first is not None and fold(first.group()) not in words("given_names")
    the = _THE.search(text, max(0, start - _NEAR), start)
    said = _said(text, entity)
    people = _PEOPLE.match(text, end) or said.endswith("s")
    named = the is not None or said.startswith("the ")
    return named and not people and not said.startswith(tuple(words("titles")))


def _is_lived_in(entity: Entity, text: str) -> bool:
    start, end = entity.span.start, entity.span.end
    first = max(0, start - _WINDOW)
    lived = _LIVED_IN.search(text, first, start) or _BEHIND_STREET.search(text, first, start)
    return lived is not None and not text.startswith(("'s", "’s"), end)


def _is_inside(entity: Entity, text: str) -> bool:
    start = entity.span.start
    return _INSIDE.search(text, max(0, start - _NEAR), start) is not None


def _acronyms(text: str, people: Sequence[Entity]) -> set[str]:
    """The acronyms among names that are no known name, nobody's initials and behind no title."""
    initials = {
        "".join(word[0] for word in WORD.findall(text[each.span.start : each.span.end])).casefold()
        for each in people
    }
    known = words("given_names", "given_names_ambiguous", "surnames")
    named = {word for each in people for word in _said(text, each).split()[1:]}
    said = {
        _said(text, each)
        for each in people
        if _ACRONYM.fullmatch(text, each.span.start, each.span.end)
        and not _TITLE.search(text, max(0, each.span.start - _NEAR), each.span.start)
    }
    return said - initials - known - named


def _firms(text: str, people: Sequence[Entity], entities: Sequence[Entity]) -> set[str]:
    """The names with which a longer name of an organization begins, and that are nobody's surname here.

    Lind is no firm for "Lind v Orr" or "Lind & Orr".
    """
    firms = [_said(text, each) for each in entities if each.label == ORGANIZATION]
    named = {word for each in people for word in _said(text, each).split()[1:]}
    said = {_said(text, each) for each in people} - named - words("given_names")
    rests = ((name, firm.removeprefix(f"{name} ").split()[0]) for name in said for firm in firms
             if firm.startswith(f"{name} "))  # fmt: skip
    return {name for name, rest in rests if rest.strip(".") not in _JOINTS}


def of_its_kind(entity: Entity, text: str) -> Entity:
    """A state is no organization, a nationality no name, an age no date and no hour, a price no number."""
    start, end = entity.span.start, entity.span.end
    if entity.label in _PRICED and text[start].isdigit() and start and text[start - 1] in _CURRENCY:
        return labelled(entity.at(Span(start - 1, end)), "monetary amount")
    if entity.label == "person age" and _HOUR.fullmatch(text, start, end):
        at_hour = _AT_HOUR.search(text, max(0, start - _NEAR), start)
        return labelled(entity, "time") if at_hour else entity
    if relabelled := _by_form(entity, text) or _of_medicine(entity, text):
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
    """The number of a room as one, 1.2.70 as a birthday, Lind, A. as a person, Friday night as a date."""
    start, end = entity.span.start, entity.span.end
    if entity.label in ("place", "date") and _FIGURES.fullmatch(text, start, end):
        numbered = _NUMBERED.search(text, max(0, start - _NEAR), start)
        return labelled(entity, "secondary address unit") if numbered else None
    if entity.label == "person age" and _COUNT.fullmatch(text, start, end):
        return labelled(entity, "quantity")
    if entity.label == "person age" and _NUMERIC_DATE.fullmatch(text, start, end):
        return labelled(entity, "date of birth")
    if entity.label == "demographic attribute" and _SURNAME_FIRST.fullmatch(text, start, end):
        return labelled(entity, PERSON)
    night = _NIGHT.match(text, start) if entity.label == PERSON else None
    if night and night.end() >= end:
        return labelled(entity.at(Span(start, night.end())), "date")
    return None


def _of_medicine(entity: Entity, text: str) -> Entity | None:
    """A medical term taken for a name, a job or an attribute as what it is, an illness with its type."""
    said = fold(text[entity.span.start : entity.span.end])
    if entity.label in _ILLNESSES and (rest := _REST_OF_ILLNESS.match(text, entity.span.end)):
        return entity.at(Span(entity.span.start, rest.end()))
    if entity.label == "medication" and (reading := _READING.fullmatch(said)):
        return labelled(entity, "test result") if reading["what"] in words("medical_tests") else None
    if entity.label == PERSON and not text[entity.span.start : entity.span.end].islower():
        return None
    if entity.label not in _NO_MEDICINE or said in words("given_names", "given_names_ambiguous", "surnames"):
        return None
    label = _medical_terms().get(said)
    return labelled(entity, label) if label else None


@cache
def _medical_terms() -> Mapping[str, str]:
    """Medical terms of several letters and their labels; not what is also an ordinary word."""
    return {
        term: label
        for name, label in KINDS.items()
        for term in entries(name)
        if len(term) > _SHORTEST_TERM and term not in words("common_words")
    }


def labelled(entity: Entity, label: str) -> Entity:
    """The mention under another label, and its kind of identifier."""
    return replace(entity, label=label, identifier=label_of(label).identifier)


@cache
def _phrases(name: str) -> frozenset[str]:
    return frozenset(" ".join(WORD.findall(entry)) for entry in entries(name))
