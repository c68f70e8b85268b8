"""The grammar of a person's name: which words can be part of one, and what it is not."""

from ingest.language.tokens import Tokens
from ingest.language.vocabulary import words

PARTICLES = frozenset(
    ("van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "das", "du", "la", "le")
    + ("el", "al", "bin", "ibn", "ben", "ter", "ten", "zu", "af", "av", "y", "e", "st")
)
SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv", "esq"))


def stops_name(word: str) -> bool:
    """Whether ``word``, though capitalized, is no part of a person's name."""
    if word in words("given_names", "given_names_ambiguous", "surnames"):
        return word in words("weekday_months")
    return word in words("not_names", "common_words", "organization_cues", "street_words")


def eponym_noun_at(tokens: Tokens, after: int) -> bool:
    """A disease or an instrument at the word ``after``, or behind one learned word or acronym."""
    nouns = words("eponym_nouns")
    if tokens.gap(after) == "\n":
        return False
    if tokens.folded[after] in nouns:
        return True
    behind = after + 1
    if behind >= len(tokens) or tokens.folded[after] in words("common_words"):
        return False
    return tokens.folded[behind] in nouns and tokens.gap(behind) in (" ", ") ", "-")
