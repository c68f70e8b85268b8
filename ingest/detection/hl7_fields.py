"""HL7 version 2 messages: segment and field number determine what a field holds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ingest.detection.fields import parted
from ingest.detection.overlaps import CharacterSet
from ingest.detection.sources import by_rule
from ingest.documents import Entity, Span
from ingest.labels import PERSON
from ingest.language.name_grammar import stops_name
from ingest.language.vocabulary import WORD, fold, words

_MESSAGE = re.compile(r"(?:^|(?<=\r))MSH\|\^~", re.MULTILINE)
_SEGMENT = re.compile(r"(?:^|(?<=\r))([A-Z][A-Z0-9]{2})\|[^\r\n]*", re.MULTILINE)
_TIMESTAMP = re.compile(
    r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[0-9]{4}(?:[0-9]{2}(?:\.[0-9]{1,4})?)?)?"
    r"(?:[+-][0-9]{4})?"
)

_CARETS = re.compile(
    r"(?<![\w^])(?=[^\W\d_]['’]?[^\W\d_])[^\W\d_a-z][^\W\d_]*+(?:[ '’-][^\W\d_]++){0,3}"
    r"\^[^\W\d_a-z][^\W\d_]*+(?:[ '’-][^\W\d_]++){0,3}(?:\^{1,4}(?!LN\b)[^\W\d_]++\.?){0,4}"
    r"(?!\w|\^LN\b)"
)
"""Hartigan^Rosamund^L^^Mrs."""
_TERMS = ("medications", "diseases", "symptoms", "medical_tests", "titles")

_Parts = Mapping[int, str]
"""Labels of a field's components, by number."""

_DATE = "date"
_NAME: _Parts = {1: PERSON, 2: PERSON, 3: PERSON}
_DOCTOR: _Parts = {1: "employee number", 2: PERSON, 3: PERSON, 4: PERSON}
_ADDRESS: _Parts = {
    1: "street address",
    2: "secondary address unit",
    3: "city name",
    4: "state or province",
    5: "zip postal code",
    9: "county",
}
_PHONE: _Parts = {1: "phone number", 4: "email address", 12: "phone number"}
_BORN: _Parts = {1: "date of birth"}
_RECORD: _Parts = {1: "medical record number"}

FIELDS: Mapping[str, Mapping[int, _Parts]] = {
    "MSH": {3: {1: "organization"}, 5: {1: "organization"}},
    "PID": {
        **dict.fromkeys((2, 3, 4, 18, 21), _RECORD),
        **dict.fromkeys((5, 6, 9), _NAME),
        7: _BORN,
        11: _ADDRESS,
        13: _PHONE,
        14: _PHONE,
        19: {1: "social security number"},
        20: {1: "driving licence number"},
        23: {1: "city name"},
        29: {1: _DATE},
    },
    "MRG": {1: _RECORD, 3: _RECORD, 7: _NAME},
    "NK1": {2: _NAME, 4: _ADDRESS, 5: _PHONE, 6: _PHONE, 16: _BORN, 30: _NAME, 31: _PHONE, 32: _ADDRESS},
    "PD1": {4: _DOCTOR},
    "PV1": {**dict.fromkeys((7, 8, 9, 17, 52), _DOCTOR), 19: _RECORD},
    "GT1": {2: _RECORD, 3: _NAME, 4: _NAME, 5: _ADDRESS, 6: _PHONE, 7: _PHONE, 8: _BORN},
    "IN1": {
        2: {1: "health insurance number"},
        16: _NAME,
        18: _BORN,
        19: _ADDRESS,
        36: {1: "health insurance number"},
        49: {1: "health insurance number"},
    },
    "ORC": dict.fromkeys((10, 11, 12, 19), _DOCTOR),
    "OBR": dict.fromkeys((10, 16, 28, 32, 33, 34, 35), _DOCTOR),
    "OBX": {16: _DOCTOR},
    "TXA": dict.fromkeys((5, 9, 10, 11, 22), _DOCTOR),
    "SCH": dict.fromkeys((12, 16, 20), _DOCTOR),
    "EVN": {5: _DOCTOR},
}
"""The identifying fields, by segment and number; OBR-32 to 35 name a person as doctor fields do."""

