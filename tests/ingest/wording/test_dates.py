"""Dates and their rungs: every rule of INTACT's code, and that a rung holds the date it stands for."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.wording.dates import (
    NAMES,
    SEASONS,
    Date,
    atoms,
    date_of,
    decade_of,
    part_of_day,
    relative_of,
    rungs_of_date,
)

DAYS = st.dates(date(1600, 1, 1), date(2099, 12, 31))


def words(said: Date) -> list[str]:
    return [rung.words for rung in rungs_of_date(said)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Date(1996, 10, 3),
         ["October 1996", "autumn 1996", "1996", "the mid 1990s", "the 1990s", "the late 20th century",
          "the 20th century"]),
        (Date(1996, 10),
         ["autumn 1996", "1996", "the mid 1990s", "the 1990s", "the late 20th century", "the 20th century"]),
        (Date(1996), ["the mid 1990s", "the 1990s", "the late 20th century", "the 20th century"]),
        (Date(2000), ["the early 2000s", "the 2000s", "the early 21st century", "the 21st century"]),
        (Date(2019, None, 3),
         ["2019", "the late 2010s", "the 2010s", "the early 21st century", "the 21st century"]),
        (Date(None, 5, 3),
         ["early May", "the first half of May", "May", "the spring", "[month]"]),
        (Date(None, 5, 31), ["late May", "the second half of May", "May", "the spring", "[month]"]),
        (Date(None, 12), ["the winter", "the second half of the year", "[month]"]),
    ],
)  # fmt: skip
def test_the_rungs_of_each_kind_of_date(said: Date, expected: list[str]) -> None:
    assert words(said) == expected


def test_the_date_that_intact_published_has_its_five_candidates_in_their_order() -> None:
    # "15 June 1995": June 1995, summer of 1995, 1995, middle of 1990s, 1990s. The rest is ours.
    published = ["June 1995", "summer 1995", "1995", "the mid 1990s", "the 1990s"]
    assert words(Date(1995, 6, 15))[:5] == published


def test_seasons_begin_in_december_and_decades_and_centuries_have_parts() -> None:
    seasons = [words(Date(2001, month))[0].removesuffix(" 2001") for month in range(1, 13)]
    assert seasons == [*["winter"] * 2, *["spring"] * 3, *["summer"] * 3, *["autumn"] * 3, "winter"]
    decade = [words(Date(1990 + ending))[0].split()[1] for ending in range(10)]
    assert decade == ["early"] * 4 + ["mid"] * 3 + ["late"] * 3
    century = [words(Date(year))[2].split()[1] for year in (1930, 1931, 1960, 1961)]
    assert century == ["early", "mid", "mid", "late"]


def holds(rung: str, day: date) -> bool:
    """Whether a rung is true of a day, read from its words alone."""
    said = rung.removeprefix("the ").split()
    last = said[-1]
    if last == "century":
        number = int(said[-2].rstrip("sthndr"))
        part = {"early": range(31), "mid": range(31, 61), "late": range(61, 100)}.get(said[0], range(100))
        return day.year // 100 + 1 == number and day.year % 100 in part
    if last.endswith("0s"):
        part = {"early": range(4), "mid": range(4, 7), "late": range(7, 10)}.get(said[0], range(10))
        return day.year // 10 * 10 == int(last[:-1]) and day.year % 10 in part
    if day.year != int(last):
        return False
    if len(said) == 1:
        return True
    return NAMES[day.month - 1] == said[0] or SEASONS[day.month % 12 // 3] == said[0]


@given(DAYS)
def test_every_rung_of_a_full_date_holds_it(day: date) -> None:
    rungs = list(rungs_of_date(Date(day.year, day.month, day.day)))
    assert all(holds(rung.words, day) for rung in rungs)
    assert [rung.admits for rung in rungs] == sorted(rung.admits for rung in rungs)


@given(DAYS)
def test_each_rung_of_days_admits_what_it_says(day: date) -> None:
    month = next(iter(rungs_of_date(Date(day.year, day.month, day.day))))
    around = [day + timedelta(days) for days in range(-40, 41)]
    assert abs(sum(holds(month.words, each) for each in around) - month.admits) <= 2


@given(DAYS, st.sampled_from(("%d %B %Y", "%B %d, %Y", "%Y-%m-%d", "%d %b %Y", "%A, %d %B %Y, 4:15 PM")))
def test_usual_forms_are_read(day: date, form: str) -> None:
    assert date_of(day.strftime(form)) == Date(day.year, day.month, day.day)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("03/25/2019", Date(2019, 3, 25)), ("03/04/2019", Date(2019, None, 3)),
        ("05/05/2019", Date(2019, 5, 5)), ("03/2008", Date(2008, 3)), ("3/5/99", Date(1999, None, 3)),
        ("May 3rd", Date(None, 5, 3)), ("May '98", Date(1998, 5)),
        ("2022-02-16T09:30:00Z", Date(2022, 2, 16)), ("1998", Date(1998)),
        ("March eighth two thousand six", Date(2006, 3, 8)), ("nineteen seventy nine", Date(1979)),
        ("July twenty ninth", Date(None, 7, 29)), ("the 1980s", None), ("2008/09", Date(2008)),
        ("2019-13-05", Date(2019, None, 13)), ("24/7", None), ("16:30", None), ("soon", None),
    ],
)  # fmt: skip
def test_forms(said: str, expected: Date | None) -> None:
    assert date_of(said) == expected


def test_a_range_has_its_dates() -> None:
    assert [each[2] for each in atoms("2 March 2007 and 9 June 2011")] == [Date(2007, 3, 2), Date(2011, 6, 9)]
    assert atoms("1998-2003")
    assert atoms("3 May 1998") == []
    assert [rung.words for rung in decade_of("the early 1990s")][0] == "the 1990s"
    assert [rung.words for rung in decade_of("the nineteen forties")] == ["the 20th century"]


def test_the_part_of_the_day() -> None:
    parts = {"4:30 pm": "afternoon", "9:30 a.m.": "morning", "23:15": "night", "19:00": "evening"}
    parts |= {"12:10 AM": "night", "12:10 PM": "afternoon", "noon": "afternoon", "1700 hours": "afternoon"}
    assert {said: part_of_day(said) for said in parts} == parts
    assert part_of_day("6:10") is part_of_day("9 AM to 5 PM") is None


def test_relative_dates() -> None:
    assert relative_of("three weeks ago") == "some time ago"
    assert relative_of("last Friday") == "recently"
    assert relative_of("next week") == "soon"
    assert relative_of("3 May") is None
