"""Linking: which mentions of a document refer to the same person or thing.

Scores and decisions belong to the linked entity. Removing only one of two mentions of a name would show no
marginal risk, since the other mention remains.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from ingest.documents import Document, Entity
from ingest.labels import ORGANIZATION, PERSON
from ingest.language.naming import naming_of
from ingest.linking.organizations import organizations
from ingest.linking.people import persons
from ingest.linking.values import value_key

__all__ = ["PERSON", "link"]

FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("city name", "county", "state or province", "country"), "place"),
    "date of birth": "date",
    **dict.fromkeys(("diagnosis", "symptom"), "disease"),
}
"""Labels that detectors confuse for the same entity: linked by their words."""


def link(document: Document, entities: Sequence[Entity]) -> list[Entity]:
    """The entities in text order, each with its link number.

    Mentions with the same label, or family of labels, are linked if they are equal up to case, accents and
    separators. A shorter form of a person's or organization's name joins the one fuller name that it fits; a
    form that fits two stays separate. Links are numbered from 0 in text order.
    """
    mentions = _ordered(entities)
    keys = _keys(document.text, mentions)
    numbers: dict[tuple[str, Hashable], int] = {}
    return [
        replace(each, link=numbers.setdefault((FAMILIES.get(each.label, each.label), key), len(numbers)))
        for each, key in zip(mentions, keys, strict=True)
    ]


def _ordered(entities: Sequence[Entity]) -> list[Entity]:
    """Entities in text order, independent of the input order."""
    return sorted(entities, key=lambda e: (e.span, e.label, e.source, -e.confidence, e.identifier))


def _keys(text: str, mentions: Sequence[Entity]) -> list[Hashable]:
    """For each mention a key that the mentions of its linked entity share, within its label."""
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
