"""Build the entities that rules return."""

from ingest.documents import Entity, Span
from ingest.labels import PERSON, label_of
from ingest.language.tokens import Tokens


def hit(span: Span, label: str, confidence: float, rule: str) -> Entity:
    """The entity that the rule ``rule`` found; its identifier comes from the label's row."""
    return Entity(span, label, label_of(label).identifier, confidence, f"rule:{rule}")


def person(tokens: Tokens, first: int, end: int, confidence: float, rule: str) -> Entity:
    """The person whose name is the words ``first`` to ``end`` (not included)."""
    return hit(tokens.span(first, end), PERSON, confidence, rule)
