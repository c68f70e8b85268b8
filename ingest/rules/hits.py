"""What a rule answers, and how the answers of one family are made disjoint."""

from collections.abc import Iterable

from ingest.documents import Entity, Span
from ingest.labels import label_of
from ingest.rules.tokens import Tokens

PERSON = "person full name"


def hit(span: Span, label: str, confidence: float, rule: str) -> Entity:
    """The entity that the rule ``rule`` found; its identifier comes from the label's row."""
    return Entity(span, label, label_of(label).identifier, confidence, f"rule:{rule}")


def person(tokens: Tokens, first: int, end: int, confidence: float, rule: str) -> Entity:
    """The person whose name is the words ``first`` to ``end`` (not included)."""
    return hit(tokens.span(first, end), PERSON, confidence, rule)


def _rank(entity: Entity) -> tuple[int, float, Span, str, str]:
    return (-len(entity.span), -entity.confidence, entity.span, entity.label, entity.source)


def longest(entities: Iterable[Entity]) -> list[Entity]:
    """The entities by place, without those that overlap a longer (then: surer) one."""
    by_size = sorted(entities, key=_rank)
    if not by_size:
        return []
    taken = bytearray(max(entity.span.end for entity in by_size))
    kept: list[Entity] = []
    for entity in by_size:
        span = entity.span
        if taken.find(1, span.start, span.end) < 0:
            taken[span.start : span.end] = b"\x01" * len(span)
            kept.append(entity)
    return sorted(kept, key=lambda entity: entity.span)


def outside(entities: Iterable[Entity], others: Iterable[Entity]) -> list[Entity]:
    """The entities that share no character with any of ``others``."""
    spans = [other.span for other in others]
    taken = bytearray(max((span.end for span in spans), default=0))
    for span in spans:
        taken[span.start : span.end] = b"\x01" * len(span)
    return [entity for entity in entities if taken.find(1, entity.span.start, entity.span.end) < 0]
