"""What is put in never touches a letter or digit. Every text here is invented."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.documents import Action, Decision
from ingest.wording.replace import apply, whole_words
from tests.doubles import entity
from tests.strategies import linked, spans
from tests.timing import cost

texts = st.text(alphabet="ab é9.,:/-_ '\n", min_size=1, max_size=40)


def replaced(text: str, *marks: tuple[str, str], action: Action = Action.GENERALIZE, words: str = "") -> str:
    decisions = [
        Decision(entity(text.index(said), text.index(said) + len(said), label), None, action, "test", words)
        for said, label in marks
    ]
    return apply(linked(text, [each.entity for each in decisions]), decisions).residual.text


@pytest.mark.parametrize(
    ("text", "said", "label", "expected"),
    [
        ("lactate was 38.5 then", "38", "test result", "lactate was a test result then"),
        ("lactate was 38.5 then", ".5", "test result", "lactate was a test result then"),
        ("on the 12th of it", "12", "date", "on the specific date of it"),
        ("at 10:22:31 sharp", "22:31", "time", "at a specific time sharp"),
        ("5.9 mg/dL high", "/dL", "test result", "5.9 a test result high"),
        ("a 45F with pain", "45", "person age", "a certain age with pain"),
        ("the file keller_scan", "keller", "person full name", "the file somebody_scan"),
        ("Keller's car", "Keller", "person full name", "Somebody's car"),
        ("we met 王小明先生 there", "王小明", "person full name", "we met somebody先生 there"),
    ],
)
def test_a_descriptor_stands_for_the_whole_word(text: str, said: str, label: str, expected: str) -> None:
    assert replaced(text, (said, label)) == expected
    assert replaced("a 45F with pain", ("45", "person age"), ("F", "gender")) == "a gender with pain"


@pytest.mark.parametrize(
    ("text", "said", "words", "expected"),
    [
        ("took 12mg daily", "12", "14", "took 14mg daily"),
        ("took 123mg daily", "12", "14", "took 14mg daily"),
        ("saw Kellers car", "Keller", "Person K7Q2MX", "saw Person K7Q2MX car"),
    ],
)
def test_a_value_in_place_of_another_keeps_its_unit(text: str, said: str, words: str, expected: str) -> None:
    assert replaced(text, (said, "quantity"), action=Action.SURROGATE, words=words) == expected


def city(start: int, end: int) -> Decision:
    return Decision(entity(start, end, "city name"), None, Action.GENERALIZE, "test")


@st.composite
def generalized(draw: st.DrawFn) -> tuple[str, list[Decision]]:
    text = draw(texts)
    return text, [city(span.start, span.end) for span in draw(st.lists(spans(len(text)), max_size=6))]


@settings(max_examples=500, deadline=None)
@given(generalized())
def test_a_decision_only_grows_and_nothing_put_in_touches_a_letter_or_digit(
    case: tuple[str, list[Decision]],
) -> None:
    text, decisions = case
    for old, new in zip(decisions, whole_words(text, decisions), strict=True):
        assert new.entity.span.start <= old.entity.span.start and new.entity.span.end >= old.entity.span.end
    applied = apply(linked(text, [each.entity for each in decisions]), decisions)
    for start, end in applied.places:
        around = applied.residual.text[max(0, start - 1) : start] + applied.residual.text[end : end + 1]
        assert end == start or not any(map(str.isalnum, around))


@pytest.mark.slow
def test_time_grows_linearly() -> None:
    def seconds(size: int) -> float:
        text = "ab1.2" * size
        decisions = [city(at, at + 2) for at in range(0, len(text) - 2, 50)]
        return cost(lambda: whole_words(text, decisions), tries=2)

    small, large = seconds(4_000), seconds(16_000)
    assert large < 0.2 or large < 10 * small


@pytest.mark.parametrize(
    ("text", "said"),
    [("1250,3 May 2023", "3 May 2023"), ("1,4,12 High Street", "12 High Street"), ("34:3 May", "3 May")],
)
def test_a_cell_is_not_widened_into_the_next(text: str, said: str) -> None:
    assert replaced(text, (said, "date"), words="x") == text.replace(said, "x")
