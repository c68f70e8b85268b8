"""LPRAG in both modes: what comes out, what it costs, and what cannot come out. All people are invented."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.local_privacy import exponential_probabilities
from ingest.deciding.baselines.lprag import CONSTANT, FILLERS, Lprag, Mode
from ingest.deciding.baselines.lprag_domains import DOMAINS, Numbers, Words, vocabulary
from ingest.documents import Action, Decision, Document, SanitizedDocument
from ingest.labels import LABELS, label_of
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer, annotate
from ingest.scoring.prior import RiskPrior
from ingest.wording.replace import apply
from models.encoders.minilm import MiniLM
from models.errors import ConfigurationError
from models.vectors import Vectors
from tests.doubles import PhraseDetector, WordEncoder
from tests.strategies import sentences_about_people

MODES: tuple[Mode, ...] = ("ldp", "compat")
PHRASES = {
    "Anna Zeller-Quist": "person full name", "Zeller-Quist's": "person full name",
    "a.zeller@example.org": "email address", "34-year-old": "person age", "Bremen": "city name",
    "Ada's ward": "witness code", "12 March 2019": "date", "three weeks": "duration",
    "MRN 4471902": "medical record number",
}  # fmt: skip
TEXT = (
    "Anna Zeller-Quist, a 34-year-old from Bremen, was seen on 12 March 2019 in Ada's ward after three weeks"
    " (MRN 4471902). Write to a.zeller@example.org. Zeller-Quist's way back to Bremen was long."
)
DRAWN = {"person full name", "person age", "city name", "date", "duration"}


class Remembering(WordEncoder):
    """Each word encoded once for all tests."""

    known: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.known.update({text: self._vector(text) for text in texts if text not in self.known})
        return np.array([self.known[text] for text in texts], np.float32).reshape(-1, self.dim)


class Weighing(random.Random):
    """Notes the weights of each weighted draw."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.weights: list[Sequence[float]] = []

    def choices(self, population: Any, weights: Any = None, **rest: Any) -> list[Any]:
        self.weights.append(weights)
        return super().choices(population, weights, **rest)


def annotated(text: str = TEXT, phrases: dict[str, str] = PHRASES) -> AnnotatedText:
    (found,) = annotate(PhraseDetector(phrases), [Document("d", text)])
    return found


def lprag(mode: Mode = "ldp", epsilon: float = 5.0, seed: int = 7) -> Lprag:
    return Lprag(Remembering(), mode, epsilon, random.Random(seed))


def decided(method: Method, text: AnnotatedText) -> Sequence[Decision]:
    (found,) = method.decide([text], RiskPrior().hazards([text]))
    return found


def by_said(text: AnnotatedText, decisions: Sequence[Decision]) -> dict[str, Decision]:
    return {text.text[d.entity.span.start : d.entity.span.end]: d for d in decisions}


def test_every_domain_is_of_a_label_without_a_fixed_format_and_writes_all_that_lies_in_it() -> None:
    assert DOMAINS.keys() <= LABELS.keys() and not [label for label in DOMAINS if label_of(label).rigid]
    for domain in DOMAINS.values():
        if isinstance(domain, Words):
            items = domain.listed()
            assert len(items) == len(set(items)) >= 20
            assert all(item.strip() == item != "" for item in items)
            assert domain.listed() is items
        else:
            reach = domain.high - domain.low
            written = [domain.write(domain.low + reach * part / 50) for part in range(51)]
            assert len(set(written)) > 20
            assert domain.read(written[-1]) == pytest.approx(domain.high)


@pytest.mark.parametrize(
    ("label", "said", "value"),
    [
        ("person age", "34-year-old", 34), ("person age", "forty-two years old", 42),
        ("person age", "18 months old", 1.5), ("person age", "in her sixties", None),
        ("person height", "5'11\"", 180.34), ("duration", "2-3 weeks", math.log10(14)),
        ("duration", "3 years and 2 months", math.log10(1155)),
        ("monetary amount", "$4.5 million", math.log10(4.5e6)),
        ("monetary amount", "two thousand five hundred dollars", math.log10(2500)), ("dosage", "0 mg", -9),
        ("date", "summer of 2019", "2019-07-15"), ("date of birth", "3 May", "1980-05-03"),
        ("date of birth", "1812-05-03", "1930-05-03"), ("date", "last Monday", None),
    ],
)  # fmt: skip
def test_numbers_are_read(label: str, said: str, value: float | str | None) -> None:
    domain = DOMAINS[label]
    assert isinstance(domain, Numbers)
    read = domain.read(said)
    if isinstance(value, str):
        assert read is not None
        assert domain.write(read) == value
    else:
        assert read == (None if value is None else pytest.approx(value))


@given(said=st.text(max_size=30) | st.from_regex(r"[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,4}"))
def test_no_text_is_too_odd_to_be_read(said: str) -> None:
    for domain in DOMAINS.values():
        if isinstance(domain, Numbers):
            value = domain.read(said)
            assert value is None or not math.isnan(value)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=30, deadline=None)
