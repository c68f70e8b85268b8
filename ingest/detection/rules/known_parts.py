"""The parts of a name that may refer to the person again."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from ingest.detection.rules.persons import ordinary_here
from ingest.documents import Entity
from ingest.language.tokens import ALL_CAPS, CAPITAL, LOWER, Tokens
from ingest.language.vocabulary import words

PLAIN_TITLES = frozenset(
    ("mr", "mrs", "ms", "miss", "mx", "mister", "missus", "dr", "drs", "prof", "sir", "madam", "madame")
    + ("messrs", "mme", "mlle", "monsieur", "herr", "frau", "rev", "hon", "doctor", "professor")
)
"""Titles that are never names, unlike Sheikh, Dean and Cardinal."""


def known_parts(tokens: Tokens, persons: Sequence[Entity]) -> dict[str, Entity]:
    """The folded name parts of at least three letters, each with its most confident person."""
    parts: dict[str, Entity] = {}
    for entity in sorted(persons, key=lambda p: (p.confidence, p.span)):
        first = bisect_left(tokens.starts, entity.span.start)
        end = bisect_left(tokens.starts, entity.span.end)
        named = (index for index in range(first, end) if _is_part(tokens, first, end, index))
        parts |= {tokens.folded[index]: entity for index in named}
    doubtful = (parts.keys() & _doubtful()) | ordinary_here(tokens, parts.keys())
    return {part: entity for part, entity in parts.items() if part not in doubtful}


@cache
def _doubtful() -> frozenset[str]:
    never = words("not_names", "organization_cues", "weekday_months", "public_bodies") - words("titles")
    places = words("cities", "countries", "states", "place_words") - words("surnames")
    return (never | places) - words("given_names")


def _is_part(tokens: Tokens, first: int, end: int, index: int) -> bool:
    """Whether a word of a person's mention is part of the name: Sheikh is after a title or given name."""
    word = tokens.folded[index]
    proper = tokens.shapes[index] in (CAPITAL, ALL_CAPS) or tokens.caseless
    if len(word) < 3 or not proper:
        return False
    if word not in words("titles"):
        return True
    before = tokens.folded[index - 1] if index > 0 and tokens.gap(index) in (" ", ". ") else ""
    return index == end - 1 and (before in PLAIN_TITLES or (index > first and before in words("given_names")))


def reads_as_name(tokens: Tokens, index: int) -> bool:
    """Whether a part of a known name is written as a name here."""
    word, shape = tokens.folded[index], tokens.shapes[index]
    ordinary = word in words("common_words", "given_names_words")
    if shape == CAPITAL:
        return not (ordinary and word in words("common_words") and tokens.opens_sentence(index))
    if shape == ALL_CAPS:
        return not ordinary and len(word) > 3
    return shape == LOWER and tokens.caseless and not ordinary
