"""What found a mention, and whether the context may overrule it."""

from ingest.documents import Entity
from ingest.labels import LABELS, label_of

MODEL, RULE = "model:", "rule:"
"""How the sources of mentions begin that a model or a rule found."""
SURE_RULES = frozenset(f"{RULE}{name}" for name in ("hl7", "key", "caret", "title", "last-first"))
"""Rules that read a structure: the context says nothing about it."""


def is_doubted(entity: Entity) -> bool:
    """Whether reading alone found a mention: a model or a rule of prose, so that the context may overrule it.

    Patterns, structures and labels of one's own are believed.
    """
    reads = entity.source.startswith((MODEL, RULE)) and entity.source not in SURE_RULES
    return reads and entity.label in LABELS and not label_of(entity.label).rigid
