"""Overlap resolution shared by patterns, rules, models and users' lists."""

import re
from collections.abc import Callable, Iterable

from ingest.documents import Entity, Span
from ingest.labels import label_of


def strictness(entity: Entity) -> tuple[bool, bool, float, float, str, str]:
    """Sort key for mentions of one span: required, then rigid, then risk; the rest breaks ties."""
    label = label_of(entity.label)
    return entity.required, label.rigid, label.risk, entity.confidence, entity.label, entity.source


def strictest(entities: Iterable[Entity]) -> dict[Span, Entity]:
    """One entity per span, with the riskiest label.

    Otherwise the hazards of several labels would add up as if the text had several mentions.
    """
    return {entity.span: entity for entity in sorted(entities, key=strictness)}


def uncovered(entities: Iterable[Entity], covers: Callable[[Entity, Entity], bool]) -> list[Entity]:
    """The entities in text order, without those inside another one that ``covers`` them.

    Of two with the same span the first may cover the other. An entity that only partly overlaps another one
    is kept: dropping it would leave characters uncovered.
    """
    kept: list[Entity] = []
    reaching: list[Entity] = []
    for one in sorted(entities, key=lambda entity: (entity.span.start, -entity.span.end)):
        reaching = [other for other in reaching if other.span.end > one.span.start]
        if not any(one.span.end <= other.span.end and covers(other, one) for other in reaching):
            kept.append(one)
            reaching.append(one)
    return kept


def longest(entities: Iterable[Entity]) -> list[Entity]:
    """The entities in text order, without those that overlap a longer one (ties: higher confidence)."""
    kept: list[Entity] = []
    taken = CharacterSet()
    for entity in sorted(entities, key=_rank):
        if not taken.touches(entity.span):
            taken.add(entity.span)
            kept.append(entity)
    return sorted(kept, key=lambda entity: entity.span)


def _rank(entity: Entity) -> tuple[int, float, Span, str, str]:
    return (-len(entity.span), -entity.confidence, entity.span, entity.label, entity.source)


def outside(entities: Iterable[Entity], others: Iterable[Entity]) -> list[Entity]:
    """The entities that share no character with any of ``others``."""
    taken = CharacterSet(other.span for other in others)
    return [entity for entity in entities if not taken.touches(entity.span)]


class CharacterSet:
    """A set of the characters covered by spans."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._marks = bytearray()
        for span in spans:
            self.add(span)

    def add(self, span: Span) -> None:
        """Add the characters of a span."""
        if span.end > len(self._marks):
            self._marks.extend(bytes(span.end - len(self._marks)))
        self._marks[span.start : span.end] = b"\x01" * len(span)

    def touches(self, span: Span) -> bool:
        """Whether any character of the span is in the set."""
        return self._marks.find(1, span.start, span.end) >= 0

    def holds(self, span: Span) -> bool:
        """Whether all characters of the span are in the set."""
        return span.end <= len(self._marks) and self._marks.find(0, span.start, span.end) < 0

    def without(self, span: Span) -> list[Span]:
        """The parts of the span whose characters are not in the set."""
        marks = self._marks[span.start : span.end].ljust(len(span), b"\0")
        return [Span(span.start + one.start(), span.start + one.end()) for one in re.finditer(b"\0+", marks)]
