"""Invented numbers, said digit by digit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.detection.patterns.spoken import spoken_digits
from ingest.detection.patterns.words import DIGIT_WORDS
from tests.patterns_table import assert_found, found

POSITIVE = [
    ("phone number", "call me on ‹oh seven seven double three, nine four one›..."),
    ("phone number", "it is ‹five-five-five, oh-one-two-seven› of course"),
    ("phone number", "‹Zero one one three four, nine six oh... uh one two three› is hers"),
    ("phone number", "call ‹oh seven seven double zero nine hundred one two four›"),
    ("phone number", "you can ring ‹triple five nine oh two›"),
    ("social security number", "my social is ‹four five six, seven eight, nine oh one two›"),
    ("health insurance number", "NHS number ‹nine four three, four seven six, five nine one nine›"),
    ("medical record number", "MRN ‹one two three four five›"),
    ("PIN code", "the pin is ‹four four one seven›, yes"),
    ("PIN code", "the gate code is ‹one two three four›"),
    ("reference number", "your booking reference is ‹seven seven oh two›"),
]
NEGATIVE = [
    "one two three go",
    "one, two, three, four",
    "nine eight seven six five four three two one",
    "one two three, one two three, one two three",
    "twenty twenty",
    "one hundred two hundred three hundred four hundred nine",
    "I have one, you have two, she has three and he has four",
    "two or three of the four, five or six of the seven, eight or nine",
    "number one two",
    "call one of the two",
    "room one two three",
    "four five six of oneself",
    "card one two, pin one two three",
]


@pytest.mark.parametrize(("label", "sentence"), POSITIVE)
def test_a_spoken_number_is_found(label: str, sentence: str) -> None:
    assert_found(label, sentence)


@pytest.mark.parametrize("sentence", NEGATIVE)
def test_counting_and_other_words_are_no_number(sentence: str) -> None:
    assert [value for label, value in found(sentence) if label != "date"] == []


@given(st.lists(st.integers(0, 9), max_size=20))
def test_digits_are_heard_as_they_are_said(digits: list[int]) -> None:
    assert spoken_digits(", ".join(DIGIT_WORDS[digit] for digit in digits)) == digits


def test_a_hundred_is_two_zeros_and_a_digit_said_double_counts_twice() -> None:
    assert spoken_digits("nine hundred one, Double three, triple oh nought") == [9, 0, 0, 1, 3, 3, 0, 0, 0, 0]
