"""IncogniText's loop, its variants and targets, and the language model behind both roles. Invented texts."""

import json
import math
from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.protecting.adversary import Inference, ModelAdversary
from ingest.protecting.incognitext import FEEDBACK, INCOGNITEXT, VARIANTS, Incognito, Pair, Variant
from ingest.protecting.targets import VALUES, YEARS, drawn_target, randomized_response
from models.language.asking import REPAIR, Asker
from tests.doubles import Scripted

TEXT = "My wife and I took the night tram home after her thesis defence."
KEY = b"k" * 32
TARGETS = {"sex": "female", "age": "58"}


def same(attribute: str, guess: str, truth: str) -> bool:
    if attribute == "age" and guess.isdigit() and truth.isdigit():
        return abs(int(guess) - int(truth)) <= 5
    return guess.casefold() == truth.casefold()


def playing(knows: Mapping[str, tuple[str, str]], *puts: tuple[str, str]) -> Scripted:
    """Infers what ``knows`` says of the words of a text; rewrites by the next of ``puts``, but no age."""
    left = iter(puts)

    def says(role: str, question: str, seed: int) -> str:
        text = question.partition("Text:\n")[2]
        if "find out what a text gives away" not in role:
            return "no" if "Attribute: age" in question else "Like so:\n#\n" + text.replace(*next(left))
        found = {attribute: ("nobody knows", "") for attribute, _ in knows.values()}
        found |= {attribute: (value, word) for word, (attribute, value) in knows.items() if word in text}
        rows = [
            {"attribute": name, "reasoning": word, "guesses": [value], "certainty": 5}
            for name, (value, word) in found.items()
        ]
        return json.dumps({"inferences": rows})

    return Scripted(says, context_tokens=8_192)


def loop(variant: Variant, model: Scripted, truths: Mapping[str, str], text: str = TEXT) -> Incognito:
    """The method after it rewrote one text, whose author is "7"."""
    known = {text: ("7", truths)}
    made = Incognito(variant, Asker(model), ("sex", "age"), known, same, lambda _, name, truth: TARGETS[name])
    made.rewrite([AnnotatedText(text, [])])
    return made


def rewritings(model: Scripted) -> list[str]:
    """What the rewriter was asked."""
    return [question for role, question in model.asked if "You rewrite a text" in role]


def test_the_loop_ends_when_the_truth_is_no_longer_inferred() -> None:
    knows = {"wife": ("sex", "male"), "woman": ("sex", "male")}
    model = playing(knows, ("wife", "woman"), ("woman", "partner"))
    made = loop(INCOGNITEXT, model, {"sex": "male"})
    outcome = made.outcomes[TEXT]
    assert (outcome.stops, outcome.rounds) == ({"sex": "no longer inferred"}, {"sex": 2})
    assert not made.truthful
    assert outcome.pairs == [Pair("7", "sex", "male", "female", TEXT, TEXT.replace("wife", "partner"))]
    told = "Attribute: sex\nWanted value: female\nTrue value: male\nA reader guessed: male\n"
    assert [each.partition("The reader's reasons: ")[0] for each in rewritings(model)] == [told] * 2
    assert ["reasons: woman" in each for each in rewritings(model)] == [False, True]
    assert made.name == (
        "incognitext, rewriter (scripted (test double), prompt rewrite_toward v2, rewrite_without v2)"
    )
    assert "wife" not in repr((made, outcome)) and "male" not in repr((made, outcome))


@pytest.mark.parametrize(
    ("knows", "stop"), [({}, "not inferred"), ({"kettle": ("sex", "male")}, "already safe")]
)
def test_what_is_not_inferred_stays_as_it_is_and_no_answer_is_no_success(
    knows: Mapping[str, tuple[str, str]], stop: str
) -> None:
    model = playing(knows)
    made = loop(INCOGNITEXT, model, {"sex": "male"})
    outcome = made.outcomes[TEXT]
    assert (outcome.stops, outcome.rounds, outcome.pairs) == ({"sex": stop}, {"sex": 0}, [])
    assert made.truthful and rewritings(model) == []


def test_feedback_rewrites_every_round_without_a_target_and_stays_truthful() -> None:
    model = playing({"wife": ("sex", "male")}, ("wife", "partner"), ("tram", "bus"), ("bus", "car"))
    made = loop(FEEDBACK, model, {"sex": "male"})
    outcome = made.outcomes[TEXT]
    assert (outcome.stops, outcome.rounds, outcome.pairs) == ({"sex": "rounds"}, {"sex": 3}, [])
    assert made.truthful
    assert not any("Wanted" in each or "True value" in each for each in rewritings(model))
    # From the second round on the guess is another one.
    guessed = [each.partition("guessed: ")[2].partition("\n")[0] for each in rewritings(model)]
    assert guessed == ["male", "nobody knows", "nobody knows"]


@pytest.mark.parametrize("name", list(VARIANTS))
def test_every_variant_shows_what_it_says(name: str) -> None:
    variant = VARIANTS[name]
    model = playing({"wife": ("sex", "male")}, *[("wife", "partner")] * 3)
    made = loop(variant, model, {"sex": "male"})
    first, *more = rewritings(model)
    shown = ["Wanted value: female" in first, "True value: male" in first, "A reader guessed: male" in first]
    assert shown == [variant.target, variant.sees_truth, variant.sees_inference]
    assert len(more) == (0 if variant.early_stopping else 2)
    assert made.truthful is not variant.target
    # The adversary is told the truth by one variant.
    assert ("\nTrue sex: male\n" in model.asked[0][1]) is variant.hinted


