"""What the context says of mentions: whether they have to go, how far they reach, and what else has to go."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ingest.detection.overlaps import CharacterSet
from ingest.documents import Entity, Identifier, Span
from ingest.labels import NAMES, PERSON, VAGUE, label_of
from models.detectors.need import FoundMark, WordNeeds

TOLD = 0.25
"""A mention that only a model found, whose words tell of a person with less probability, is none."""
NAME_TOLD = 0.05
"""The same for names, of which none should be lost."""
ADDED = 0.4
"""The probability of having to be generalized from which a mark becomes a mention by itself."""
MODEL = "model:"
"""How the sources of mentions begin that only a model found."""

LABEL_OF: Mapping[str, str] = {
    "PERSON": PERSON,
    "CODE": "reference number",
    "CONTACT": "street address",
    "LOC": "place",
    "ORG": "organization",
    "DATETIME": "date",
    "AGE": "person age",
    "QUANTITY": "quantity",
    "DEM": "demographic attribute",
    "HEALTH": "diagnosis",
    "MISC": VAGUE,
}
CLASSES = {
    "DIRECT": Identifier.DIRECT,
    "QUASI": Identifier.QUASI,
    "SENSITIVE": Identifier.ATTRIBUTE,
}


def with_needs(entities: Sequence[Entity], needs: WordNeeds, source: str) -> list[Entity]:
    """The mentions with their needs, without those that are none, and with the marks that no mention covers.

    A mention that only a model found reaches as far as the mark over it.
    """
    marks = [mark for mark in needs.marks() if mark.need.should >= ADDED]
    kept = []
    for entity in entities:
        need = needs.at(entity.span.start, entity.span.end)
        if entity.source.startswith(MODEL):
            if need.tells < (NAME_TOLD if entity.label in NAMES else TOLD):
                continue
            entity = _within(entity, marks)
            need = needs.at(entity.span.start, entity.span.end)
        kept.append(replace(entity, need=need))
    return sorted([*kept, *_uncovered(marks, kept, source)], key=lambda entity: entity.span)


def _within(entity: Entity, marks: Sequence[FoundMark]) -> Entity:
    """A mention without the words around the only mark in it."""
    first = bisect_left(marks, entity.span.start, key=lambda mark: mark.start)
    inside = [mark for mark in marks[first : first + 2] if mark.end <= entity.span.end]
    if len(inside) != 1 or label_of(entity.label).rigid:
        return entity
    return entity.at(Span(inside[0].start, inside[0].end))


def _uncovered(marks: Sequence[FoundMark], entities: Sequence[Entity], source: str) -> Iterator[Entity]:
    covered = CharacterSet(entity.span for entity in entities)
    for mark in marks:
        span = Span(mark.start, mark.end)
        if not covered.holds(span):
            yield Entity(
                span, LABEL_OF[mark.kind], CLASSES[mark.identifier], mark.need.should, source, need=mark.need
            )
