"""A ladder: what may stand in place of a value, from specific to general."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

_VOWEL = re.compile(r"(?i)[aio]|e(?!u)|u(?!n[io]|s[aeiu])|h(?:ou?r(?:ly)?|onest|eir)\b|[fhlmnrsx](?![a-z])")
GUESSES = 5
"""Guesses that an attacker has for each value (INTACT, section 3.2)."""


@dataclass(frozen=True, slots=True)
class Rung:
    """Words that are true of a value, and how many values of its kind they admit.

    ``admits`` is at least 1 and counts what an attacker has to tell apart: the days of a month, the ages of a
    decade, the inhabited places of a state.
    """

    words: str
    admits: float = inf

    @property
    def chance(self) -> float:
        """The probability that the value is among ``GUESSES`` guesses, if each is as likely."""
        return min(1.0, GUESSES / self.admits)


Ladder = Sequence[Rung]
Take = Callable[[int, Ladder], Rung]
"""Takes a rung for a link from a ladder, which is never empty."""


def below(limit: float) -> Take:
    """Takes the most specific rung whose chance is at most ``limit``; if there is none, the last."""
    return lambda _, ladder: next((rung for rung in ladder if rung.chance <= limit), ladder[-1])


def most_specific(_: int, ladder: Ladder) -> Rung:
    """Takes the first rung."""
    return ladder[0]


def least_specific(_: int, ladder: Ladder) -> Rung:
    """Takes the last rung that says more than a kind; if there is none, the last."""
    return next((rung for rung in reversed(ladder) if not rung.words.startswith("[")), ladder[-1])


def with_article(noun: str) -> str:
    """A noun with its indefinite article."""
    return f"{'an' if _VOWEL.match(noun) else 'a'} {noun}"
