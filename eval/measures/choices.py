"""Multiple choice: how often an answer's letter is the right one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from eval.measures.uncertainty import Estimate, share_of

_LETTER = re.compile(r"[\W_]*([^\W\d_])(?![^\W_])")
"""A letter that stands alone, whatever signs are before it: "B", "(b)", "**C.** because"."""


@dataclass(frozen=True, slots=True)
class ChoiceAccuracy:
    """The share of right answers of all questions, with Wilson's interval.

    ``unanswered`` counts the answers that do not begin with a letter of their own; they count as wrong.
    """

    estimate: Estimate
    unanswered: int


def choice_accuracy(answers: Sequence[str], right: Sequence[str]) -> ChoiceAccuracy:
    """Compare the letter at the beginning of each answer with the right one, in any case.

    The task utility of A False Sense of Privacy for exam questions, where sanitized records stand for the
    originals. All questions are in the denominator.

    Raises:
        ValueError: The numbers of answers and of questions differ.
    """
    if len(answers) != len(right):
        raise ValueError(f"{len(answers)} answers to {len(right)} questions: give one of each")
    letters = [chosen(answer) for answer in answers]
    hits = sum(letter == wanted.strip().upper() for letter, wanted in zip(letters, right, strict=True))
    return ChoiceAccuracy(share_of(hits, len(right)), letters.count(None))


def chosen(answer: str) -> str | None:
    """The letter that an answer begins with, as a capital; None where a longer word or a number does."""
    found = _LETTER.match(answer)
    return found[1].upper() if found else None
