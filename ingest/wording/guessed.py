"""The most specific words from which a guesser does not find the value (INTACT, section 3.2)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.language.vocabulary import WORD, fold
from ingest.wording.dates import date_of
from ingest.wording.mentions import bracket
from ingest.wording.replace import apply
from ingest.wording.rungs import GUESSES, Ladder, Rung, Take
from ingest.wording.words import worded

LOOK = 300
"""Characters on each side of a replacement that a guesser reads."""
_MOMENTS = frozenset(("date", "date of birth", "time", "person age"))
_NAMED = frozenset(
    ("place", "city name", "county", "state or province", "country", "organization", "nationality")
    + ("language", "identifying detail", "demographic attribute")
)
_AMOUNTS = frozenset(("monetary amount", "quantity", "duration", "dosage", "frequency"))
_FIGURES = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_THOUSANDS = re.compile(r"(?<=[0-9])[,'  ](?=[0-9]{3}(?![0-9]))")
_GRAM = 4
"""Letters in a row that two names share if one is derived from the other: a country and its people."""
EMPTY = frozenset(("and", "for", "from", "the", "with", "that", "this", "other"))
_INITIALS = re.compile(r"(?<![^\W_])[A-Z]")


@dataclass(frozen=True, slots=True)
class Case:
    """A replacement as a guesser sees it: its label, its words and the sanitized text on both sides."""

    label: str
    words: str = field(repr=False)
    before: str = field(repr=False)
    after: str = field(repr=False)


class Guesser(Protocol):
    """Guesses values from the words in their place."""

    @property
    def name(self) -> str: ...

    def guesses(self, cases: Sequence[Case]) -> Sequence[Sequence[str] | None]:
        """At most ``GUESSES`` guesses for each case, the likeliest first; None where it could not guess."""
        ...


Ladders = Callable[[AnnotatedText, Sequence[Decision], Take], list[Decision]]
"""Gives words to mentions, from ladders of which ``Take`` takes a rung; see ``worded``."""


class Guessed:
    """INTACT: of each link's rungs the first that is not guessed; if all are, the kind.

    Rungs whose chance is above ``limit`` count as guessed, and so do those from which nothing could be
    guessed. All links are tested in rounds, each in the text that the round before left; the paper tests them
    in the order of the document. Links without a ladder, such as people and codes, are not tested.
    """

    def __init__(self, guesser: Guesser, limit: float, ladders: Ladders = worded) -> None:
        self._guesser = guesser
        self._limit = limit
        self._ladders = ladders

    def __call__(self, text: AnnotatedText, decisions: Sequence[Decision]) -> list[Decision]:
        """The decisions with words."""
        said = {
            link: [text.text[each.span.start : each.span.end] for each in mentions]
            for link, mentions in text.mentions().items()
        }
        kinds = {each.link: bracket(each.label).words for each in reversed(text.entities)}
        levels = dict.fromkeys(said, 0)
        tested: set[int] = set()
        exhausted: set[int] = set()

        def take(link: int, ladder: Ladder) -> Rung:
            fitting = [rung for rung in ladder if rung.chance <= self._limit]
            if levels[link] >= len(fitting):
                exhausted.add(link)
            if link in exhausted:
                return Rung(kinds[link])
            tested.add(link)
            return fitting[levels[link]]

        while True:
            tested.clear()
            known = len(exhausted)
            found = self._ladders(text, decisions, take)
            if len(exhausted) > known and exhausted & tested:
                # an earlier mention of the link still has a rung
                continue
            cases = _cases(text, found, tested)
            guessed = self._guesser.guesses([case for _, case in cases])
            risky = {
                link
                for (link, case), guesses in zip(cases, guessed, strict=True)
                if guesses is None or _is_found(said[link], case, guesses[:GUESSES])
            }
            if not risky:
                return found
            for link in risky:
                levels[link] += 1


def _cases(text: AnnotatedText, decisions: Sequence[Decision], links: set[int]) -> list[tuple[int, Case]]:
    """What a guesser sees of the mentions of links, each distinct case once."""
    applied = apply(text, decisions)
    new = applied.residual.text
    found: dict[tuple[int, Case], None] = {}
    for decision, (start, end) in zip(applied.decisions, applied.places, strict=True):
        entity = decision.entity
        if decision.action is Action.GENERALIZE and entity.link in links:
            around = new[max(0, start - LOOK) : start], new[end : end + LOOK]
            found[entity.link, Case(entity.label, new[start:end], *around)] = None
    return list(found)


def _is_found(said: Sequence[str], case: Case, guesses: Sequence[str]) -> bool:
    """Whether one of the guesses that do not repeat the replacement finds a mention; so if all repeat it."""
    new = [guess for guess in guesses if fold(guess) != fold(case.words)]
    if guesses and not new:
        return True
    return any(matches(each, guess, case.label) for each in said for guess in new)


def matches(said: str, guess: str, label: str) -> bool:
    """Whether a guess finds a value (INTACT, section 3.2).

    What is equal matches, and so do moments and amounts with the same date or figures. Other values match if
    they share a word; named ones also by four letters in a row, or if one is the initials of the other.
    """
    if fold(said).strip() == fold(guess).strip() != "":
        return True
    if label in _MOMENTS:
        date = date_of(said)
        return date is not None and date == date_of(guess)
    figures = figures_of(said)
    if label in _AMOUNTS and figures:
        return figures == figures_of(guess)
    if _lemmas(said) & _lemmas(guess):
        return True
    if label not in _NAMED:
        return False
    one, other = fold(said).strip(), fold(guess).strip()
    return _initials(said) == other or one == _initials(guess) or bool(_grams(one) & _grams(other))


def figures_of(said: str) -> frozenset[str]:
    """The numbers in figures, without marks between their thousands."""
    return frozenset(_FIGURES.findall(_THOUSANDS.sub("", said)))


def _lemmas(said: str) -> set[str]:
    found = (fold(word) for word in WORD.findall(said))
    return {
        word[:-1] if word.endswith("s") else word
        for word in found
        if word.isalpha() and len(word) > 2 and word not in EMPTY
    }


def _grams(folded: str) -> set[str]:
    return {
        word[at : at + _GRAM] for word in WORD.findall(folded) for at in range(max(0, len(word) - _GRAM + 1))
    }


def _initials(said: str) -> str:
    found = _INITIALS.findall(said)
    return "".join(found).casefold() if len(found) > 2 else ""
