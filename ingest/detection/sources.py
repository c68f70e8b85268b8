"""What found a mention, and whether the context may overrule it."""

import re

from ingest.documents import Entity, Identifier
from ingest.labels import LABELS, VAGUE, label_of

MODEL, RULE, PATTERN = "model:", "rule:", "pattern:"
"""How the sources of mentions begin that a model, a rule or a pattern found."""
SURE_RULES = frozenset(
    f"{RULE}{name}" for name in ("hl7", "key", "caret", "title", "last-first", "small-signature")
)
"""Rules that read a structure: the context says nothing about it."""
_MOMENTS = ("date", "time")
_DESCRIBING = ("job title", "job area", "job type", "demographic attribute", "quantity", "gender") + (
    "medical department",
    VAGUE,
)
_OF_CARE = ("dosage", "frequency", "duration", "quantity")
_READING = re.compile(r"[^A-Za-z]*(?:[A-Za-z/%]{1,6}[^A-Za-z]*)?")
"""Figures, and a unit at most: 142/86, 4.9 mmol/L."""


def only_describes(entity: Entity) -> bool:
    """Whether a mention tells what somebody is or has, which identifies only in rare combinations."""
    return entity.identifier is Identifier.ATTRIBUTE or entity.label in _DESCRIBING


def is_of_care(entity: Entity, said: str) -> bool:
    """Whether a mention tells how much or how often, or what was read off, which narrows down nobody."""
    return entity.label in _OF_CARE or (entity.label == "test result" and bool(_READING.fullmatch(said)))


def is_moment_by_form(entity: Entity) -> bool:
    """Whether a pattern found a date or a time: it does not know whether it is a server's or a person's."""
    return entity.source.startswith(PATTERN) and entity.label in _MOMENTS


def is_doubted(entity: Entity) -> bool:
    """Whether reading alone found a mention: a model or a rule of prose, so that the context may overrule it.

    Patterns, structures and labels of one's own are believed.
    """
    reads = entity.source.startswith((MODEL, RULE)) and entity.source not in SURE_RULES
    return reads and entity.label in LABELS and not label_of(entity.label).rigid
