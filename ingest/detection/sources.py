"""What found a mention, and whether the context may overrule it."""

from ingest.documents import Entity, Identifier
from ingest.labels import LABELS, VAGUE, label_of

MODEL, RULE = "model:", "rule:"
"""How the sources of mentions begin that a model or a rule found."""
SURE_RULES = frozenset(f"{RULE}{name}" for name in ("hl7", "key", "caret", "title", "last-first"))
"""Rules that read a structure: the context says nothing about it."""


_DESCRIBING = ("job title", "job area", "job type", "demographic attribute", "quantity", "gender", VAGUE)


def only_describes(entity: Entity) -> bool:
    """Whether a mention tells what somebody is or has, which identifies only in rare combinations."""
    return entity.identifier is Identifier.ATTRIBUTE or entity.label in _DESCRIBING


def is_doubted(entity: Entity) -> bool:
    """Whether reading alone found a mention: a model or a rule of prose, so that the context may overrule it.

    Patterns, structures and labels of one's own are believed.
    """
    reads = entity.source.startswith((MODEL, RULE)) and entity.source not in SURE_RULES
    return reads and entity.label in LABELS and not label_of(entity.label).rigid
