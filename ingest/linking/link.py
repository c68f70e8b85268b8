"""Linking: which mentions of a document refer to the same person or thing.

Scores and decisions belong to the linked entity. Removing only one of two mentions of a name would show no
marginal risk, since the other mention remains.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from ingest.detection.repeats import FIELD
from ingest.documents import Document, Entity, Span
from ingest.labels import ORGANIZATION, PERSON
from ingest.linking.names import by_reading, by_words, organizations_at, persons_at
from ingest.linking.values import value_key

FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("city name", "county", "state or province", "country"), "place"),
    "date of birth": "date",
    **dict.fromkeys(("diagnosis", "symptom"), "disease"),
}
"""Labels that detectors confuse for the same entity: linked by their words."""
IN_FIELDS = frozenset((FIELD, "rule:hl7", "rule:caret"))
"""Sources of names that stand in fields, of which two are two people."""
LikelySame = Callable[[Sequence[Span]], Sequence[Sequence[int]] | None]
"""``ingest.protocols.likely_same`` of a detector and a text."""


def link(
    document: Document, entities: Sequence[Entity], likely_same: LikelySame | None = None
) -> list[Entity]:
    """The entities in text order, whatever theirs is, each with its link number.

    Mentions with the same label, or family of labels, are linked if they are equal up to case, accents and
    separators. Which mentions of persons name the same one follows from ``likely_same`` (``by_reading``), and
    where that says nothing, as which of organizations do, from their words (``by_words``). Links are
    numbered from 0 in text order.
    """
    text = document.text
    mentions = sorted(entities, key=lambda e: (e.span, e.label, e.source, -e.confidence, e.identifier))
    bodies = [each.span for each in mentions if each.label == ORGANIZATION]
    named: dict[str, Iterator[Hashable]] = {
        PERSON: iter(_persons(text, [each for each in mentions if each.label == PERSON], likely_same)),
        ORGANIZATION: iter(by_words(organizations_at(text, bodies))),
    }
    numbers: dict[tuple[str, Hashable], int] = {}
    linked = []
    for each in mentions:
        said = text[each.span.start : each.span.end]
        key = next(named[each.label]) if each.label in named else value_key(each.label, said)
        family = FAMILIES.get(each.label, each.label)
        linked.append(replace(each, link=numbers.setdefault((family, key), len(numbers))))
    return linked


def _persons(text: str, people: Sequence[Entity], likely_same: LikelySame | None) -> Sequence[Hashable]:
    """For each mention a key that the mentions of its person share."""
    spans = [each.span for each in people]
    forms = persons_at(text, spans)
    in_fields = {number for number, each in enumerate(people) if each.source in IN_FIELDS}
    likely = likely_same(spans) if likely_same and spans else None
    return by_words(forms, in_fields) if likely is None else by_reading(forms, in_fields, likely)
