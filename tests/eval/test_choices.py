import pytest

from eval.tasks.choices import chosen


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
