"""IncogniText's loop, its variants and targets, and the language model behind both roles. Invented texts."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.protecting.authors import Author, Incognito
from ingest.protecting.by_model import ModelAdversary, ModelRewriter
from ingest.protecting.incognitext import FEEDBACK, INCOGNITEXT, VARIANTS, protected
from ingest.protecting.protocols import Adversary, Inference, Wanted
from ingest.protecting.targets import VALUES, YEARS, chosen_target, drawn_target, randomized_response
from models.language.asking import REPAIR, Asker
from models.language.protocol import ChatMessage

TEXT = "My wife and I took the night tram home after her thesis defence."
KEY = b"k" * 32


def same(attribute: str, guess: str, truth: str) -> bool:
    if attribute == "age" and guess.isdigit() and truth.isdigit():
        return abs(int(guess) - int(truth)) <= 5
    return guess.casefold() == truth.casefold()


@dataclass
class Reader:
    """Infers what ``knows`` says of the first of its words that stands in a text."""

    knows: Mapping[str, tuple[str, str]]
    name = "reader (test double)"
    attributes: Sequence[str] = ("sex", "age")
    asked: list[str] = field(default_factory=list)

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        self.asked += texts
        return [
            {
                **{attribute: Inference(("nobody knows",), 0.1) for attribute, _ in self.knows.values()},
                **{
                    attribute: Inference((value,), 0.9, word)
                    for word, (attribute, value) in self.knows.items()
                    if word in text
                },
            }
            for text in texts
        ]


@dataclass
class Writer:
    """Puts the next of its words in place of what an inference rests on; keeps what it was told."""

    puts: list[str]
    name = "writer (test double)"
    told: list[Wanted] = field(default_factory=list)

    def rewrite(self, text: str, wanted: Wanted) -> str | None:
        self.told.append(wanted)
        return text.replace(wanted.inference.reasoning if wanted.inference else "wife", self.puts.pop(0))


def test_the_loop_ends_when_the_truth_is_no_longer_inferred() -> None:
    reader, writer = Reader({"wife": ("sex", "male"), "woman": ("sex", "male")}), Writer(["woman", "partner"])
    outcome = protected(TEXT, {"sex": "male"}, {"sex": "female"}, INCOGNITEXT, reader, writer, same)
    assert outcome.text == TEXT.replace("wife", "partner")
    assert (outcome.stops, outcome.rounds, outcome.truthful) == (
        {"sex": "no longer inferred"},
        {"sex": 2},
        False,
    )
    assert [each.target for each in writer.told] == ["female"] * 2
    assert [each.truth for each in writer.told] == ["male"] * 2
    assert [each.reasoning for each in outcome.history["sex"]] == ["wife", "woman", ""]
    assert TEXT not in repr((outcome, writer.told, outcome.history))
    assert "wife" not in repr((outcome, writer.told, outcome.history))


@pytest.mark.parametrize(
    ("knows", "stop"), [({}, "not inferred"), ({"kettle": ("sex", "male")}, "already safe")]
)
def test_what_is_not_inferred_stays_as_it_is_and_no_answer_is_no_success(
    knows: Mapping[str, tuple[str, str]], stop: str
) -> None:
    outcome = protected(
        TEXT, {"sex": "male"}, {"sex": "female"}, INCOGNITEXT, Reader(knows), Writer([]), same
    )
    assert (outcome.text, outcome.stops, outcome.rounds) == (TEXT, {"sex": stop}, {"sex": 0})
    assert outcome.truthful


def test_feedback_rewrites_every_round_without_a_target_and_stays_truthful() -> None:
    reader, writer = Reader({"wife": ("sex", "male")}), Writer(["partner", "", ""])
    outcome = protected(TEXT, {"sex": "male"}, {}, FEEDBACK, reader, writer, same, rounds=3)
    assert (outcome.stops, outcome.rounds, outcome.truthful) == ({"sex": "rounds"}, {"sex": 3}, True)
    assert [(each.target, each.truth) for each in writer.told] == [(None, None)] * 3
    # From the second round on the guess is another one.
    assert [each.inference.guesses[0] for each in writer.told if each.inference] == [
        "male",
        *["nobody knows"] * 2,
    ]


@pytest.mark.parametrize("name", list(VARIANTS))
def test_every_variant_shows_what_it_says(name: str) -> None:
    variant, writer = VARIANTS[name], Writer(["partner"] * 3)
    outcome = protected(
        TEXT, {"sex": "male"}, {"sex": "female"}, variant, Reader({"wife": ("sex", "male")}), writer, same
    )
    first = writer.told[0]
    assert (first.target is not None) is variant.target
    assert (first.truth is not None) is variant.sees_truth
    assert (first.inference is not None) is variant.sees_inference
    assert len(writer.told) == (1 if variant.early_stopping else 3)
    assert outcome.truthful is not variant.target


def test_the_paper_has_six_variants() -> None:
    assert len(VARIANTS) == 6
    assert sum(each.hinted for each in VARIANTS.values()) == 1
    assert sum(not each.early_stopping for each in VARIANTS.values()) == 1


def test_attributes_are_protected_one_after_the_other_and_one_that_fails_stops_alone() -> None:
    class Refusing(Writer):
        def rewrite(self, text: str, wanted: Wanted) -> str | None:
            return None if wanted.attribute == "age" else super().rewrite(text, wanted)

    reader = Reader({"thesis defence": ("age", "27"), "wife": ("sex", "male")})
    truths, targets = {"age": "25", "sex": "male"}, {"age": "58", "sex": "female"}
    outcome = protected(TEXT, truths, targets, INCOGNITEXT, reader, Refusing(["partner"]), same)
    assert outcome.stops == {"age": "not rewritten", "sex": "no longer inferred"}
    assert outcome.text == TEXT.replace("wife", "partner")


def test_texts_of_known_authors_are_rewritten_and_others_stay() -> None:
    made: list[Mapping[str, str]] = []

    def adversary(shown: Mapping[str, str]) -> Adversary:
        made.append(shown)
        return Reader({"wife": ("sex", "male")})

    loop = Incognito(
        VARIANTS["target-hinted"],
        adversary,
        Writer(["partner"]),
        {TEXT: Author("7", {"sex": "male"})},
        same,
        drawn_target(KEY, same),
    )
    texts = [AnnotatedText(TEXT, []), AnnotatedText("It rained.", [])]
    assert loop.rewrite(texts) == [TEXT.replace("wife", "partner"), "It rained."]
    assert made == [{"sex": "male"}]
    assert loop.name == "target-hinted, writer (test double)"
    assert list(loop.outcomes) == [TEXT]
    assert "male" not in repr(loop) and "wife" not in repr(loop)


# -- targets ----------------------------------------------------------------------------------------------


@given(st.sampled_from(["18", "40", "43", "80"]), st.text())
def test_a_chosen_target_stands_unless_it_is_the_truth(truth: str, author: str) -> None:
    otherwise = drawn_target(KEY, same)
    draw = chosen_target({"age": "40"}, same, otherwise)
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


def test_nationality_is_drawn_from_countries_and_what_has_no_values_is_an_error() -> None:
    assert drawn_target(KEY, same)("1", "nationality", "Chile") in VALUES["country"]
    with pytest.raises(KeyError):
        drawn_target(KEY, same)("1", "shoe size", "42")


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_randomized_response_keeps_the_truth_as_often_as_it_says(epsilon: float) -> None:
    draw, values = randomized_response(KEY, epsilon, same), VALUES["relationship"]
    n = 4_000
    drawn = Counter(draw(str(author), "relationship", "married") for author in range(n))
    keeps = math.exp(epsilon) / (math.exp(epsilon) + len(values) - 1)
    for value in values:
        share = keeps if value == "married" else (1 - keeps) / (len(values) - 1)
        assert abs(drawn[value] / n - share) < 4 * math.sqrt(share * (1 - share) / n)
    # Each pair of truths differs by a factor of e^epsilon at most, and some by that.
    assert math.isclose(keeps / ((1 - keeps) / (len(values) - 1)), math.exp(epsilon))


def test_an_epsilon_below_nought_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^epsilon is -1: give 0 or more$"):
        randomized_response(KEY, -1, same)


# -- the language model -----------------------------------------------------------------------------------


@dataclass
class Scripted:
    """Gives its answers in turn."""

    answers: list[str]
    name = "scripted (test double)"
    context_tokens = 8_192
    asked: list[Sequence[ChatMessage]] = field(default_factory=list, repr=False)

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(len(each.content.split()) for each in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        self.asked.append(messages)
        return self.answers.pop(0)


INFERRED = (
    'Here you are: {"inferences": [{"attribute": "sex", "reasoning": "a wife", "certainty": 4,'
    ' "guesses": ["male", "female", "x", "y"]}, {"attribute": "age", "reasoning": "",'
    ' "guesses": [27, "30"], "certainty": "high"},'
    ' {"attribute": "shoe", "guesses": ["1"]}, {"attribute": "sex", "guesses": ["female"]}, 3]}'
)


def test_inferences_are_read_from_whatever_a_model_wraps_them_in() -> None:
    model = Scripted([INFERRED, "I cannot do that.", '{"inferences": []}'])
    adversary = ModelAdversary(Asker(model), ["age", "sex"])
    first, second = adversary.infer([TEXT, "It rained."])
    assert first["sex"] == Inference(("male", "female", "x"), 0.8, "a wife")
    assert first["age"] == Inference(("27", "30"), 0.2, "")
    assert second == {}
    assert model.asked[0][1].content.startswith("Attributes: age, sex\n")
    assert model.asked[2][3].content.startswith(REPAIR)
    assert adversary.name == "adversary (scripted (test double), prompt infer_attributes v1)"
    assert "wife" not in repr((adversary, first))


def test_an_adversary_is_told_the_truths_that_a_variant_shows_it() -> None:
    model = Scripted([INFERRED])
    ModelAdversary(Asker(model), ["sex"], {"sex": "male"}).infer([TEXT])
    assert "\nTrue sex: male\n" in model.asked[0][1].content


def test_a_rewriter_shows_what_it_is_given_and_reads_behind_the_mark() -> None:
    model = Scripted(["I changed one word.\n#\nMy partner slept.", "My partner slept.", "no"])
    rewriter = ModelRewriter(Asker(model))
    wanted = Wanted("sex", "female", "male", Inference(("male", "female"), 0.8, "a wife"))
    assert rewriter.rewrite("My wife slept.", wanted) == "My partner slept."
    said = model.asked[0][1].content
    assert "Wanted value: female\nTrue value: male\nA reader guessed: male; female\n" in said
    assert "The reader's reasons: a wife" in said
    assert rewriter.rewrite("My wife slept.", Wanted("sex")) is None
    assert "Wanted" not in model.asked[1][1].content and "True value" not in model.asked[1][1].content
    assert rewriter.name.endswith("prompt rewrite_toward v1, rewrite_without v1)")


@pytest.mark.parametrize("target", [None, "female"])
def test_a_rewriter_does_not_ask_for_a_text_that_would_be_cut_off(target: str | None) -> None:
    model = Scripted(["#\nshort"])
    rewriter = ModelRewriter(Asker(model))
    assert rewriter.rewrite("kiln " * 1201, Wanted("sex", target)) is None
    assert not model.asked
    assert rewriter.rewrite("kiln " * 1200, Wanted("sex", target)) == "short"
