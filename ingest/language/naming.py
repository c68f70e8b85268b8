"""Parse a mention of a person: the words of the name, given names first, without titles and the like."""

import re
from dataclasses import dataclass, field

from ingest.documents import Span
from ingest.language.disguises import undisguised
from ingest.language.name_grammar import PARTICLES, SUFFIXES
from ingest.language.vocabulary import fold, words

_WORD = re.compile(r"[^\W_]+(?:[’'][^\W_]+)*")
_POSSESSIVE = re.compile(r"[’']s?$", re.IGNORECASE)
_ELIDED = re.compile(r"\b([ODL])\s?[’']\s?(?=\w)", re.IGNORECASE)
"""The O' of O'Hara, which is also written O’ Hara and OHara."""
_CREDENTIALS = re.compile(
    r"(?:(?:,\s?|\s)"
    r"(?:m\.?d|ph\.?\s?d|esq|d\.?d\.?s|r\.n|qc|kc|obe|mbe|cbe|j\.?d|mba|msc|bsc|cpa)\.?){1,3}$",
    re.IGNORECASE,
)
_MEN = frozenset(("mr", "mister", "sir", "lord", "herr", "monsieur", "senor", "signor"))
_WOMEN = frozenset(("mrs", "ms", "miss", "missus", "mme", "mlle", "madam", "madame", "lady", "dame"))
_WOMEN_TOO = frozenset(("frau", "fraulein", "senora", "senorita", "signora", "signorina"))
_TITLE_BEFORE = re.compile(r"\b([^\W\d_]{2,10})\.?\s+(?:(?:dr|prof|judge|justice)\.?\s+)*$", re.IGNORECASE)
_LOOK_BACK = 24


@dataclass(frozen=True, slots=True)
class Naming:
    """One form of a person's name. Private: its repr shows no word.

    ``words`` are folded and in the order given names, surname, suffix; initials are single letters.
    ``title`` is "m" or "f" where a title says so. ``capitals``: no letter of it is a small one.
    ``ranked``: a title stands before it that says no gender, such as Dr.
    """

    words: tuple[str, ...] = field(repr=False)
    title: str = field(default="", repr=False)
    capitals: bool = False
    ranked: bool = False


def naming_of(text: str, span: Span) -> Naming:
    """The parsed name of the mention at ``span``; a mention without letters or digits is its own word."""
    # Hartigan^Rosamund is Hartigan, Rosamund
    said = undisguised(text[span.start : span.end]).replace("^", ",", 1)
    titles, written = _in_order(_ELIDED.sub(r"\1", _CREDENTIALS.sub("", said)))
    if not written:
        return Naming((said.casefold(),))
    before = _TITLE_BEFORE.search(text[max(0, span.start - _LOOK_BACK) : span.start])
    all_titles = [*titles, fold(before.group(1))] if before and _is_title(fold(before.group(1))) else titles
    title = _said_by(all_titles)
    folded = tuple(folded_word(word) for word in written)
    return Naming(folded, title, all(word.isupper() for word in written), bool(all_titles) and not title)


def words_of(said: str) -> list[str]:
    """The words of a mention as they are written, without a possessive 's."""
    return [_POSSESSIVE.sub("", word) for word in _WORD.findall(said)]


def folded_word(word: str) -> str:
    """A word without case, accents and apostrophes, never empty."""
    return fold(word).casefold().translate(_NO_APOSTROPHES) or word


_NO_APOSTROPHES = str.maketrans("", "", "’'")


def proper(name: tuple[str, ...]) -> list[str]:
    """The written-out words of a name that are its own: no initials, suffixes or particles before others.

    Ben and Della are given names more often than particles, and Anita Das has a surname.
    """
    core = [word for word in name if word not in SUFFIXES]
    particles = PARTICLES - words("given_names")
    last = len(core) - 1
    return [word for n, word in enumerate(core) if len(word) > 1 and (n == last or word not in particles)]


def _said_by(titles: list[str]) -> str:
    for title in titles:
        if title in _MEN:
            return "m"
        if title in _WOMEN or title in _WOMEN_TOO:
            return "f"
    return ""


def _in_order(said: str) -> tuple[list[str], list[str]]:
    """The titles of a mention, folded, and its other words with the given names first."""
    head, _, tail = said.partition(",")
    titles, family = _without_titles(words_of(head))
    more, given = _without_titles(words_of(tail))
    suffix = [word for word in given if fold(word) in SUFFIXES]
    given = [word for word in given if fold(word) not in SUFFIXES]
    if family and given:
        return titles + more, [*given, *family, *suffix]
    alone = _capitals_last(family or given)
    # "the Judge" is named by nothing but the title
    return ([], words_of(said)) if not alone else (titles + more, [*alone, *suffix])


def _without_titles(written: list[str]) -> tuple[list[str], list[str]]:
    first = 0
    while first < len(written) and _is_title(fold(written[first])):
        first += 1
    return [fold(word) for word in written[:first]], written[first:]


def _is_title(word: str) -> bool:
    # Dean and Bishop are names too, and a title that stays among the words does no harm.
    return word == "judge" or (
        word in words("titles") and word not in words("given_names", "given_names_ambiguous")
    )


def _capitals_last(written: list[str]) -> list[str]:
    """KELLER Anna is Anna Keller."""
    first = 0
    while first < len(written) and written[first].isupper() and _as_surname(written[first]):
        first += 1
    rest = written[first:]
    if not any(len(word) > 1 for word in rest) or any(len(word) > 1 and word.isupper() for word in rest):
        return written
    return rest + written[:first]


def _as_surname(word: str) -> bool:
    """Whether capitals can mark a surname here: AJ is initials."""
    return len(word) > 2 or (len(word) > 1 and fold(word) in PARTICLES)
