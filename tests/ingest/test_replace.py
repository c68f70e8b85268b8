import pytest
from hypothesis import given, settings

from ingest.documents import Action, Decision
from ingest.labels import VAGUE
from ingest.spans import resolve, substitute
from ingest.wording.replace import render
from tests.doubles import entity
from tests.strategies import decided_texts


def replaced(text: str, *marks: tuple[str, str], action: Action = Action.GENERALIZE) -> str:
    decisions, cursor = [], 0
    for phrase, label in marks:
        cursor = text.index(phrase, cursor)
        decisions.append(Decision(entity(cursor, cursor + len(phrase), label), None, action, "test"))
        cursor += len(phrase)
    return substitute(text, render(text, resolve(decisions)).replacements)


@pytest.mark.parametrize(
    ("text", "marks", "expected"),
    [
        ("Is a male patient.", [("male", "gender")], "Is a gender patient."),
        ("He took an aspirin.", [("aspirin", "medication")], "He took a medication."),
        ("A male of 40", [("male", "gender"), ("40", "person age")], "A gender of a certain age"),
        ("The Bremen office", [("Bremen", "city name")], "The city office"),
        ("her sister Keller", [("Keller", "person full name")], "her sister somebody"),
        ("into one “clerk” now", [("clerk", "job title")], "into one “job title” now"),
        ('A "clerk" there', [("clerk", "organization")], 'An "organization" there'),
        ("one day Bremen woke", [("Bremen", "city name")], "one day a city woke"),
        ("It rained. Keller left.", [("Keller", "person full name")], "It rained. Somebody left."),
        ("We saw Keller's car.", [("Keller", "person full name")], "We saw somebody's car."),
        ("in Ulm Bad Jena now", [(c, "city name") for c in ("Ulm", "Bad", "Jena")], "in a city now"),
        ("in Bremen, Ulm now", [("Bremen", "city name"), ("Ulm", "city name")], "in a city, a city now"),
        ("the management clerk there", [("clerk", "job title")], "the management job title there"),
        ("says that after noon it", [("noon", "time")], "says that after a specific time it"),
        ("Case No. 17/3", [("17/3", "case number")], "Case No. a case number"),
        ("An allergy test", [("allergy", "medical test")], "A medical test test"),
        ("plan at noon", [("noon", "time")], "plan at a specific time"),
        ("the only deaf clerk", [("only deaf", VAGUE), ("clerk", "job title")], "the job title"),
        ("a clerk alone there", [("clerk", "job title"), ("alone", VAGUE)], "a job title there"),
        ("deaf, Ulm", [("deaf", VAGUE), ("Ulm", "city name")], "a detail, a city"),
    ],
)
def test_descriptors_fit_their_sentence(text: str, marks: list[tuple[str, str]], expected: str) -> None:
    assert replaced(text, *marks) == expected


def test_suppression_leaves_no_doubled_blank() -> None:
    left = {"He met Keller now": "He met now", "Keller, so": ", so", "by Keller.": "by.", "(Keller)": "()"}
    for text, expected in left.items():
        assert replaced(text, ("Keller", "person full name"), action=Action.SUPPRESS) == expected


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("the Keller report", "Person K7Q2MX", "the Person K7Q2MX report"),
        ("her Keller report", "Organization 4FZMRT", "her Organization 4FZMRT report"),
        ("a Keller report", "Person K7Q2MX", "a Person K7Q2MX report"),
        ("a Keller report", "Organization 4FZMRT", "an Organization 4FZMRT report"),
        ("A  Keller report", "Organization 4FZMRT", "An  Organization 4FZMRT report"),
        ("saw Keller's car", "Person K7Q2MX", "saw Person K7Q2MX's car"),
        ("a Keller report", "[organization K7Q2MXVT]", "an [organization K7Q2MXVT] report"),
        ("an Keller report", "****", "an **** report"),
        ("Keller Keller left", "Person K7Q2MX", "Person K7Q2MX left"),
    ],
)
def test_aliases_fit_their_sentence(text: str, words: str, expected: str) -> None:
    decisions = [aliased(at, at + 6, words) for at in range(len(text)) if text.startswith("Keller", at)]
    assert substitute(text, render(text, decisions).replacements) == expected


def aliased(start: int, end: int, words: str) -> Decision:
    return Decision(entity(start, end, "person full name"), None, Action.SURROGATE, "test", words)


def test_the_aliases_of_two_people_side_by_side_are_both_said() -> None:
    decisions = [aliased(0, 4, "Person K7Q2MX"), aliased(5, 8, "Person 4FZMRT")]
    said = substitute("Anna Tom", render("Anna Tom", decisions).replacements)
    assert said == "Person K7Q2MX Person 4FZMRT"


def test_repairs_are_counted_and_an_article_that_fits_is_none() -> None:
    assert render("a Keller report", [aliased(2, 8, "Person K7Q2MX")]).article_repairs == 0
    assert render("a Keller report", [aliased(2, 8, "Organization 4FZMRT")]).article_repairs == 1
    gender = Decision(entity(2, 6, "gender"), None, Action.GENERALIZE, "test")
    assert render("a male nurse", [gender]).article_repairs == 1


@settings(max_examples=300, deadline=None)
@given(decided_texts())
def test_replacements_are_disjoint_and_cover_what_was_decided(case: tuple[str, list[Decision]]) -> None:
    text, decisions = case
    resolved = resolve(decisions)
    rendered = render(text, resolved)
    substitute(text, rendered.replacements)
    assert len(rendered.replacements) == len(rendered.decisions) == len(resolved)
    for decision, (span, _) in zip(resolved, rendered.replacements, strict=True):
        inner = decision.entity.span
        covering = [s for s, _ in rendered.replacements if s.start <= inner.start and inner.end <= s.end]
        assert covering == [span]
