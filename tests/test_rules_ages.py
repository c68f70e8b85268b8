import pytest

from ingest.rules.find import find_by_rules


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("Mr Tobias Keller, 61, of Varde Point", "61"),
        ("Mr Keller (61) came.", "61"),
        ("Anna Keller, 37 years old", "37"),
        ("We saw Anna Keller, 7.", "7"),
    ],
)
def test_an_age_beside_a_name_is_found(text: str, age: str) -> None:
    found = [text[e.span.start : e.span.end] for e in find_by_rules(text) if e.label == "person age"]
    assert found == [age]


@pytest.mark.parametrize(
    "text",
    [
        "Mr Keller, 400, asked",
        "Mr Keller, 61 Weir Street",
        "Mr Keller, 12, 13 and 14 were missing",
        "in July, 61, and",
        "Mr Keller 61",
    ],
)
def test_other_numbers_are_no_age(text: str) -> None:
    assert not [e for e in find_by_rules(text) if e.label == "person age"]
