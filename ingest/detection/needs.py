"""What the context says of mentions: whether they have to go, how far they reach, and what else has to go."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from ingest.detection.extents import whole
from ingest.detection.overlaps import CharacterSet
from ingest.detection.sources import MODEL, RULE, is_doubted
from ingest.documents import Entity, Identifier, Span
from ingest.labels import ORGANIZATION, PERSON, VAGUE, label_of
from ingest.spans import union_of
from models.detectors.need import FoundMark, WordNeeds

NOBODY, UNKNOWN_CODE = 0.02, 0.4
"""Something that looks like a name is none if it has to go with less probability, and a number that no
pattern knows is no code.

On held-out marked passages no name is below the first, and one code below the second.
"""
ADDED = 0.4
"""The probability of having to be generalized from which a mark becomes a mention by itself."""
ADDED_OF = {"CODE": 0.8, "CONTACT": 0.8, "DEM": 0.5, "QUANTITY": 0.5, "HEALTH": 0.5, "MISC": 0.5}
"""The same for kinds that are always replaced, of which patterns find most, and for what only describes."""
ALONE_OF = {VAGUE: 0.7, "demographic attribute": 0.6, "organization": 0.7, "place": 0.6}
"""The same for one word in small letters, which seldom says anything by itself, and for small phrases of an
organization, which are no name."""
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
"""The label of a mark that no mention names."""
_ILLNESSES = ("symptom", "disease", "diagnosis", "medication", "allergy")
_CARE = ("medical test", "test result", "procedure")
_AMOUNTS = ("quantity", "monetary amount", "bitcoin amount", "person height", "dosage", "duration")
_AREAS = ("place", "city name", "county", "state or province", "country")
_JOBS = ("job title", "job area", "job type")
_SELF = (
    "demographic attribute",
    "gender",
    "nationality",
    "religion",
    "marital status",
    "language",
    "eye color",
)
LABELS_OF: Mapping[str, Sequence[str]] = {
    "PERSON": (PERSON, "account handle", "bank account name"),
    "LOC": (*_AREAS, "street address", "building number", "zip postal code"),
    "ORG": ("organization", "medical department", "credit card issuer"),
    "DATETIME": ("date", "time", "date of birth", "duration", "frequency"),
    "AGE": ("person age",),
    "QUANTITY": (*_AMOUNTS, "frequency", "test result"),
    "DEM": (*_JOBS, *_SELF),
    "HEALTH": (*_ILLNESSES, *_CARE, "dosage", "frequency", "duration", "quantity"),
}
"""The labels that a mention under a mark of a kind may have; under marks of other kinds any."""
CLASSES = {"DIRECT": Identifier.DIRECT, "QUASI": Identifier.QUASI, "SENSITIVE": Identifier.ATTRIBUTE}


def with_needs(text: str, entities: Sequence[Entity], needs: WordNeeds, source: str) -> list[Entity]:
    """The mentions with their needs, and with the marks that no mention covers.

    A mention that only a model found reaches as far as the marks over it, and has labels of their kinds. A
    direct identifier loses neither words nor its class, unless the context is sure that it is none, or it is
    no item (``ingest.detection.extents``).
    """
    marks = list(needs.marks())
    kept = [each for entity in entities for each in _read(entity, marks, needs)]
    kept += _uncovered(text, marks, kept, source)
    found = whole(text, kept, lambda span: needs.at(span.start, span.end))
    return [entity for entity in found if not _says_too_little(entity, text)]


def _says_too_little(entity: Entity, text: str) -> bool:
    said = text[entity.span.start : entity.span.end]
    words = entity.label == ORGANIZATION and said.replace(" ", "").isalpha()
    alone = entity.source.startswith(MODEL) and said.islower() and (said.isalpha() or words)
    return alone and entity.need is not None and entity.need.should < ALONE_OF.get(entity.label, 0)


def _read(entity: Entity, marks: Sequence[FoundMark], needs: WordNeeds) -> list[Entity]:
    span = entity.span
    if entity.source.startswith(MODEL) and label_of(entity.label).rigid:
        # No pattern knows it: a number like any other, unless the context says otherwise.
        return [entity] if needs.at(span.start, span.end).must >= UNKNOWN_CODE else []
    if not is_doubted(entity):
        return [entity]
    first = bisect_right(marks, span.start, key=lambda mark: mark.end)
    over = marks[first : bisect_left(marks, span.end, key=lambda mark: mark.start)]
    if entity.identifier is Identifier.DIRECT:
        if needs.at(span.start, span.end).must >= NOBODY:
            names = (Span(mark.start, mark.end) for mark in over if mark.kind == "PERSON")
            return [entity.at(reduce(union_of, names, span))]
        return [_under(entity, mark) for mark in over]
    if not over or entity.source.startswith(RULE):
        return [entity]
    return [_under(entity, mark) for mark in over]


def _under(entity: Entity, mark: FoundMark) -> Entity:
    """A mention as far as a mark reaches, under a label of its kind."""
    fitting = LABELS_OF.get(mark.kind)
    label = entity.label
    if fitting is not None and label not in fitting:
        label = LABEL_OF[mark.kind]
    return replace(
        entity, span=Span(mark.start, mark.end), label=label, identifier=label_of(label).identifier
    )


def _uncovered(
    text: str, marks: Sequence[FoundMark], entities: Sequence[Entity], source: str
) -> Iterator[Entity]:
    covered = CharacterSet(entity.span for entity in entities)
    for mark in marks:
        span = Span(mark.start, mark.end)
        if mark.need.should >= ADDED_OF.get(mark.kind, ADDED) and not covered.holds(span):
            yield Entity(span, LABEL_OF[mark.kind], CLASSES[mark.identifier], mark.need.should, source)
