"""INTACT's ladders and guesses by a language model. All texts are invented."""

from collections.abc import Mapping

import pytest

from ingest.documents import Action, Decision
from ingest.wording.by_model import ModelGuesser, ModelLadders
from ingest.wording.guessed import Case, Guessed
from ingest.wording.replace import apply
from models.language.asking import REPAIR, Asker
from models.language.protocol import items_in
from tests.doubles import Scripted
from tests.ingest.wording.test_wording import annotated


def scripted(candidates: Mapping[str, str], guesses: Mapping[str, str]) -> Scripted:
    """Answers a question that holds a key with its value."""

    def says(role: str, question: str, seed: int) -> str:
        answers = guesses if "Guess" in role else candidates
        return next((answer for key, answer in answers.items() if key in question), "I cannot help.")

    return Scripted(says)


def written(marked: str, model: Scripted) -> str:
    text = annotated(marked)
    decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in text.entities]
    wording = Guessed(ModelGuesser(Asker(model)), 0.5, ModelLadders(Asker(model)))
    return apply(text, wording(text, decisions)).residual.text


FIRM = "- a maker of gliders\n- a workshop\n- a firm"
NOBODY = "- Nobody"


GLIDERS = "He built wings at [[Rill & Sons|o]]."


@pytest.mark.parametrize(
    ("candidates", "guesses", "marked", "expected"),
    [
        (FIRM, {"[[a maker": "- The Rill works", "[[a workshop]]": NOBODY}, GLIDERS, "a workshop."),
        (FIRM, {"[[": "1. Rill & Sons"}, GLIDERS, "[organization]."),
        # What cannot be guessed at is not taken.
        (FIRM, {"[[a firm]]": NOBODY}, GLIDERS, "a firm."),
        # Candidates that hold the value, or that of another item, are left out.
        ("- the Rill workshop\n- 17 people of rill & sons\n- a firm", {"[[": NOBODY}, GLIDERS, "a firm."),
        (
            "- the shop of ada lind\n- 61500 things\n- a workshop",
            {"[[": NOBODY},
            "[[Ada Lind|n|0]] got [[$61,500|monetary amount]] at [[Rill & Sons|o]].",
            "at a workshop.",
        ),
    ],
)
def test_the_first_candidate_that_is_not_guessed(
    candidates: str, guesses: Mapping[str, str], marked: str, expected: str
) -> None:
    assert written(marked, scripted({"[[Rill & Sons]]": candidates}, guesses)).endswith(f" {expected}")


def test_rules_for_people_dates_and_codes_and_where_the_model_says_nothing() -> None:
    model = scripted({}, {"[[": NOBODY})
    marked = "[[Ada Lind|n|0]] of [[Leeds|p]] came on [[3 May 2019|d]], [[ada@example.org|email address]]."
    text = "Person A of England came in May 2019, [e-mail address]."
    assert written(marked, model).replace("[email address]", "[e-mail address]") == text
    asked = [question.partition("\n")[0] for _, question in model.asked]
    assert [each for each in asked if each.startswith("Kind")] == ["Kind: place"]
    assert sum(question.startswith(REPAIR) for _, question in model.asked) == 1, "it is asked once more"


def test_guesses_are_made_from_sanitized_text() -> None:
    model = scripted({"[[Rill & Sons]]": FIRM}, {"[[": NOBODY})
    written("[[Ada Lind|n|0]] built wings at [[Rill & Sons|o]].", model)
    guessed = [question for _, question in model.asked if question.startswith("Text")]
    assert guessed == ["Text: Person A built wings at [[a maker of gliders]]."]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("- one\n- two", ["one", "two"]),
        ("1. one\n2) two\n2) two", ["one", "two"]),
        ("Here they are:\n * 'one'\n\u2022 \u201ctwo\u201d\n-  \n", ["one", "two"]),
        ("one, two", []),
    ],
)
def test_lists_of_models(answer: str, expected: list[str]) -> None:
    assert items_in(answer) == expected


def test_an_answer_without_guesses_is_no_test() -> None:
    assert ModelGuesser(Asker(scripted({}, {}))).guesses([Case("place", "England", "In ", ".")]) == [None]