@given(text=sentences_about_people(), seed=st.integers(0, 99))
def test_nothing_is_kept_and_the_budget_is_spent_exactly(mode: Mode, text: AnnotatedText, seed: int) -> None:
    method = lprag(mode, 3.0, seed)
    decisions = decided(method, text)
    assert [decision.entity for decision in decisions] == list(text.entities)
    assert {decision.action for decision in decisions} <= {Action.SURROGATE, Action.GENERALIZE}
    assert all((d.action is Action.SURROGATE) == bool(d.replacement) for d in decisions)
    budget = method.budget(text)
    assert not budget or math.fsum(budget.values()) == pytest.approx(3.0)
    assert len(set(budget.values())) <= 1
    assert {d.entity.link for d in decisions if d.action is Action.SURROGATE} <= budget.keys()
    assert method.name == {"ldp": "lprag", "compat": "lprag-compat"}[mode]


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_draws_by_its_seed_or_the_operating_system_and_of_no_entities_for_nothing(mode: Mode) -> None:
    text = annotated()
    assert decided(lprag(mode), text) == decided(lprag(mode), text)
    assert len({decided(lprag(mode, seed=seed), text)[0].replacement for seed in range(30)}) > 1
    assert isinstance(Lprag(Remembering(), mode)._rewording._rng, random.SystemRandom)
    empty = AnnotatedText("Nobody was here.", [])
    assert (decided(lprag(mode), empty), lprag(mode).budget(empty)) == ([], {})


@pytest.mark.parametrize("epsilon", [0.0, -5.0, math.nan, math.inf])
def test_a_budget_out_of_range_is_refused(epsilon: float) -> None:
    told = rf"^The privacy budget epsilon of lprag is {epsilon}; set it to a number from 0\.001 to 700\.$"
    with pytest.raises(ConfigurationError, match=told):
        Lprag(Remembering(), "ldp", epsilon)


def test_the_budget_is_shared_by_what_is_drawn_and_by_nothing_else() -> None:
    text = annotated()
    budget = lprag("ldp", 5.0).budget(text)
    assert list(budget.values()) == pytest.approx([1.0] * 5)
    assert {e.label for e in text.entities if e.link in budget} - {"email address"} == DRAWN
    assert lprag().budget(annotated("MRN 4471902", PHRASES)) == {}


def test_mentions_of_one_link_get_the_same_words_and_no_value_survives_but_one_that_was_drawn() -> None:
    text = annotated()
    returned = 0
    for seed in range(300):
        found = by_said(text, decisions := decided(lprag(epsilon=40.0, seed=seed), text))
        assert found["Anna Zeller-Quist"].entity.link == found["Zeller-Quist's"].entity.link
        assert found["Anna Zeller-Quist"].replacement == found["Zeller-Quist's"].replacement
        for said in ("a.zeller@example.org", "MRN 4471902", "Ada's ward"):
            assert (found[said].action, found[said].reason) == (Action.GENERALIZE, CONSTANT)
        assert found["34-year-old"].replacement.removesuffix(" years old").isdecimal()
        assert found["three weeks"].replacement.removesuffix(" days").isdecimal()
        rendered = apply(text, decisions).residual.text
        for said in ("Zeller", "Quist", "34-year", "12 March", "three weeks", "4471902", "Ada's"):
            assert said not in rendered
        first, *others = [d.replacement for d in decisions if d.entity.label == "city name"]
        assert set(others) == {first} and rendered.count("Bremen") == [first, *others].count("Bremen")
        returned += "Bremen" in rendered
    assert 0 < returned < 300


def weights_for(said: str, label: str, epsilon: float, others: str = "") -> Sequence[float]:
    """The exact probabilities with which a list was drawn from for a value."""
    rng = Weighing(7)
    decided(Lprag(Remembering(), "ldp", epsilon, rng), annotated(said + others, PHRASES | {said: label}))
    return rng.weights[0]


@pytest.mark.parametrize("label", ["city name", "symptom", "religion", "job title"])
def test_any_two_values_draw_from_one_list_within_e_to_the_share_of_epsilon(label: str) -> None:
    values = ("Bremen", "cough", "Buddhist", "nurse", "Anna Qwyx", "no such thing at all")
    share = 2.0
    drawn = [weights_for(each, label, 2 * share, ", three weeks") for each in values]
    domain = DOMAINS[label]
    assert isinstance(domain, Words)
    for one in drawn:
        assert len(one) == len(domain.listed())
        for other in drawn:
            assert max(a / b for a, b in zip(one, other, strict=True)) <= math.exp(share)
    encoder = Remembering()
    cosines = encoder.encode(domain.listed()) @ encoder.encode(values[:1])[0]
    utilities = ((1 + cosines.astype(float)) / 2).tolist()
    assert drawn[0] == pytest.approx(exponential_probabilities(utilities, share), rel=1e-5)
    assert drawn[0] != pytest.approx(drawn[-1], rel=1e-2)


