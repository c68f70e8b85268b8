"""What found a mention, and whether the context may overrule it."""

from ingest.documents import Entity, Span
from ingest.labels import LABELS, label_of

MODEL, RULE, PATTERN = "model:", "rule:", "pattern:"
"""How the sources of mentions begin that a model, a rule or a pattern found."""


def by_rule(span: Span, label: str, confidence: float, rule: str) -> Entity:
    """The mention that the rule ``rule`` found; its class comes from the label's row."""
    return Entity(span, label, label_of(label).identifier, confidence, f"{RULE}{rule}")


def is_doubted(entity: Entity) -> bool:
    """Whether a model found a mention by reading, so that the context may overrule it.

    Patterns, structures and labels of one's own are believed.
    """
    return entity.source.startswith(MODEL) and entity.label in LABELS and not label_of(entity.label).rigid
