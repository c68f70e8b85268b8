"""What a model finds, as entities. Every text here is invented."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.learned import LearnedDetector
from ingest.detection.plausible import NUMBERS, joined
from ingest.documents import Document
from ingest.labels import LABELS
from models.detectors.words import FoundSpan


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
        ("HEENT:", "person full name", False),
        ("HEENT", "person full name", True),
        ("Gu", "person full name", True),
        ("L E E", "person full name", True),
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


LENGTHS = (
    "four days ago", "the last 48 hours", "two weeks", "a week", "half an hour", "a week and a half ago",
    "two and a half weeks ago", "four or five years ago", "six to eight weeks", "four , five days ago",
    "6-8 weeks", "a couple of months", "couple weeks", "the past couple months", "several years",
    "one year ago",
    "thirty two years", "twenty-five years ago", "two years and six months", "last month", "every five years",
    "days", "the last twenty one years", "over ten years", "about a year ago", "a few more days", "two-year",
    "the next few\ndays", "ago", "past", "couple of", "how many years",
)  # fmt: skip
DATES = (
    "2009", "twenty", "two thousand seven", "nineteen eighty nine", "the year nineteen seventy two",
    "year nineteen ninety two", "year 07", "year ninety eight", "nineteen ninety nine year", "10/12 night",
    "14/3 week", "11-12 night", "nineteen eighty years ago", "10/12/84", "the night of 12/5/84",
    "the week of 12/5",
    "19 84 year", "12.5.84 years", "Monday two weeks ago", "May last year", "90s", "the nineties", "day 12",
    "the twenty second", "the fourteenth of last year", "week 42", "in 84 and two days", "03-04 years 84",
    "nineteen-eighty years", "four hours and 1984", "seventy four", "10 12 years",
    "the fifth day of two weeks",
)  # fmt: skip


@pytest.mark.parametrize("words", LENGTHS)
def test_a_length_of_time_is_no_date(words: str) -> None:
    assert found(f"That was {words}.", (words, "date", 0.9)) == [(words, "duration")]
    assert found(f"That was {words.upper()}.", (words.upper(), "date", 0.9)) == [(words.upper(), "duration")]


@pytest.mark.parametrize("words", DATES)
def test_what_may_place_something_in_time_stays_a_date(words: str) -> None:
    assert found(f"That was {words}.", (words, "date", 0.9)) == [(words, "date")]
    behind = f"That was in {words}, months after the war, night shift; {words} days/{words} year."
    assert found(behind, (words, "date", 0.9)) == [(words, "date")]


@pytest.mark.parametrize(
    ("words", "after", "label"),
    [
        ("two", " weeks", "duration"),
        ("thirty-two", "-year service", "duration"),
        ("the past six", "\nmonths", "duration"),
        ("seventy four", ", months after the war", "date"),
        ("10-12", "\nDays in hospital: 4", "date"),
        ("12-05", "\nYears of service: 7", "date"),
        ("5.6", "\nWeeks of gestation: 30", "date"),
        ("10-12", " Days: 4", "date"),
        ("Oran", " weeks", "date"),
        ("seventy four", ". Months passed", "date"),
        ("twelve", " day pass", "date"),
        ("2009", " days", "date"),
        ("two thousand seven", " days", "date"),
        ("nineteen eighty", " weeks", "date"),
        ("12/5", " days", "date"),
    ],
)
def test_a_number_is_a_length_with_its_unit_right_behind_it(words: str, after: str, label: str) -> None:
    assert found(f"In {words}{after}.", (words, "date", 0.9)) == [(words, label)]


NUMBERS_OF_DATES = st.sampled_from(("nineteen", "eighty", "84", "1984", "12/5", "May", "7th"))
AROUND = st.lists(st.sampled_from(("the", "year", "years", "ago", "last", "of", "night", "in")), max_size=3)


@given(AROUND, st.lists(NUMBERS_OF_DATES, min_size=2, max_size=3), AROUND)
def test_numbers_side_by_side_are_no_length(before: list[str], numbers: list[str], after: list[str]) -> None:
    said = " ".join([*before, *numbers, *after])
    assert found(f"That was {said} years.", (said, "date", 0.9)) == [(said, "date")]


def test_only_dates_are_read_as_lengths_of_time() -> None:
    assert found("aged two weeks", ("two weeks", "person age", 0.9)) == [("two weeks", "person age")]
