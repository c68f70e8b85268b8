"""Linking: which mentions of a document name the same person or thing.

Scores and decisions belong to the linked entity. A name that occurs twice would have no marginal risk if
only one mention were taken away, since the other still says it.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from ingest.documents import Document, Entity
from ingest.linking.names import PERSON, naming_of
from ingest.linking.organizations import ORGANIZATION, organizations
from ingest.linking.people import persons
from ingest.linking.values import value_key

__all__ = ["PERSON", "link"]

FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("city name", "county", "state or province", "country"), "place"),
    "date of birth": "date",
    **dict.fromkeys(("diagnosis", "symptom"), "disease"),
}
"""Labels that detectors give to the same thing in one sentence and in the next: its words decide."""


def link(document: Document, entities: Sequence[Entity]) -> list[Entity]:
    """The entities in the order of the text, each with the number of its linked entity.

    Mentions with one label, or one family of labels, are linked where they say the same, whatever their
    case, accents and separators; a shorter form of a person's or organization's name joins the one fuller
    name that it fits. A form that fits two stays by itself. Numbers count from 0 in the order of the text.
    """
    mentions = _ordered(entities)
    keys = _keys(document.text, mentions)
    numbers: dict[tuple[str, Hashable], int] = {}
    return [
        replace(each, link=numbers.setdefault((FAMILIES.get(each.label, each.label), key), len(numbers)))
        for each, key in zip(mentions, keys, strict=True)
    ]


def _ordered(entities: Sequence[Entity]) -> list[Entity]:
    """Entities in the order of the text, whatever order they come in."""
    return sorted(entities, key=lambda e: (e.span, e.label, e.source, -e.confidence, e.identifier))


def _keys(text: str, mentions: Sequence[Entity]) -> list[Hashable]:
    """For each mention what all mentions of its linked entity have in common, within its label."""
    people = [each.span for each in mentions if each.label == PERSON]
    namings = [naming_of(text, span) for span in people]
    wholes = persons(namings)
    bodies = [each.span for each in mentions if each.label == ORGANIZATION]
    known: dict[str, list[Hashable]] = {
        PERSON: [wholes[naming] for naming in namings],
        ORGANIZATION: list(organizations(text, bodies)),
    }
    waiting = {label: iter(keys) for label, keys in known.items()}
    return [
        next(waiting[each.label])
        if each.label in waiting
        else value_key(each.label, text[each.span.start : each.span.end])
        for each in mentions
    ]
