"""Whole texts that a language model rewrites. The model is scripted, and all texts are invented."""

import json
from collections.abc import Callable

import pytest

from ingest.annotated import AnnotatedText
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protecting.whole_texts import (
    ATTRIBUTES,
    BY_MODEL,
    DisclosureAbstraction,
    Iterative,
    NotRewritten,
    SanitizeAndParaphrase,
)
from ingest.sanitize import RewritingSanitizer
from ingest.scoring.prior import RiskPrior
from models.language.asking import REPAIR, Asker, InMemory
from tests.doubles import PhraseDetector, Scripted

TEXT = "My two boys and I live in Tarnholt. My two boys swim."
REFUSED = "I am sorry, but I cannot help with that."


def annotated(*texts: str) -> list[AnnotatedText]:
    return [AnnotatedText(text, ()) for text in texts]


def behind(question: str) -> str:
    return question.partition("Text:\n")[2]


def test_a_text_is_anonymized_first_and_the_result_reworded() -> None:
    def says(role: str, question: str, seed: int) -> str:
        if "nobody in it can be recognized" in role:
            return "I take out the town.\n#\n" + behind(question).replace("Tarnholt", "a town")
        return "#\n" + behind(question).upper()

    model = Scripted(says)
    method = SanitizeAndParaphrase(Asker(model))
    assert method.rewrite(annotated(TEXT, "", " ")) == [TEXT.replace("Tarnholt", "a town").upper(), "", " "]
    assert len(model.asked) == 2 == method.plan([TEXT]).questions
    assert method.name == (
        "sanitize-paraphrase (scripted (test double), prompt anonymize_text v1, reword_text v1)"
    )


def inferred(question: str) -> str:
    guesses = ["Tarnholt", "Ostby", "Varde"] if "Tarnholt" in question else ["Ostby", "Varde", "Drumsk"]
    rows = [{"attribute": "place", "reasoning": "it says so", "guesses": guesses, "certainty": 3}]
    return json.dumps({"inferences": rows})


def test_three_rounds_answer_what_the_adversary_inferred_of_eight_attributes() -> None:
    def says(role: str, question: str, seed: int) -> str:
        if "find out what a text gives away" in role:
            assert f"Attributes: {', '.join(ATTRIBUTES)}" in question and len(ATTRIBUTES) == 8
            return inferred(question)
        assert "place: " in question and "it says so" in question
        return "So.\n#\n" + behind(question).replace("Tarnholt", "a town")

    model = Scripted(says)
    method = Iterative(Asker(model))
    assert method.rewrite(annotated(TEXT, "")) == [TEXT.replace("Tarnholt", "a town"), ""]
    assert len(model.asked) == 6 == method.plan([TEXT]).questions
    assert "place: Tarnholt; Ostby; Varde" in model.asked[1][1]
    assert "place: Ostby; Varde; Drumsk" in model.asked[3][1]
    assert "prompt infer_attributes v1" in method.name and "rewrite_against v1" in method.name


def disclosed(*rows: object) -> Callable[[str, str, int], str]:
    return lambda role, question, seed: json.dumps({"disclosures": rows})


def test_the_first_wording_stands_in_every_place_and_no_other_word_changes() -> None:
    boys = {"words": "My two boys", "instead": ["My children", "My family", "People"]}
    longer = {"words": "My two boys and I", "instead": ["My family", "We"]}
    absent = {"words": "my dog", "instead": ["a pet"]}
    broken = [
        {"words": "swim", "instead": []},
        {"words": 3, "instead": ["x"]},
        {"words": "  ", "instead": ["x"]},
        7,
    ]
    method = DisclosureAbstraction(Asker(Scripted(disclosed(boys, longer, absent, *broken))))
    assert method.rewrite(annotated(TEXT)) == ["My family live in Tarnholt. My children swim."]
    assert DisclosureAbstraction(Asker(Scripted(disclosed()))).rewrite(annotated(TEXT, "")) == [TEXT, ""]
    # A part of a word is none of its places.
    inside = {"words": "boy", "instead": ["child"]}
    assert DisclosureAbstraction(Asker(Scripted(disclosed(inside)))).rewrite(annotated(TEXT)) == [TEXT]
    assert method.name == "disclosure-abstraction (scripted (test double), prompt abstract_disclosures v1)"


@pytest.mark.parametrize("name", list(BY_MODEL))
@pytest.mark.parametrize("answer", [REFUSED, "{}", "#\n"])
def test_what_cannot_be_read_twice_is_no_rewriting(name: str, answer: str) -> None:
    model = Scripted(lambda role, question, seed: answer)
    with pytest.raises(NotRewritten):
        BY_MODEL[name](Asker(model)).rewrite(annotated(TEXT))
    assert [question.startswith(REPAIR) for _, question in model.asked] == [False, True]


@pytest.mark.parametrize("name", ["sanitize-paraphrase", "iterative"])
def test_a_text_that_is_longer_than_an_answer_may_be_is_not_cut_off(name: str) -> None:
    def says(role: str, question: str, seed: int) -> str:
        return inferred(question) if "find out" in role else "#\nshort"

    method = BY_MODEL[name](Asker(Scripted(says, context_tokens=8192)))
    with pytest.raises(NotRewritten):
        method.rewrite(annotated("kiln " * 2001))
    assert method.rewrite(annotated("kiln " * 2000)) == ["short"]


@pytest.mark.parametrize("name", list(BY_MODEL))
def test_a_document_that_was_not_rewritten_is_not_sanitized_and_the_others_are(name: str) -> None:
    def says(role: str, question: str, seed: int) -> str:
        if "Tarnholt" in question:
            return REFUSED
        if "JSON" in role or "find out" in role:
            return inferred(question)
        return json.dumps({"disclosures": []}) if "disclose" in role else "#\n" + behind(question)

    asker = Asker(Scripted(says), InMemory())
    sanitizer = RewritingSanitizer(PhraseDetector({}), BY_MODEL[name](asker), RiskPrior())
    failed, done = sanitizer.sanitize([Document("a", TEXT), Document("b", "The kiln is hot.")])
    assert isinstance(failed, SanitizationError) and isinstance(done, SanitizedDocument)
    assert "rewriting failed (NotRewritten)" in str(failed) and "Tarnholt" not in str(failed)
    assert done.text == "The kiln is hot."