_CODES: Mapping[str, frozenset[int]] = {
    "MSH": frozenset((2, 4, 8, 9, 10, 11, 12, *range(15, 22))),
    "NK1": frozenset((1, 3, 7)),
    "EVN": frozenset((1,)),
    "PID": frozenset((1, 8, 10, 15, 16, 17)),
    "PV1": frozenset((1, 2, 4, 10, 18)),
    "ORC": frozenset((1, 5)),
    "OBR": frozenset((1, 4, 24, 25)),
    "OBX": frozenset((1, 2, 3, 4, 6, 7, 8, 11)),
    "AL1": frozenset((1, 2, 4)),
    "DG1": frozenset((1, 2, 3)),
}
"""The fields with codes, units and states, which identify nobody."""
_NUMERIC = ("NM", "SN")


def with_messages(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """Add the mentions of identifying fields; drop all others in these fields and in code fields.

    What reaches into several fields is cut at their borders. Pattern matches are kept: a telephone number is
    one in any field.
    """
    if not _MESSAGE.search(text):
        return list(entities)
    found: list[Entity] = []
    settled: list[Span] = []
    places: list[Span] = []
    for segment in _SEGMENT.finditer(text):
        in_segment, codes = _read(segment)
        found += in_segment
        at = segment.start()
        for value in segment[0].split("|"):
            places += [Span(at, at + len(value))] if value else []
            at += len(value) + 1
        settled += [*(one.span for one in in_segment), *codes]
    taken = CharacterSet(settled)
    parts = chain.from_iterable(parted(one, places) for one in entities)
    kept = [one for one in parts if one.source.startswith("pattern:") or not taken.holds(one.span)]
    return sorted([*kept, *found], key=lambda one: one.span)


def names_with_carets(text: str) -> Iterator[Entity]:
    """Names in HL7 notation anywhere in the text; one with an ordinary word is rejected."""
    for match in _CARETS.finditer(text):
        family, given = match[0].split("^")[:2]
        if not any(
            stops_name(fold(word)) or fold(word) in words(*_TERMS)
            for word in WORD.findall(f"{family} {given}")
        ):
            yield by_rule(
                Span(match.start(), match.start() + len(match[0].rstrip("."))), PERSON, 0.85, "caret"
            )


def _read(segment: re.Match[str]) -> tuple[list[Entity], list[Span]]:
    """The mentions of a segment, and the spans of its codes."""
    known, codes = FIELDS.get(segment[1], {}), _CODES.get(segment[1], frozenset())
    found: list[Entity] = []
    places: list[Span] = []
    values = segment[0].split("|")
    is_numeric = segment[1] == "OBX" and len(values) > 2 and values[2] in _NUMERIC
    at = segment.start()
    for number, value in enumerate(values):
        if number in known:
            found += _components(value, at, known[number])
        elif number and _TIMESTAMP.fullmatch(value):
            found.append(by_rule(Span(at, at + len(value)), _DATE, 0.95, "hl7"))
        elif value and (number == 0 or number in codes or (is_numeric and number == 5)):
            places.append(Span(at, at + len(value)))
        at += len(value) + 1
    return found, places


def _components(value: str, at: int, parts: _Parts) -> Iterator[Entity]:
    """The labelled components of a field, in each of its repetitions."""
    for repetition in value.split("~"):
        place = at
        for number, component in enumerate(repetition.split("^"), start=1):
            if number in parts and any(char.isalnum() for char in component):
                yield by_rule(Span(place, place + len(component)), parts[number], 0.95, "hl7")
            place += len(component) + 1
        at += len(repetition) + 1
