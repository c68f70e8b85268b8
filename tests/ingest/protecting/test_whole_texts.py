"""Whole texts that a language model rewrites. The model is scripted, and all texts are invented."""

import json
from collections.abc import Callable, Sequence

import pytest

from ingest.annotated import AnnotatedText
from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.protecting.whole_texts import (
    ATTRIBUTES,
    BY_MODEL,
    NAMED,
    DisclosureAbstraction,
    Iterative,
    NotRewritten,
    SanitizeAndParaphrase,
    SyntheticTexts,
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
        if "change a text so that nobody" in role:
            return "I take out the town.\n#\n" + behind(question).replace("Tarnholt", "a town")
        return "#\n" + behind(question).upper()

    model = Scripted(says)
    method = SanitizeAndParaphrase(Asker(model))
    assert method.rewrite(annotated(TEXT, "", " ")) == [TEXT.replace("Tarnholt", "a town").upper(), "", " "]
    assert len(model.asked) == 2 == method.plan([TEXT]).questions
    assert method.name.endswith(", prompt anonymize_text v2, reword_text v2)")


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
    assert "prompt infer_attributes v3" in method.name and "rewrite_against v2" in method.name


def disclosed(*rows: object) -> Callable[[str, str, int], str]:
    return lambda role, question, seed: json.dumps({"disclosures": rows})


def test_the_first_wording_stands_in_every_place_and_no_other_word_changes() -> None:
    boys = {"words": "My two boys", "instead": ["My children", "My family", "People"]}
    longer = {"words": "My two boys and I", "instead": ["My family", "We"]}
    absent = {"words": "my dog", "instead": ["a pet"]}
    broken = [{"words": words, "instead": said} for words, said in (("swim", []), (3, ["x"]), ("  ", ["x"]))]
    method = DisclosureAbstraction(Asker(Scripted(disclosed(boys, longer, absent, *broken, 7))))
    assert method.rewrite(annotated(TEXT)) == ["My family live in Tarnholt. My children swim."]
    assert DisclosureAbstraction(Asker(Scripted(disclosed()))).rewrite(annotated(TEXT, "")) == [TEXT, ""]
    # A part of a word is none of its places.
    inside = {"words": "boy", "instead": ["child"]}
    assert DisclosureAbstraction(Asker(Scripted(disclosed(inside)))).rewrite(annotated(TEXT)) == [TEXT]
    assert method.name == "disclosure-abstraction (scripted (test double), prompt abstract_disclosures v1)"


NAMED_OF_TEXT = json.dumps({"attributes": [{"name": "family", "value": "children who swim"}]})
SAFE = '{"safe": true, "changes": []}'


def synthesizing(
    *verdicts: str, named: str = NAMED_OF_TEXT, written: str = "A family swims in Ostby."
) -> Callable[[str, str, int], str]:
    """Names the same attributes of every text, and checks with one verdict after the other."""
    left = iter(verdicts)

    def says(role: str, question: str, seed: int) -> str:
        if "up to ten attributes" in role:
            return named
        if "from a list of attributes alone" in role:
            return f"#\n{written}"
        if "may be published" in role:
            return next(left)
        return "#\n" + behind(question).replace("Ostby", "a town")

    return says


def unsafe(*changes: str) -> str:
    return json.dumps({"safe": False, "changes": changes})


def roles(model: Scripted) -> Sequence[str]:
    words = {"up to ten": "name", "alone. All": "write", "may be published": "check", "demands": "refine"}
    return [next(name for said, name in words.items() if said in role) for role, _ in model.asked]


def test_a_synthetic_text_is_written_from_attributes_alone() -> None:
    model = Scripted(synthesizing(SAFE))
    method = SyntheticTexts(Asker(model))
    assert method.rewrite(annotated(TEXT, "", " ")) == ["A family swims in Ostby.", "", " "]
    assert roles(model) == ["name", "write", "check"]
    assert model.asked[0][1].endswith(TEXT)
    assert model.asked[1][1] == "Attributes:\nfamily: children who swim"
    # Nobody after the first reads the original.
    assert not any("Tarnholt" in question for _, question in model.asked[1:])
    prompts = "name_attributes v1, write_from_attributes v2, check_synthetic v1, refine_synthetic v2"
    assert method.name == f"sage (scripted (test double), prompt {prompts})"


def test_what_a_privacy_agent_demands_is_refined_and_read_again() -> None:
    model = Scripted(synthesizing(unsafe("not Ostby", "and no sport"), SAFE))
    assert SyntheticTexts(Asker(model)).rewrite(annotated(TEXT)) == ["A family swims in a town."]
    assert roles(model) == ["name", "write", "check", "refine", "check"]
    refined = "What must be changed:\n- not Ostby\n- and no sport\n\nText:\nA family swims in Ostby."
    checked = "Attributes:\nfamily: children who swim\n\nText:\nA family swims in a town."
    assert [question for _, question in model.asked[3:]] == [refined, checked]


def test_of_two_texts_only_the_one_that_is_not_safe_is_refined() -> None:
    model = Scripted(synthesizing(SAFE, unsafe("no town"), SAFE, SAFE))
    written = SyntheticTexts(Asker(model)).rewrite(annotated(TEXT, "", "My aunt sings."))
    assert written == ["A family swims in Ostby.", "", "A family swims in a town."]
    assert roles(model) == [*["name"] * 2, *["write"] * 2, *["check"] * 2, "refine", *["check"] * 2]


def test_what_is_never_safe_is_no_rewriting_after_three_rounds() -> None:
    model = Scripted(synthesizing(*[unsafe("more")] * 9))
    method = SyntheticTexts(Asker(model))
    with pytest.raises(NotRewritten):
        method.rewrite(annotated(TEXT))
    assert roles(model) == ["name", "write", *["check", "refine"] * 3, "check"]
    assert len(model.asked) == 9 == method.plan([TEXT]).questions
    # In the last round it is safe.
    in_time = Scripted(synthesizing(*[unsafe("more")] * 3, SAFE))
    assert SyntheticTexts(Asker(in_time)).rewrite(annotated(TEXT)) == ["A family swims in a town."]


SAID = ("false", '"true"')
VERDICTS = ["SAFE", "{}", '{"safe": true}', *(f'{{"safe": {said}, "changes": []}}' for said in SAID)]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_that_says_neither_is_not_taken_for_safe(verdict: str) -> None:
    with pytest.raises(NotRewritten):
        SyntheticTexts(Asker(Scripted(synthesizing(*[verdict] * 2)))).rewrite(annotated(TEXT))
    model = Scripted(synthesizing('{"safe": true, "changes": ["no town"]}', SAFE))
    assert SyntheticTexts(Asker(model)).rewrite(annotated(TEXT)) == ["A family swims in a town."]


EMPTY = [{"name": "town"}, {"name": "town", "value": 3}, {"name": " ", "value": "x"}]
NO_ROWS: list[object] = [[], [7], "town", *([row] for row in EMPTY)]


@pytest.mark.parametrize("rows", NO_ROWS)
def test_attributes_that_cannot_be_read_are_no_rewriting(rows: object) -> None:
    model = Scripted(synthesizing(named=json.dumps({"attributes": rows})))
    with pytest.raises(NotRewritten):
        SyntheticTexts(Asker(model)).rewrite(annotated(TEXT))
    assert roles(model) == ["name"] * 2


def test_ten_attributes_are_written_from_at_most() -> None:
    rows = [{"name": f"name {number}", "value": "v"} for number in range(NAMED + 2)]
    model = Scripted(synthesizing(SAFE, named=json.dumps({"attributes": rows})))
    SyntheticTexts(Asker(model)).rewrite(annotated(TEXT))
    assert "name 9: v" in model.asked[1][1] and "name 10" not in model.asked[1][1]


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
        if "attributes, each with" in role:
            return json.dumps({"attributes": [{"name": "text", "value": behind(question)}]})
        if "from a list of attributes" in role:
            return "#\n" + question.partition("text: ")[2]
        if "may be published" in role:
            return SAFE
        if "JSON" in role or "find out" in role:
            return inferred(question)
        return json.dumps({"disclosures": []}) if "disclose" in role else "#\n" + behind(question)

    asker = Asker(Scripted(says), InMemory())
    sanitizer = RewritingSanitizer(PhraseDetector({}), BY_MODEL[name](asker), RiskPrior())
    failed, done = sanitizer.sanitize([Document("a", TEXT), Document("b", "The kiln is hot.")])
    assert isinstance(failed, SanitizationError) and isinstance(done, SanitizedDocument)
    assert "rewriting failed (NotRewritten)" in str(failed) and "Tarnholt" not in str(failed)
    assert done.text == "The kiln is hot."
