import re

import pytest

from eval.measures.uncertainty import share_of
from eval.tasks.choices import choice_accuracy, chosen


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("B. The heron", "B"),
        (" (c) the mill", "C"),
        ("**D.** Rust", "D"),
        ("_A_", "A"),
        ("", None),
        ("...", None),
        ("Because of B", None),
        ("The answer is B", None),
        ("B2", None),
        ("2. B", None),
    ],
)
def test_the_letter_that_an_answer_begins_with(answer: str, letter: str | None) -> None:
    assert chosen(answer) == letter


def test_accuracy_by_hand() -> None:
    # Right: B and d. Wrong: A for C. Without a letter: the last. Two of four, all in the denominator.
    found = choice_accuracy(["B. heron", "d", "A", "Perhaps the mill"], ["B", "D", "C", "P"])
    assert (found.estimate, found.unanswered) == (share_of(2, 4), 1)
    assert choice_accuracy([], []).estimate.value is None


def test_answers_and_questions_must_match() -> None:
    message = "1 answers to 2 questions: give one of each"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        choice_accuracy(["A"], ["A", "B"])
