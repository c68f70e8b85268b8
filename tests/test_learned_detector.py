"""What a model finds, as entities. Every text here is invented."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Document
from ingest.labels import LABELS
from ingest.learned import LearnedDetector
from ingest.plausible import NUMBERS, joined
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


@pytest.mark.parametrize(
    ("words", "label", "kept"),
    [
        ("of the", "identifying detail", False),
        ("'s", "organization", False),
        ("/", "case number", False),
        ("Mr", "person full name", False),
        ("Mr Ş.", "person full name", True),
        ("King", "person full name", True),
        ("mayor", "job title", True),
        ("Guest_family", "person full name", False),
        ("Guest_clinician_2", "account handle", False),
        ("guest_anna", "account handle", True),
        ("caller_4711", "account handle", True),
        ("doctor_1", "password", True),
        ("ma", "person full name", False),
        ("Ma", "person full name", True),
        ("E-mail", "email address", False),
        ("email", "email address", False),
        ("rosa at mill", "email address", True),
        ("Sheikh", "person full name", True),
        ("Cardinal", "person full name", True),
        ("!!??", "password", True),
        ("this", "password", True),
        ("__", "account handle", True),
        ("A", "person full name", True),
        ("a", "person full name", False),
    ],
)
def test_words_that_say_nothing_are_no_mention(words: str, label: str, kept: bool) -> None:
    text = f"It was said: {words} ."
    assert found(text, (words, label, 0.9)) == ([(words, label)] if kept else [])


def test_a_number_found_in_pieces_is_one_of_the_riskiest_kind() -> None:
    marks = [("28411", "case number", 0.9), ("/", "reference number", 0.4), ("96", "national id number", 0.5)]
    assert found("application no. 28411/96 was", *marks) == [("28411/96", "national id number")]


@pytest.mark.parametrize(
    ("text", "name", "kept"),
    [
        ("He has Parkinson's disease.", "Parkinson", False),
        ("He has Parkinson's disease.", "Parkinson's", False),
        ("Mr Parkinson left.", "Parkinson", True),
        ("Parkinson's house is old.", "Parkinson", True),
        ("She wears a Holter monitor.", "Holter", False),
        ("Parkinson", "Parkinson", True),
    ],
)
def test_a_name_that_stands_for_a_disease_is_nobodys(text: str, name: str, kept: bool) -> None:
    for label in ("person full name", "place"):
        assert found(text, (name, label, 0.9)) == ([(name, label)] if kept else [])


def test_numbers_apart_and_other_things_that_touch_stay_apart() -> None:
    marks = [("28411", "case number", 0.9), ("96", "case number", 0.8), ("Larkmoor", "city name", 0.7)]
    text = "nos. 28411 and 96/Larkmoor"
    assert found(text, *marks) == [(words, label) for words, label, _ in marks]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.sampled_from(["case number", "place"]))))
def test_joining_loses_no_character_and_no_other_span(places: list[tuple[int, int, str]]) -> None:
    spans = [FoundSpan(start, start + length, label, 0.5) for start, length, label in places]
    text = "12 /" * 10
    after = joined(spans, text)
    covered = {at for span in after for at in range(span.start, span.end)}
    assert {at for span in spans for at in range(span.start, span.end)} <= covered
    assert [s for s in after if s.label == "place"] == sorted(
        (s for s in spans if s.label == "place"), key=lambda s: (s.start, s.end)
    )


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


@pytest.mark.parametrize(
    ("before", "words", "after", "label"),
    [
        ("fell ", "four days ago", ".", "duration"),
        ("in ", "the last 48 hours", ".", "duration"),
        ("since ", "two", " weeks", "duration"),
        ("since ", "thirty-two", "-year service", "duration"),
        ("it was ", "ago", ".", "duration"),
        ("a ", "couple of", " pills", "duration"),
        ("in ", "twenty", " rooms", "date"),
        ("in ", "2009", " days", "date"),
        ("in ", "two thousand seven", " days", "date"),
        ("on ", "the twenty second", ".", "date"),
        ("on ", "Monday two weeks ago", ".", "date"),
        ("in ", "May last year", ".", "date"),
        ("in the ", "90s", ".", "date"),
    ],
)
def test_a_length_of_time_is_no_date(before: str, words: str, after: str, label: str) -> None:
    assert found(f"{before}{words}{after}", (words, "date", 0.9)) == [(words, label)]


def test_only_dates_are_read_as_lengths_of_time() -> None:
    assert found("aged two weeks", ("two weeks", "person age", 0.9)) == [("two weeks", "person age")]
