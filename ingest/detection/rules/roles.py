"""Persons whose name is in brackets after their role: the registrar (Okonjo)."""

from ingest.detection.rules.hits import person
from ingest.documents import Entity
from ingest.language.name_grammar import name_end, plain_name
from ingest.language.tokens import CAPITAL, Tokens
from ingest.language.vocabulary import words

ROLES = frozenset(
    ("fellow", "registrar", "resident", "consultant", "nurse", "midwife", "sister", "matron", "trainee")
    + ("attending", "houseman", "intern", "specialist", "witness", "claimant", "defendant", "applicant")
    + ("tenant", "landlord", "carer", "guardian", "caseworker", "officer", "inspector", "colleague")
    + ("reg", "sho", "nephro", "cardio", "gastro", "neuro", "haem", "resp", "ortho", "uro", "onc", "psych")
    + ("anaes", "micro", "radiology", "neurology", "cardiology", "nephrology", "surgeon", "locum")
    + ("neighbour", "neighbor", "supervisor", "manager", "owner", "driver", "coordinator", "assistant")
)
"""Roles of persons, besides unambiguous job titles."""
MOST_IN_BRACKETS = 3
FIELD_ENDINGS = (
    "logy",
    "istry",
    "ics",
    "tion",
    "ment",
    "ance",
    "ence",
    "graphy",
    "nomy",
    "ship",
    "ware",
    "ing",
)
"""Endings of fields of work (Chemistry); a listed name may have one too."""
FIELDS = frozenset(("maths", "history", "music", "art", "law", "nursing", "army", "navy", "police"))
STATES = frozenset(
    (
        "intact",
        "unchanged",
        "pending",
        "declined",
        "resolved",
        "elective",
        "urgent",
        "outpatient",
        "inpatient",
    )
    + ("unremarkable", "preserved", "satisfactory", "ongoing", "away", "aware")
)
"""Bracketed remarks about an examined organ or an appointment."""


def bracketed(tokens: Tokens, index: int) -> Entity | None:
    """The registrar (Okonjo): a name alone in brackets after the role at ``index``."""
    first = index + 1
    if first >= len(tokens) or tokens.gap(first) != " (" or tokens.shapes[first] != CAPITAL:
        return None
    word = tokens.folded[first]
    if not plain_name(tokens, first) or word in words("places", "public_bodies", "eponyms") | FIELDS | STATES:
        return None
    if word.endswith(FIELD_ENDINGS) and word not in words("given_names", "surnames"):
        return None
    end = name_end(tokens, first, MOST_IN_BRACKETS)
    closed = tokens.text.startswith(")", tokens.ends[end - 1])
    return person(tokens, first, end, 0.7, "bracket") if closed else None
