"""What a model finds, as entities. Every text here is invented."""

from collections.abc import Sequence

import pytest

from ingest.documents import Document
from ingest.labels import LABELS
from ingest.learned import NUMBERS, LearnedDetector
from models.windows import FoundSpan


class Finds:
    """Finds what it was told to."""

    name = "finds (test double)"

    def __init__(self, *spans: FoundSpan) -> None:
        self._spans = list(spans)

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        return [self._spans for _ in texts]


def found(text: str, *marks: tuple[str, str, float]) -> list[tuple[str, str]]:
    spans = [
        FoundSpan(text.index(words), text.index(words) + len(words), label, score)
        for words, label, score in marks
    ]
    (entities,) = LearnedDetector(Finds(*spans)).detect([Document("d", text)])
    return [(text[e.span.start : e.span.end], e.label) for e in entities]


@pytest.mark.parametrize(
    ("words", "kept"),
    [("MRN", False), ("Reference", False), ("4711", True), ("MRN 4711", True), ("QWZXPL", True)],
)
def test_a_word_that_names_a_number_is_none(words: str, kept: bool) -> None:
    text = f"Chart: {words}, seen today"
    wanted = [(words, "medical record number")] if kept else []
    assert found(text, (words, "medical record number", 0.9)) == wanted


def test_labels_of_numbers_are_labels() -> None:
    assert set(LABELS) >= NUMBERS


def test_of_two_labels_of_one_place_the_surer_stays() -> None:
    assert found("We saw Larkmoor.", ("Larkmoor", "place", 0.8), ("Larkmoor", "organization", 0.6)) == [
        ("Larkmoor", "place")
    ]


def test_a_number_goes_with_the_riskier_mention_around_it_and_a_name_stays() -> None:
    text = "at 4 Mill Lane, Larkmoor"
    marks = [
        ("4 Mill Lane, Larkmoor", "street address", 0.9),
        ("4", "building number", 0.7),
        ("Larkmoor", "city name", 0.7),
    ]
    assert found(text, *marks) == [
        ("4 Mill Lane, Larkmoor", "street address"),
        ("Larkmoor", "city name"),
    ]
