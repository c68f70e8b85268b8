"""Attribute inference: matching, measures, clues, heads, the task and the audit. All people are invented."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.attacks import attributes
from eval.attacks.attribute_truths import KnownText, as_numbers, known_texts, truths_in, truths_of, value_of
from eval.attacks.attributes import ATTRIBUTES, CLUES, AttributeAttack, ClueReader
from eval.corpora.corpus import fields_in
from eval.experiment import NOT_SANITIZED, SanitizedCorpus
from eval.measures import inferred as measured
from eval.measures.inferred import inferred, jaro, matched, protection, protection_in, similarity
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.progress import no_progress
from eval.rows import Row
from eval.studies.audit.measures import Grounds, inferring
from eval.targets import reading_once
from eval.tasks.inferred import InferredTask, figures_of, most_frequent
from ingest.documents import Document, Risk, SanitizedDocument
from ingest.protecting.adversary import Inference
from ingest.protecting.targets import SAME_SET, VALUES
from ingest.read.reading import Fields
from models.attributes import Head, Heads, KnownTexts, Learned, load_heads, weights_of
from models.catalog import ModelRef
from models.encoders.minilm import MiniLM
from models.errors import ConfigurationError, ModelUnavailable
from models.training.attributes import AttributeRecipe, fit_head, folds_of, kept_apart, temperature
from models.training.commands import make_attributes
from tests.commands import write_lines

NURSE = "I looked after twelve patients on my ward last night and gave out their medication."
COOK = "My restaurant kitchen was full, the guests ordered every dish on the menu."
LISBON = "The tram in Lisbon was late again, so I paid for a taxi in Portugal."


def test_similarity_of_strings_by_hand() -> None:
    # Winkler's own examples: 6 letters in common, one pair moved; then 3 letters of a common beginning.
    assert jaro("martha", "marhta") == pytest.approx((1 + 1 + 5 / 6) / 3)
    assert similarity("martha", "marhta") == pytest.approx(0.9611, abs=1e-4)
    assert similarity("dixon", "dicksonx") == pytest.approx(0.8133, abs=1e-4)
    assert similarity("", "abc") == 0 and similarity("abc", "abc") == 1


@given(st.text(max_size=8), st.text(max_size=8))
def test_similarity_is_a_share_and_symmetric_in_what_is_common(one: str, other: str) -> None:
    assert 0 <= similarity(one, other) <= 1
    assert (jaro(one, other) > 0) == (jaro(other, one) > 0)
    assert similarity(one, one) == 1


@pytest.mark.parametrize(
    ("attribute", "score", "pairs"),
    [
        ("age", 1.0, [("41", "46"), ("40-49", "41"), ("40-50", "42 to 60"), ("60+", "81")]),
        ("age", 0.5, [("41", "47"), ("40-49", "38"), ("40-50", "45 to 60")]),
        ("age", 0.0, [("41", "52"), ("a lot", "81")]),
        ("sex", 1.0, [("Woman", "female")]),
        ("sex", 0.0, [("f", "male"), ("somebody", "male")]),
        ("country", 1.0, [("Lisbon", "Portugal"), ("Lisbon", "lisbon, portugal")]),
        ("country", 0.5, [("Portugal", "Lisbon, Portugal")]),
        ("country", 0.0, [("Paris", "Parma")]),
        ("occupation", 1.0, [("nurse", "Nurse")]),
        ("occupation", 0.5, [("nurse", "school nurse")]),
        ("occupation", 0.0, [("school nurse", "nurse"), ("", "nurse")]),
    ],
)
def test_a_guess_is_right_less_precise_or_wrong(
    attribute: str, score: float, pairs: list[tuple[str, str]]
) -> None:
    assert {pair: matched(attribute, *pair) for pair in pairs} == dict.fromkeys(pairs, score)


def row(**attributes: tuple[float, float, float, float]) -> Row:
    """Of each attribute that is known whether it was inferred, nearly, among three, and by the prior."""
    parts = (measured.KNOWN, measured.RIGHT, measured.LENIENT, measured.THREE, measured.PRIOR)
    figures = {
        part + name: value
        for name, told in attributes.items()
        for part, value in zip(parts, (1, *told), strict=True)
    }
    return Row(system="s", task="t", case=str(len(figures)), figures=figures)


def test_figures_by_hand() -> None:
    # Three documents: sex is known of all and inferred of two, age of one and nearly inferred.
    rows = [row(sex=(1, 1, 1, 1), age=(0, 0.5, 1, 1)), row(sex=(1, 1, 1, 1)), row(sex=(0, 0, 1, 0))]
    failed = Row(system="s", task="t", case="x", failure="not sanitized")
    both, sex = inferred([*rows, failed], ("age", "sex")), inferred([*rows, failed], ("sex",))
    assert (both.strict.hits, both.strict.n, sex.strict.hits, sex.strict.n) == (2, 4, 2, 3)
    assert both.lenient.value == pytest.approx(2.5 / 4)
    assert both.first_three.value == 1.0
    assert (both.prior.value, both.prior.low) == (0.75, None)
    assert inferred(rows, ("health",)).strict.value is None
    assert protection_in(rows[::2], ("age", "sex")).individual.value == pytest.approx((0.25 + 1) / 2)


people = st.lists(st.integers(0, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=8)


@given(people)
def test_protection_by_hand(people: list[tuple[int, int]]) -> None:
    # IPR = mean(1 - 1/2, 1 - 0/4, 1 - 1.5/2); CPR = 1 - 2.5/8; who has nothing to infer is no case.
    by_hand = protection([(1, 2), (0, 4), (1.5, 2), (0, 0)])
    assert by_hand.individual.value == pytest.approx((0.5 + 1 + 0.25) / 3)
    assert by_hand.collective.value == pytest.approx(1 - 2.5 / 8)
    with pytest.raises(ValueError, match="scores more than there is to infer"):
        protection([(2, 1)])
    found = protection(people)
    for each in (found.individual, found.collective):
        assert each.value is None or 0 <= each.value <= 1
    assert (found.individual.value is None) == (not any(n for _, n in people))


@pytest.mark.parametrize(
    ("attribute", "told"),
    [
        ("age", {"41": "40-49", "41.0": "40-49", "19": "10-19", "88 to 90": "60+", "unknown": None}),
        ("sex", {"Woman": "female", "M": "male", "banana": None, "": None}),
        ("country", {"lisbon, portugal": "PT", "Texas / United States": "US"}),
        ("nationality", {"Türkiye": "TR", "Nowhere at all": None}),
        ("occupation", {"part-time nurses": "health care", "Retired teacher": "education", "wizard": None}),
        ("relationship", {"Widowed": "single", "engaged": "in a relationship"}),
        ("health", {"type 2 diabetes": "condition of metabolism or hormones"}),
    ],
)
def test_what_is_said_becomes_a_value(attribute: str, told: dict[str, str | None]) -> None:
    assert {said: value_of(attribute, said) for said in told} == told


def test_records_say_what_is_known_in_several_words() -> None:
    told = {"Gender": "F", "marital_status": "married", "age": 33, "pet": "dog", "job": None}
    assert truths_of({**told, "condition": "asthma; gout"}) == {
        "sex": ("female",),
        "relationship": ("married",),
        "age": ("30-39",),
        "health": ("condition of the lungs", "condition of metabolism or hormones"),
    }
    assert truths_in({"a": {"sex": "f"}, "b": {"sex": "?"}}) == {"a": {"sex": ("female",)}}
    with pytest.raises(ConfigurationError, match="None of the attributes of 2 records .* Name them age,"):
        truths_in({"a": {"pet": "dog"}, "b": {}})


def test_the_field_of_the_records(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    write_lines(path, [{"text": "One.", "profile": {"age": 41}}, {"text": "Two.", "profile": "41"}])
    assert list(fields_in([str(path)], "profile", Fields()).values()) == [{"age": 41}]
    with pytest.raises(ConfigurationError, match="No record has named values in a field 'about'. Name"):
        fields_in([str(path)], "about", Fields())
    missing = "holds no corpus that the heads could learn from: spia, aci_bench"
    with pytest.raises(ConfigurationError, match=missing):
        known_texts(tmp_path)


def spoken(text: str) -> dict[tuple[str, str, str], float]:
    names = attributes.value_names()
    return {
        (attribute, names[attribute][place], CLUES[column]): count
        for (attribute, place, column), count in attributes.counted(text).items()
    }


def test_words_and_codes_speak_for_values() -> None:
    found = spoken("I'm a nurse of 34 years of age. My husband paid ₹900 #MarriedLife, call +64 21 555 0100")
    assert found["occupation", "health care", "naming words"] == 1
    assert found["occupation", "health care", "said"] == 1
    assert found["sex", "female", "pointing words"] == 1
    assert found["relationship", "married", "pointing words"] == 2
    assert found["age", "30-39", "said"] == 1
    assert found["country", "IN", "said"] == found["nationality", "NZ", "said"] == 1
    assert spoken(LISBON)["country", "PT", "named town"] == 1
    assert spoken("mail to x@mill.example.ie or IE-ID-000")["country", "IE", "said"] == 2
    assert spoken("") == {}


def test_the_name_that_a_text_begins_with() -> None:
    names = {"@clara_mill42 : good morning": "Clara Mill", "@claramill : good morning": "Clara Mill"}
    names |= {"write to x@mill.example, says Clara": "Clara", "Person A wrote to a person.": ""}
    assert {text: attributes.name_in(text) for text in names} == names


def test_every_value_can_be_read_and_is_a_target() -> None:
    every = attributes.values()
    assert tuple(every) == ATTRIBUTES
    for attribute, rows in every.items():
        assert len({each.name for each in rows}) == len(rows) > 1, attribute
        assert all(each.sentences for each in rows), attribute
        targets = VALUES[SAME_SET.get(attribute, attribute)]
        assert len({value_of(attribute, each) for each in targets} - {None}) >= 2, attribute
    assert attributes.bands()[0] == (10, 19) and attributes.bands()[-1] == (60, 120)
    assert 100 < len(every["country"]) < 250


def test_texts_are_read_alike_alone_and_together(minilm: MiniLM) -> None:
    reader = ClueReader(minilm, ("sex", "occupation"))
    texts = [NURSE, "", COOK]
    together, alone = reader.read(texts), [reader.read([each]) for each in texts]
    for place, each in enumerate(alone):
        np.testing.assert_allclose(together.vectors[place], each.vectors[0], atol=1e-5)
        clues = each.clues["occupation"][0]
        np.testing.assert_allclose(together.clues["occupation"][place], clues, atol=1e-5)
    assert together.clues["sex"].shape == (3, 2, len(CLUES))
    assert reader.read([]).vectors.shape == (0, 768)


def some_texts(n: int = 60, seed: int = 0) -> KnownTexts:
    """Two values: the first number of the vector tells them apart, three times of four."""
    chance = np.random.default_rng(seed)
    truths = np.arange(n) % 2
    vectors = chance.normal(size=(n, 4))
    vectors[:, 0] += np.where(chance.random(n) < 0.85, truths, 1 - truths) * 4 - 2
    learned = Learned(vectors, np.zeros((n, 2, 3)), truths, np.ones(n))
    return KnownTexts("sex", ("a", "b"), learned, [str(each // 2) for each in range(n)], ["mill"] * n)


def test_a_head_learns_and_gives_probabilities() -> None:
    texts, recipe = some_texts(), AttributeRecipe()
    head = fit_head("sex", ("a", "b"), texts.learned, recipe, reads_vectors=True)
    again = fit_head("sex", ("a", "b"), texts.learned, recipe, reads_vectors=True)
    assert np.array_equal(head.vectors, again.vectors)
    told = head.probabilities(texts.learned.vectors, texts.learned.clues)
    np.testing.assert_allclose(told.sum(axis=1), 1)
    found = kept_apart(texts, recipe)
    assert found.figures["mill"]["right"] > found.figures["mill"]["most_frequent"] + 0.15
    assert found.beats_prior
    assert 0.5 <= temperature(found.told, texts.learned.truths) <= 5
    # Texts of a person are in one fold.
    folds = folds_of(["a", "b", "a", "c", "b"], 5)
    assert folds[0] == folds[2] and folds[1] == folds[4]


def test_probabilities_by_hand() -> None:
    # Scores 0 + 2 * 1 and log 3 + 2 * 0, halved.
    priors, two = np.array([0, np.log(3)]), np.array([2.0])
    head = Head("sex", ("a", "b"), priors, two, np.zeros((2, 0)), two)
    told = head.probabilities(np.zeros((1, 4)), np.array([[[1.0], [0.0]]]))
    assert told[0, 0] == pytest.approx(np.e / (np.e + np.sqrt(3)))


def test_a_head_that_learned_nothing_is_left_out(tmp_path: Path) -> None:
    texts = some_texts()
    Random(1).shuffle(shuffled := list(range(60)))
    noise = Learned(np.zeros((60, 4)), np.zeros((60, 2, 3)), texts.learned.truths[shuffled], np.ones(60))
    useless = KnownTexts("age", ("a", "b"), noise, texts.groups, texts.corpora)
    said: list[str] = []
    card = make_attributes([texts, useless], tmp_path, AttributeRecipe(), said.append)
    assert (list(card["values"]), card["left_out"], said) == (["sex"], ["age"], ["sex", "age"])
    made = ModelRef(source="path", name=str(tmp_path))
    heads = load_heads(made, {"sex": ("a", "b")}).heads
    assert (list(heads), heads["sex"].values, heads["sex"].vectors.shape) == (["sex"], ("a", "b"), (2, 4))
    names = ["sex.clues", "sex.priors", "sex.spread", "sex.vectors"]
    assert sorted(weights_of([heads["sex"]])) == names
    version = "The head sex of lethe-attributes is of another version: train it"
    with pytest.raises(ModelUnavailable, match=version):
        load_heads(made, {"sex": ("a", "c")})
    with pytest.raises(ConfigurationError, match="No head is better than guessing: give more text"):
        make_attributes([useless], tmp_path, AttributeRecipe(), said.append)


def knowing_jobs(minilm: MiniLM) -> AttributeAttack:
    """Heads that learned from a few invented texts."""
    texts = [
        KnownText(f"{text} {n}", {"occupation": (job,)}, f"{job}{n}", "posts")
        for job, text in (("health care", NURSE), ("hospitality", COOK))
        for n in range(4)
    ]
    reader = ClueReader(minilm, ("occupation",))
    (learned,) = as_numbers(texts, reader.read([each.text for each in texts]), [], minilm)
    head = fit_head("occupation", learned.values, learned.learned, AttributeRecipe(), reads_vectors=True)
    return AttributeAttack(minilm, Heads("invented", {"occupation": head}))


def kept(failed: Mapping[str, str], **texts: str) -> SanitizedCorpus:
    risk = Risk(0.0, 0.0, "none")
    documents = [SanitizedDocument(name, text, (), (), risk, "origin", 0) for name, text in texts.items()]
    return SanitizedCorpus("s", len(texts), failed, {}, lambda encoder: pytest.fail("not asked"), documents)


DOCUMENTS = [Document("n", NURSE), Document("c", COOK), Document("x", "Gone.")]
TRUTHS = {"n": {"occupation": ("health care",)}, "c": {"occupation": ("hospitality",)}}


def test_the_task_counts_what_is_inferred(minilm: MiniLM) -> None:
    task = InferredTask(DOCUMENTS, knowing_jobs(minilm), TRUTHS)
    assert task.name == "attributes, invented"
    assert (list(task.cases), task.sensitive) == (["n", "c", "x"], NOTHING_SENSITIVE)
    rows = list(task.rows(kept({"x": "Broken"}, n=NURSE, c=COOK), task.cases, no_progress))
    assert [each.failure for each in rows] == ["", "", "Broken"]
    found = inferred(rows, ("occupation",))
    assert (found.strict.value, found.prior.value) == (1.0, 0.5)
    nothing = list(task.rows(kept({}, n="A text.", c="A text."), task.cases, no_progress))
    assert inferred(nothing, ("occupation",)).strict.value <= 0.5  # type: ignore[operator]
    assert nothing[2].failure == NOT_SANITIZED
    for each in rows:
        assert "ward" not in repr(each) + each.model_dump_json()


def test_one_document_by_hand() -> None:
    age, health = ("30-39", "40-49", "20-29"), ("injury", "cancer", "allergy")
    guessed = {"age": Inference(age, 0.4), "health": Inference(health, 0.9)}
    truths = {"age": ("40-49",), "health": ("allergy", "injury"), "sex": ("male",)}
    found = figures_of(guessed, truths, most_frequent([truths, {"age": ("30-39",)}, {"age": ("30-39",)}]))
    assert found == {
        "known: age": 1, "right: age": 0, "right or half right: age": 0.5, "among three: age": 1,
        "right by prior: age": 0, "certainty: age": 0.4,
        "known: health": 1, "right: health": 1, "right or half right: health": 1, "among three: health": 1,
        "right by prior: health": 1, "certainty: health": 0.9,
    }  # fmt: skip
    # A country is not near another whose code names a place: IN and CA are also parts of the United States.
    country = {"country": Inference(("IN", "CA", "US"), 0.4)}
    found = figures_of(country, {"country": ("US",)}, {"country": "US"})
    assert (found["right or half right: country"], found["among three: country"]) == (0, 1)


def test_the_shipped_heads_infer_and_find_nothing_where_nothing_is(minilm: MiniLM) -> None:
    attack = attributes.attribute_attack(minilm)
    assert {"sex", "country", "occupation", "relationship"} <= set(attack.attributes)
    nurse = "I'm a nurse and my husband and I love our kids #MarriedLife"
    dad = "My wife says I should trim my beard. I am a dad of two."
    told = attack.infer([nurse, LISBON, dad, "[PERSON] wrote to [PERSON] on [DATE]."])
    assert told[0]["occupation"].guesses[0] == "health care"
    assert told[0]["relationship"].guesses[0] == "married"
    assert told[0]["sex"].guesses[0] == "female" and told[2]["sex"].guesses[0] == "male"
    assert told[1]["country"].guesses[0] == "PT" and told[1]["country"].certainty >= 0.8
    assert max(each.certainty for each in told[3].values()) < 0.8
    assert attack.infer([]) == []


def test_the_measure_of_the_audit(minilm: MiniLM) -> None:
    read = reading_once(minilm)
    (measure,) = inferring(Grounds(DOCUMENTS, NOTHING_SENSITIVE, read, "quick", 3, 0, attributes=TRUTHS))
    assert (measure.name, measure.shown_on, list(measure.task.cases)) == ("inferred", "origin", ["n", "c"])
    rows = list(measure.task.rows(kept({}, n=NURSE, c=COOK), measure.task.cases, no_progress))
    assert measure.chance is not None
    assert (measure.value(rows).value, measure.chance(rows).value) == (1.0, 0.5)
    assert not [*inferring(Grounds(DOCUMENTS, NOTHING_SENSITIVE, read, "quick", 3, 0))]
