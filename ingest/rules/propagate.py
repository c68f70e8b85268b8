"""The second pass: who was named once in full is found again by any part of the name."""

from bisect import bisect_left
from collections.abc import Sequence

from ingest.documents import Entity
from ingest.rules.hits import person
from ingest.rules.names import is_no_person
from ingest.rules.persons import ordinary_here
from ingest.rules.tokens import ALL_CAPS, CAPITAL, INITIAL, LOWER, Tokens
from ingest.rules.vocabulary import words

MIN_CONFIDENCE = 0.6
CONFIDENCE = 0.7
PLAIN_TITLES = frozenset(
    ("mr", "mrs", "ms", "miss", "mx", "mister", "missus", "dr", "drs", "prof", "sir", "madam", "madame")
    + ("messrs", "mme", "mlle", "monsieur", "herr", "frau", "rev", "hon", "doctor", "professor")
)
"""Titles that are nobody's name, as Sheikh, Dean and Cardinal are."""


def known_parts(tokens: Tokens, persons: Sequence[Entity]) -> dict[str, Entity]:
    """The folded words of three letters or more that persons are called by, each with the surest of these."""
    parts: dict[str, Entity] = {}
    for entity in sorted(persons, key=lambda p: (p.confidence, p.span)):
        first = bisect_left(tokens.starts, entity.span.start)
        end = bisect_left(tokens.starts, entity.span.end)
        named = (index for index in range(first, end) if _is_part(tokens, first, end, index))
        parts |= {tokens.folded[index]: entity for index in named}
    never = words("not_names", "organization_cues", "weekday_months", "public_bodies") - words("titles")
    places = words("cities", "countries", "states", "place_words") - words("surnames")
    doubtful = never | places | ordinary_here(tokens)
    return {
        part: entity for part, entity in parts.items() if part not in doubtful or part in words("given_names")
    }


def _is_part(tokens: Tokens, first: int, end: int, index: int) -> bool:
    """Whether a word of a person's mention belongs to the name: Sheikh does behind a title or given name."""
    word = tokens.folded[index]
    proper = tokens.shapes[index] in (CAPITAL, ALL_CAPS) or tokens.caseless
    if len(word) < 3 or not proper:
        return False
    if word not in words("titles"):
        return True
    before = tokens.folded[index - 1] if index > 0 and tokens.gap(index) in (" ", ". ") else ""
    return index == end - 1 and (before in PLAIN_TITLES or (index > first and before in words("given_names")))


def reads_as_name(tokens: Tokens, index: int) -> bool:
    """Whether a word that is part of a known name is written as a name here."""
    word, shape = tokens.folded[index], tokens.shapes[index]
    ordinary = word in words("common_words", "given_names_words")
    if shape == CAPITAL:
        return not (ordinary and word in words("common_words") and tokens.opens_sentence(index))
    if shape == ALL_CAPS:
        return not ordinary and len(word) > 3
    return shape == LOWER and tokens.caseless and not ordinary


def propagate(tokens: Tokens, persons: Sequence[Entity]) -> list[Entity]:
    """Mentions of the ``persons`` by single words of their names, anywhere in the text."""
    parts = known_parts(tokens, [each for each in persons if each.confidence >= MIN_CONFIDENCE])
    found: list[Entity] = []
    index = 0
    while parts and index < len(tokens):
        if tokens.folded[index] not in parts or not reads_as_name(tokens, index):
            index += 1
            continue
        end = index + 1
        while end < len(tokens) and tokens.gap(end) in (" ", "-", ". ", "."):
            initial = tokens.shapes[end] == INITIAL and tokens.gap(end) == " "
            dotted = tokens.gap(end)[0] == "." and tokens.shapes[end - 1] != INITIAL
            part = tokens.folded[end] in parts and reads_as_name(tokens, end) and not dotted
            before_part = end + 1 < len(tokens) and tokens.folded[end + 1] in parts
            if not part and not (initial and before_part):
                break
            end += 1
        if tokens.gap(index) in ("'", "’") and tokens.folded[index - 1] in ("o", "d", "l"):
            index -= 1
        if not is_no_person(tokens, index, end):
            found.append(person(tokens, index, end, CONFIDENCE, "named-before"))
        index = end
    return found


def propagate_letters(tokens: Tokens, persons: Sequence[Entity]) -> list[Entity]:
    """Later mentions of persons who are called by letters only: H., AM."""
    letters = {tokens.text[p.span.start : p.span.end] for p in persons if p.source in ("rule:letter",)}
    found: list[Entity] = []
    for index in range(len(tokens) if letters else 0):
        start, end = tokens.starts[index], tokens.ends[index]
        if tokens.shapes[index] not in (INITIAL, ALL_CAPS) or tokens.text[start:end] not in letters:
            continue
        alone = tokens.gap(index) not in (".", ". ") and not tokens.gap(index).endswith("\n")
        marked = tokens.text[end : end + 1] in (".", ",", "'", "’") or end - start > 1
        if alone and marked and not (index + 1 < len(tokens) and tokens.gap(index + 1) == "."):
            found.append(person(tokens, index, index + 1, 0.45, "letter"))
    return found
