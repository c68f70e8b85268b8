import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eval.measures.classify import chi_squared_utility, class_of

LABELS = tuple("abcdef")
references = st.dictionaries(st.sampled_from(LABELS), st.integers(1, 400), min_size=2).filter(
    lambda counts: len(set(counts.values())) > 1
)


@given(references, st.integers(1, 50))
def test_the_same_shares_are_worth_one_whatever_the_total_and_uniform_counts_nothing(
    reference: dict[str, int], times: int
) -> None:
    more = {name: count * times for name, count in reference.items()}
    assert chi_squared_utility(more, reference) == pytest.approx(1.0)
    assert chi_squared_utility(dict.fromkeys(reference, times), reference) == pytest.approx(0.0)


@given(references, references)
def test_it_is_never_above_one_and_below_where_shares_differ(
    counts: dict[str, int], reference: dict[str, int]
) -> None:
    assume(set(counts) <= set(reference))
    total, there = sum(counts.values()), sum(reference.values())
    same = all(counts.get(name, 0) * there == count * total for name, count in reference.items())
    utility = chi_squared_utility(counts, reference)
    assert utility == pytest.approx(1.0) if same else utility < 1.0


def test_by_hand() -> None:
    # uniform: (50 - 75)^2 / 75 + (50 - 25)^2 / 25 = 33.3; counts: (60 - 75)^2 / 75 + (40 - 25)^2 / 25 = 12
    assert chi_squared_utility({"a": 6, "b": 4}, {"a": 75, "b": 25}) == pytest.approx(1 - 12 / (100 / 3))
    assert chi_squared_utility({"b": 1}, {"a": 3, "b": 1}) < 0, "further than uniform"


@pytest.mark.parametrize(
    ("counts", "reference", "message"),
    [
        (
            {"a": 1},
            {"a": 1, "b": 0},
            "every class must have an original: leave the others out",
        ),
        ({"c": 1}, {"a": 1, "b": 2}, "every class must have an original"),
        ({"a": 1}, {}, "every class must have an original"),
        ({}, {"a": 1, "b": 2}, "counts must be 0 or more, and something must be counted"),
        ({"a": -1, "b": 3}, {"a": 1, "b": 2}, "counts must be 0 or more"),
        ({"a": 1}, {"a": 2, "b": 2}, "the reference is uniform: there is no scale to compare by"),
    ],
)
def test_what_is_no_count_is_refused(counts: dict[str, int], reference: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        chi_squared_utility(counts, reference)


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("conditions", {"breast cancer": "cancer", "no cancer": None}),
        ("drugs", {"atorvastatin": "cholesterol drug"}),
        ("organizations", {"Orr & Lind LLP": "Law Firm", "Quellby General Hospital": "Hospital"}),
        ("organizations", {"Bank of Quellby": "Bank", "Quellby Food Bank": "Foundation"}),
        ("jobs", {"police officer": "member of the police or the forces", "nothing": None}),
        ("jobs", {"plumber": "technical specialist", "cardiologist": "health worker"}),
        ("jobs", {"geologist": "researcher", "crane operator": "craft or building worker"}),
        ("jobs", {"fire captain": "protective service worker"}),
    ],
)
def test_classes(name: str, classes: dict[str, str | None]) -> None:
    assert {said: class_of(said, name) for said in classes} == classes
