"""A ladder: what may stand in place of a value, from specific to general."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

_VOWEL = re.compile(r"(?i)[aeio]|u(?!n[io]|s[aei])|[fhlmnrsx](?![a-z])")
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


def lowest(ladder: Ladder, limit: float, allowed: Callable[[str], bool]) -> Rung:
    """The most specific allowed rung whose chance is at most ``limit``; if there is none, the last."""
    fitting = (rung for rung in ladder if rung.chance <= limit and allowed(rung.words))
    return next(fitting, ladder[-1])


def with_article(noun: str) -> str:
    """A noun with its indefinite article."""
    return f"{'an' if _VOWEL.match(noun) else 'a'} {noun}"