def test_attributes_are_protected_one_after_the_other_and_one_that_fails_stops_alone() -> None:
    model = playing({"thesis defence": ("age", "27"), "wife": ("sex", "male")}, ("wife", "partner"))
    outcome = loop(INCOGNITEXT, model, {"age": "25", "sex": "male"}).outcomes[TEXT]
    assert outcome.stops == {"age": "not rewritten", "sex": "no longer inferred"}
    assert [(each.attribute, each.original) for each in outcome.pairs] == [("sex", TEXT)]


def test_texts_of_known_authors_are_rewritten_and_others_stay() -> None:
    made = loop(INCOGNITEXT, playing({"wife": ("sex", "male")}, *[("wife", "partner")] * 2), {"sex": "male"})
    texts = [AnnotatedText(TEXT, []), AnnotatedText("It rained.", [])]
    assert made.rewrite(texts) == [TEXT.replace("wife", "partner"), "It rained."]
    assert list(made.outcomes) == [TEXT]


@pytest.mark.parametrize(("variant", "stop"), [(INCOGNITEXT, "no longer inferred"), (FEEDBACK, "rounds")])
def test_a_text_that_would_be_cut_off_is_not_rewritten(variant: Variant, stop: str) -> None:
    for words, expected in ((1199, stop), (1200, "not rewritten")):
        text, model = "wife " + "kiln " * words, playing({"wife": ("sex", "male")}, *[("wife", "kiln")] * 3)
        assert loop(variant, model, {"sex": "male"}, text).outcomes[text].stops == {"sex": expected}
        assert bool(rewritings(model)) is (expected == stop)


@given(st.sampled_from(["18", "40", "43", "80"]), st.text())
def test_a_chosen_target_stands_unless_it_is_the_truth(truth: str, author: str) -> None:
    otherwise, draw = drawn_target(KEY, same), drawn_target(KEY, same, {"age": "40"})
    drawn = draw(author, "age", truth)
    assert not same("age", drawn, truth)
    assert drawn == ("40" if not same("age", "40", truth) else otherwise(author, "age", truth))
    assert draw(author, "sex", "male") == "female"


@given(st.sampled_from(sorted(VALUES)), st.text(max_size=5), st.data())
def test_a_target_is_never_the_truth_far_from_it_and_sticks_to_its_author(
    attribute: str, author: str, data: st.DataObject
) -> None:
    truth = data.draw(st.sampled_from(VALUES[attribute]))
    draw = drawn_target(KEY, same)
    target = draw(author, attribute, truth)
    assert target in VALUES[attribute] and not same(attribute, target, truth)
    assert attribute != "age" or abs(int(target) - int(truth)) >= YEARS
    assert draw(author, attribute, truth) == target
    assert draw(author, "nationality", "Chile") in VALUES["country"]
    with pytest.raises(KeyError):
        draw(author, "shoe size", "42")


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_randomized_response_keeps_the_truth_as_often_as_it_says(epsilon: float) -> None:
    draw, values, n = randomized_response(KEY, epsilon, same), VALUES["relationship"], 4_000
    drawn = Counter(draw(str(author), "relationship", "married") for author in range(n))
    # Each pair of truths differs by a factor of e^epsilon at most, and some by that.
    keeps = math.exp(epsilon) / (math.exp(epsilon) + len(values) - 1)
    for value in values:
        share = keeps if value == "married" else keeps / math.exp(epsilon)
        assert abs(drawn[value] / n - share) < 4 * math.sqrt(share * (1 - share) / n)
    with pytest.raises(ValueError, match=r"^epsilon is -1: give 0 or more$"):
        randomized_response(KEY, -1, same)


INFERRED = (
    'Here you are: {"inferences": [{"attribute": "sex", "reasoning": "a wife", "certainty": 4,'
    ' "guesses": ["male", "female", "x", "y"]}, {"attribute": "age", "reasoning": "",'
    ' "guesses": [27, "30"], "certainty": "high"},'
    ' {"attribute": "shoe", "guesses": ["1"]}, {"attribute": "sex", "guesses": ["female"]}, 3]}'
)


def test_inferences_are_read_from_whatever_a_model_wraps_them_in() -> None:
    answers = iter([INFERRED, "I cannot do that.", '{"inferences": []}'])
    model = Scripted(lambda role, question, seed: next(answers))
    adversary = ModelAdversary(Asker(model), ["age", "sex"])
    first, second = adversary.infer([TEXT, "It rained."])
    assert first["sex"] == Inference(("male", "female", "x"), 0.8, "a wife")
    assert first["age"] == Inference(("27", "30"), 0.2, "")
    assert second == {}
    assert model.asked[0][1].startswith("Attributes: age, sex\n")
    assert model.asked[2][1].startswith(REPAIR)
    assert adversary.name == "adversary (scripted (test double), prompt infer_attributes v3)"
    assert "wife" not in repr((adversary, first))


def test_an_adversary_is_told_the_truths_that_a_variant_shows_it() -> None:
    model = Scripted(lambda role, question, seed: INFERRED)
    ModelAdversary(Asker(model), ["sex"], {"sex": "male"}).infer([TEXT])
    assert "\nTrue sex: male\n" in model.asked[0][1]