def test_what_holds_no_number_is_drawn_from_the_whole_range_too() -> None:
    for said in ("34-year-old", "of an age"):
        text = annotated(said, {said: "person age"})
        drawn = {decided(lprag(epsilon=3.0, seed=seed), text)[0].replacement for seed in range(300)}
        assert {"0 years old", "120 years old"} < drawn
        assert len(drawn) > 40
        assert all(words.endswith(" years old") for words in drawn)


def test_labels_of_one_link_share_the_domain_of_its_first_mention() -> None:
    text = annotated("A fever, said to be Fever.", {"fever": "symptom", "Fever": "diagnosis"})
    first, second = decided(lprag(), text)
    assert first.entity.link == second.entity.link
    symptoms = DOMAINS["symptom"]
    assert isinstance(symptoms, Words)
    assert first.replacement == second.replacement
    assert first.replacement in symptoms.listed()


def test_contract_with_the_sanitizer_and_the_real_encoder() -> None:
    phrases = {"Buddhist": "religion", "34-year-old": "person age", "a.zeller@example.org": "email address"}
    text = "The Buddhist is a 34-year-old, write to a.zeller@example.org. A Buddhist it is."
    encoder = MiniLM()
    for epsilon, returns in ((700.0, True), (0.01, False)):
        method = Lprag(encoder, "ldp", epsilon, random.Random(3))
        sanitizer = DecidingSanitizer(PhraseDetector(phrases), method, RiskPrior())
        done, empty = sanitizer.sanitize([Document("d", text), Document("e", "")])
        assert isinstance(done, SanitizedDocument) and isinstance(empty, SanitizedDocument)
        assert (empty.text, done.policy) == ("", "lprag")
        assert "34-year-old" not in done.text and "@" not in done.text
        assert ("Buddhist" in done.text) == ("34 years old" in done.text) == returns
        for decision, (start, end) in zip(done.decisions, done.places, strict=True):
            assert done.text[start:end].removeprefix("A ").removeprefix("An ") == decision.replacement


@pytest.mark.parametrize(
    ("said", "label", "epsilon"), [("Bremen", "city name", 5.0), ("Anna Qwyx", "person full name", 2.0)]
)
def test_a_word_is_kept_as_often_as_its_share_says(said: str, label: str, epsilon: float) -> None:
    method, text = lprag("compat", epsilon), annotated(f"Saw {said}.", {said: label})
    drawn = [decided(method, text)[0].replacement for _ in range(2000)]
    words = said.split()
    each = math.exp(epsilon / len(words))
    kept, draws = each / (each + 5), 2000 * len(words)
    share = sum(word in found.split() for found in drawn for word in words) / draws
    assert share == pytest.approx(kept, abs=4.5 * math.sqrt(kept * (1 - kept) / draws))


def test_the_five_nearest_words_are_the_neighbors() -> None:
    text = annotated("Saw Bremen.", {"Bremen": "city name"})
    method = lprag("compat", 1.0)
    cosines = Remembering().encode(vocabulary()) @ Remembering().encode(["bremen"])[0]
    nearest, *others = [vocabulary()[number] for number in np.argsort(-cosines)][:6]
    assert nearest == "bremen"
    found = {decided(method, text)[0].replacement for _ in range(200)} - {"Bremen"}
    assert found == {word.capitalize() for word in others}


def test_figures_are_moved_and_fillers_case_and_rigid_identifiers_are_not() -> None:
    text = annotated()
    ages, days = set(), set()
    for seed in range(150):
        found = by_said(text, decided(lprag("compat", 12.0, seed), text))
        age, *words = found["34-year-old"].replacement.split("-")
        assert words == ["year", "old"]
        ages.add(int(age))
        day, month, year = found["12 March 2019"].replacement.split(" ")
        assert month[0].isupper()
        days |= {int(day), int(year)}
        assert found["MRN 4471902"].action is Action.GENERALIZE
        assert found["a.zeller@example.org"].action is Action.GENERALIZE
        assert found["Anna Zeller-Quist"].replacement.count("-") == 1
        assert found["Ada's ward"].action is Action.SURROGATE
        assert "no formal guarantee" in found["Bremen"].reason
    assert (min(ages), max(ages), min(days), max(days)) == (0, 120, 0, 100)


def test_a_word_is_replaced_alike_wherever_its_entity_is_named() -> None:
    text, changed = annotated(), 0
    for seed in range(40):
        found = by_said(text, decided(lprag("compat", 1.0, seed), text))
        full, short = found["Anna Zeller-Quist"].replacement, found["Zeller-Quist's"].replacement
        assert full.split(" ")[-1] == short.split("'")[0]
        changed += "Zeller" not in full
    assert changed > 0


def test_a_mention_of_fillers_alone_is_not_left_as_it_is() -> None:
    text = annotated("Years old.", {"Years old": "person age"})
    (decision,) = decided(lprag("compat"), text)
    assert {"years", "old"} <= FILLERS
    assert (decision.action, decision.reason) == (Action.GENERALIZE, CONSTANT)
