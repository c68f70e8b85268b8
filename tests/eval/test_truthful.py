"""The check of replacements: invented examples of each kind, and what holds for all dates and numbers."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures.said import moment_of, ranges_of
from eval.studies.intact.report import Judgement, judged

YES, NO = True, False

DATES = [
    ("7 March 2001", "March 2001", YES, YES),
    ("7 March 2001", "April 2001", NO, None),
    ("7 March 2001", "early March 2001", YES, YES),
    ("7 March 2001", "spring 2001", YES, YES),
    ("7 March 2001", "the first quarter of 2001", YES, YES),
    ("7 March 2001", "March", YES, YES),
    ("7 March 2001", "the winter", NO, None),
    ("7 March 2001", "2001-03-07", YES, NO),
    ("7 March 2001", "the beginning of the 21st century", YES, YES),
    ("7 March 2001", "before 2005", YES, YES),
    ("7 March 2001", "after 2005", NO, None),
    ("7 March 2001", "a date", YES, YES),
    ("20 December 1994", "winter 1994", YES, YES),
    ("20 July 1994", "winter 1994", NO, None),
    ("14 and 19 May 1987", "May 1987", YES, YES),
    ("from June 1983 to May 1986", "the mid-1980s", YES, YES),
    ("from June 1983 to May 1991", "the 1980s", NO, None),
    ("autumn of 1979", "the late '70s", YES, YES),
    ("31 May", "the second half of May", YES, YES),
    ("03/04/2005", "March 2005", YES, YES),
    ("around noon", "9 May 1995", NO, NO),
]
DURATIONS = [
    ("eleven weeks", "more than 10 weeks", YES, YES),
    ("eleven weeks", "eleven days", NO, None),
    ("eleven weeks", "a considerable period", YES, YES),
    ("24 months", "two years", YES, NO),
    ("two years and three months", "two to three years", YES, YES),
]
QUANTITIES = [
    ("$61,500", "$50,000 to $100,000", YES, YES),
    ("$61,500", "tens of thousands of dollars", YES, YES),
    ("$61,500", "£61,500", NO, None),
    ("$61,500", "a large sum", YES, YES),
    ("2.4 million euros", "2 to 5 million euros", YES, YES),
    ("forty-three", "in her forties", YES, YES),
    ("forty-three", "43", YES, NO),
    ("43 years old", "under 20", NO, None),
    ("30 people", "more than 30 people", NO, None),
    ("three bicycles", "bicycles", YES, YES),
]
PLACES = [
    ("Norwich", "a city in the east of England", YES, YES),
    ("Norwich", "Ipswich", NO, NO),
    ("Norwich", "a town in Scotland", NO, None),
    ("Norwich", "the Pacific region", NO, None),
    ("Norwich", "a country", NO, None),
    ("Norwich", "a Northern European country", NO, None),
    ("Peru", "a country in South America", YES, YES),
    ("Peru", "a town", NO, None),
    ("Paris, Texas", "a town in the United States", YES, YES),
    ("Paris, Texas", "France", NO, None),
    ("Quellbyford", "a village in Norway", YES, YES),
    ("Quellbyford", "Tokyo", NO, NO),
    ("TX", "the United States", YES, YES),
]
TRAITS = [
    ("Kenyan", "East African", YES, YES),
    ("Kenyan", "Asian", NO, None),
    ("paediatric nurse", "health worker", YES, YES),
    ("paediatric nurse", "lawyer", NO, None),
    ("no allergies", "allergies", NO, None),
]
NAMES = [
    ("Orla Fennimore", "Person A", YES, YES),
    ("Orla Fennimore", "a woman", YES, YES),
    ("Orla Fennimore", "Tilda Marwick", NO, NO),
    ("Orla Fennimore", "", NO, YES),
]
ORGANIZATIONS = [
    ("Quellby Savings Bank", "Bank A", YES, YES),
    ("Quellby Savings Bank", "Hospital A", NO, None),
    ("Quellby Savings Bank", "Sunny Meadow Partners", NO, NO),
    ("Quellby Savings Bank", "ABC Corp", YES, YES),
    ("Quellby Savings Bank", "a financial institution", YES, YES),
    ("Quellby Savings Bank", "ORG_4", YES, YES),
]
OTHERS = [
    ("Fenwold Fisheries Act 1962", "a law on fishing", YES, YES),
    ("a red hatchback", "a hatchback", YES, YES),
    ("a red hatchback", "a red hatchback with a dent", YES, NO),
    ("the left wrist", "one of the wrists", YES, YES),
]
BY_KIND: dict[str, list[tuple[str, str, bool, bool | None]]] = {
    "DATETIME": [*DATES, *DURATIONS], "QUANTITY": [*QUANTITIES], "LOC": [*PLACES], "DEM": [*TRAITS],
    "PERSON": [*NAMES], "ORG": [*ORGANIZATIONS], "MISC": [*OTHERS],
    "CODE": [("T-4471/9", "T-5082/1", NO, NO)]
}  # fmt: skip
EXAMPLES = [(kind, *example) for kind, examples in BY_KIND.items() for example in examples]


@pytest.mark.parametrize(("kind", "original", "replacement", "truthful", "less_specific"), EXAMPLES)
def test_the_check_reads_both_sides(
    kind: str, original: str, replacement: str, truthful: bool, less_specific: bool | None
) -> None:
    verdict = judged(original, replacement, kind)
    assert verdict.truthful == truthful
    assert less_specific is None or verdict.less_specific == less_specific


DAYS = st.dates(date(1900, 1, 1), date(2039, 12, 31))


@given(DAYS)
def test_a_decade_is_true_of_its_years_alone(day: date) -> None:
    decade = day.year // 10 * 10
    for said in (f"{day.day} {day:%B %Y}", f"{day:%B %Y}", str(day.year), day.isoformat()):
        assert judged(said, f"the {decade}s", "DATETIME") == Judgement(True, True)
        assert not judged(said, f"the {decade - 10}s", "DATETIME").truthful
        assert not judged(said, f"the {decade + 10}s", "DATETIME").truthful


@given(DAYS, DAYS)
def test_a_month_is_true_of_its_days_alone(day: date, other: date) -> None:
    verdict = judged(f"{day.day} {day:%B %Y}", f"{other:%B %Y}", "DATETIME")
    assert verdict.truthful == ((day.year, day.month) == (other.year, other.month))


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(1, 10**6))
def test_a_range_is_true_of_what_lies_in_it(value: int, low: int, width: int) -> None:
    verdict = judged(f"{value:,} barrels", f"{low:,} to {low + width:,} barrels", "QUANTITY")
    assert verdict == Judgement(low <= value <= low + width, True)


@given(
    st.sampled_from([(kind, original) for kind, original, *_ in EXAMPLES]),
    st.sampled_from((str, str.upper, str.strip)),
)
def test_what_is_unchanged_is_true_and_as_specific(example: tuple[str, str], change: type[str]) -> None:
    kind, original = example
    assert judged(original, change(original), kind) == Judgement(True, False)


WORDS = st.lists(
    st.sampled_from(
        "early late mid- before after around the of and to 0 1 31 99 1999 2001/2 31/2/01 '80s 90s 00th"
        " century nineties February May winter first quarter half more than under million thousand"
        " dozens hundreds weeks $ £ % Norwich Texas Kenyan Bank A no nurse [date]".split()
    ),
    max_size=8,
).map(" ".join)


@given(WORDS | st.text(max_size=40), WORDS | st.text(max_size=40), st.sampled_from(sorted(BY_KIND)))
def test_any_words_get_a_verdict(original: str, replacement: str, kind: str) -> None:
    assert isinstance(judged(original, replacement, kind), Judgement)


def test_what_is_no_date_names_no_days_and_is_no_error() -> None:
    assert moment_of("31 April 2003 or so") is None
    assert moment_of("you may march") is None
    assert [each.high for each in ranges_of("two hundred and ten sheep")] == [210]
    judged("12 May 1999", "25.30.1999", "DATETIME")
