"""What every sanitizer must do. To add one, add a line to SANITIZERS. All people are invented."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cache, partial
from math import inf
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.controls import Control
from ingest.deciding.baselines.dp_bart import DpBart
from ingest.deciding.baselines.entity_type import EntityType
from ingest.deciding.baselines.extract import Extract
from ingest.deciding.baselines.lprag import Lprag
from ingest.deciding.baselines.paraphrase import Paraphrase
from ingest.deciding.baselines.per_mention import PerMention
from ingest.deciding.baselines.synthetic import Synthetic
from ingest.deciding.baselines.uniform import INTACT, ORIGIN, REDACT, SUPPRESS
from ingest.deciding.baselines.within_rules import Chosen, Named, WithinRules, rules_alone
from ingest.deciding.lethe import Lethe
from ingest.deciding.policy import DEFAULT, DESCRIPTORS, HARD_RULES, Policy, PolicyName, Treatment
from ingest.deciding.treatment import MASK
from ingest.deciding.trip import Trip
from ingest.detection.own.detector import OwnDetector
from ingest.detection.own.lists import OwnEntities
from ingest.detection.presidio import PresidioDetector
from ingest.documents import Action, Decision, Document, Identifier, SanitizedDocument
from ingest.errors import SanitizationError
from ingest.labels import label_of
from ingest.linking.accounts import rigid_apart
from ingest.protocols import EntityDetector, Hazards, Method, RiskModel, Sanitizer, Wording
from ingest.sanitize import DecidingSanitizer, Rewriter, RewritingSanitizer
from ingest.scoring.engine import Engine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE, Weights
from ingest.wording.guessed import Guessed
from ingest.wording.pool import PoolGuesser
from ingest.wording.replace import apply
from ingest.wording.rungs import below
from ingest.wording.words import worded
from models.bits import embedded_bits
from models.language.protocol import ChatMessage
from models.vectors import Vectors
from tests.doubles import FailingDetector, Letters, PhraseDetector, WordEncoder
from tests.strategies import annotated_texts, overlapping_words, sentences_about_people

DETECTOR = PhraseDetector(
    {
        "Anna Zeller-Quist": "person full name",
        "Zeller-Quist": "person full name",
        "Tobias Orrin": "person full name",
        "a.zeller@example.org": "email address",
        "61": "person age",
        "Quarnby": "city name",
        "cough": "symptom",
    }
)
KEY = b"k" * 32
NOBODY, EMPTY, NAME_ONLY = "The heron was fed at noon.", "", "Anna Zeller-Quist"
TEXTS = [
    "Anna Zeller-Quist, 61, of Quarnby has a cough. Zeller-Quist wrote from a.zeller@example.org.",
    NOBODY,
    EMPTY,
    NAME_ONLY,
    "Tobias Orrin met Anna Zeller-Quist in Quarnby.\n\nTobias Orrin has a cough. 😀 He is 61.",
]
MARKS = ("Zeller", "Orrin", "a.zeller", "Quarnby")
BAD = "Tobias Orrin"

some_texts = st.one_of(annotated_texts(), sentences_about_people(), overlapping_words())
FEW = settings(max_examples=60, deadline=None)


class Remembering(WordEncoder):
    """Encodes each text once for all tests: the domains of LPRAG are long."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        empty = np.empty((0, self.dim), np.float32)
        return np.stack([self._once(text) for text in texts]) if texts else empty

    @staticmethod
    @cache
    def _once(text: str) -> Vectors:
        return WordEncoder()._vector(text)


class Scripted:
    """A language model that counts the words it was given."""

    name = "scripted"
    context_tokens = 1000

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(len(message.content.split()) for message in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        return f" Somebody said {len(messages[-1].content.split())} words.\n"


@dataclass(frozen=True)
class Result:
    """A mention as Presidio tells it."""

    entity_type: str
    start: int
    end: int
    score: float = 0.85


class PhraseAnalyzer:
    """Finds, in Presidio's words, what a detector of ours finds."""

    types = {"person full name": "PERSON", "email address": "EMAIL_ADDRESS", "city name": "LOCATION"}

    def __init__(self, detector: EntityDetector) -> None:
        self._detector = detector

    def analyze(self, text: str, language: str) -> Sequence[Result]:
        (found,) = self._detector.detect([Document("d", text)])
        return [Result(self.types[e.label], e.span.start, e.span.end) for e in found if e.label in self.types]


class FailingRisk(RiskPrior):
    """Fails on every text that names somebody, with a message that quotes it."""

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        stumble(texts)
        return super().hazards(texts)


@dataclass(frozen=True)
class Failing:
    """A method or a rewriter that fails on every text that names somebody, with a message that quotes it."""

    part: Any

    @property
    def name(self) -> str:
        return str(self.part.name)

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        stumble(texts)
        decided: list[Sequence[Decision]] = self.part.decide(texts, hazards)
        return decided

    def rewrite(self, texts: Sequence[AnnotatedText]) -> list[str]:
        stumble(texts)
        rewritten: list[str] = self.part.rewrite(texts)
        return rewritten


def stumble(texts: Sequence[AnnotatedText]) -> None:
    for text in texts:
        if BAD in text.text:
            raise RuntimeError(f"cannot go on with {text.text}")


@dataclass(frozen=True)
class Said:
    """What users say of labels and strings."""

    treatment: Treatment = field(default_factory=Treatment)
    own: OwnEntities = field(default_factory=OwnEntities)


Make = Callable[[EntityDetector, RiskModel, bool, Said], Sanitizer]
"""A new sanitizer over a detector and a risk model; the flag says whether its own part fails."""


def deciding(
    make: Callable[[Policy], Method], name: PolicyName = "trip", wording: Wording | None = None
) -> Make:
    def made(detector: EntityDetector, risk: RiskModel, failing: bool, said: Said) -> Sanitizer:
        policy = Policy(name, treatment=said.treatment)
        method = Failing(make(policy)) if failing else make(policy)
        return DecidingSanitizer(OwnDetector(detector, said.own), method, risk, policy, KEY, wording=wording)

    return made


def rewriting(make: Callable[[], Rewriter]) -> Make:
    def made(detector: EntityDetector, risk: RiskModel, failing: bool, said: Said) -> Sanitizer:
        return RewritingSanitizer(detector, Failing(make()) if failing else make(), risk)

    return made


def presidio_redact(detector: EntityDetector, risk: RiskModel, failing: bool, said: Said) -> Sanitizer:
    analyzer = PhraseAnalyzer(detector)
    return deciding(lambda _: REDACT)(PresidioDetector(analyzer, "phrases"), risk, failing, said)


def trip(policy: Policy = DESCRIPTORS, *, score_all: bool = False) -> Trip:
    return Trip(Engine(WordEncoder(), 32), EMBEDDED_SCALE, policy, score_all=score_all)


def by(policy: Policy) -> Method:
    """The method of a policy with a threshold, which scores all entities."""
    return Lethe(embedded_bits(), policy) if policy.name == "lethe" else trip(policy, score_all=True)


def within(chosen: Chosen, policy: Policy, seed: int = 0) -> WithinRules:
    scoring = by(replace(policy, name="trip"))
    return WithinRules(by(policy), by(rules_alone(policy)), chosen, seed, scoring)


def by_difference(policy: Policy) -> Trip:
    return trip(replace(policy, weights=Weights(marginal="difference")))


def lprag(compat: bool = False) -> Lprag:
    return Lprag(Remembering(), "compat" if compat else "ldp", rng=random.Random(7))


NOTHING_SAID = Said()
PARAPHRASE = "paraphrase (scripted, prompt paraphrase v2)"
DP_BART = "dp-bart (letters, epsilon 1 and delta 1e-05 a text, 1 of 6 neurons pruned)"
ANEW = (PARAPHRASE, DP_BART)
"""Nothing of the old text has to stand in theirs."""


@dataclass(frozen=True)
class Row:
    """A sanitizer, the name it tells, and what it promises.

    What draws for one document after the other is not the same alone. ``ruled`` says that it does as users
    say of labels and strings: not what changes nothing, nor what writes a text of its own.
    """

    policy: str
    make: Make
    takes_all: bool = False
    the_same_alone: bool = True
    ruled: bool = True

    def __call__(
        self,
        detector: EntityDetector = DETECTOR,
        risk: RiskModel | None = None,
        failing: bool = False,
        said: Said = NOTHING_SAID,
    ) -> Sanitizer:
        return self.make(detector, risk or RiskPrior(), failing, said)


SANITIZERS: Mapping[str, Row] = {
    "origin": Row("origin", deciding(lambda _: ORIGIN), ruled=False),
    "redact": Row("redact", deciding(lambda _: REDACT), takes_all=True),
    "suppress": Row("suppress", deciding(lambda _: SUPPRESS), takes_all=True),
    "entity-type": Row("entity-type", deciding(lambda _: EntityType()), takes_all=True),
    "presidio": Row("redact", presidio_redact, takes_all=True),
    "lethe": Row("lethe", deciding(by, "lethe", partial(worded, take=below(0.5)))),
    "intact": Row(
        "intact",
        deciding(lambda _: INTACT, "intact", Guessed(PoolGuesser(WordEncoder()), 0.5)),
        takes_all=True,
    ),
    "synthetic": Row("synthetic", deciding(lambda _: Synthetic()), takes_all=True),
    "trip": Row("trip", deciding(trip)),
    "trip-difference": Row("trip", deciding(by_difference)),
    "trip-mentions": Row(
        "trip, single mentions", deciding(lambda policy: PerMention(trip(policy), RiskPrior()))
    ),
    "random": Row("random", deciding(lambda policy: Control(trip(policy), "number"))),
    "frequency": Row(
        "random, frequency-matched", deciding(lambda policy: Control(trip(policy), "frequency"))
    ),
    "rules": Row("rules alone", deciding(lambda policy: Named(trip(rules_alone(policy)), "rules alone"))),
    "random-rules": Row("random within rules", deciding(partial(within, "random"))),
    "random-lethe": Row("random within rules", deciding(partial(within, "random"), "lethe")),
    "divergence-rules": Row("lowest divergence within rules", deciding(partial(within, "lowest divergence"))),
    "lprag": Row("lprag", deciding(lambda _: lprag()), takes_all=True, the_same_alone=False),
    "lprag-compat": Row("lprag-compat", deciding(lambda _: lprag(compat=True)), the_same_alone=False),
    "dp-bart": Row(
        DP_BART,
        rewriting(lambda: DpBart(Letters(), [0], 1.0, rng=random.Random(7))),
        the_same_alone=False,
        ruled=False,
    ),
    "extract": Row("extract", rewriting(lambda: Extract(WordEncoder())), ruled=False),
    "paraphrase": Row(PARAPHRASE, rewriting(lambda: Paraphrase(Scripted())), ruled=False),
}


@pytest.fixture(params=list(SANITIZERS))
def row(request: pytest.FixtureRequest) -> Row:
    return SANITIZERS[request.param]


def documents(texts: Sequence[str] = TEXTS) -> list[Document]:
    return [Document(f"d{number}", text) for number, text in enumerate(texts)]


def all_sanitized(sanitizer: Sanitizer, given: Sequence[Document]) -> list[SanitizedDocument]:
    outcomes = sanitizer.sanitize(given)
    sanitized = [each for each in outcomes if isinstance(each, SanitizedDocument)]
    assert len(sanitized) == len(outcomes) == len(given)
    return sanitized


# -- every sanitizer ---------------------------------------------------------------------------------------


def test_one_outcome_for_each_document_in_order_under_its_name(row: Row) -> None:
    sanitizer = row()
    outcomes = all_sanitized(sanitizer, documents())
    assert [each.doc_id for each in outcomes] == ["d0", "d1", "d2", "d3", "d4"]
    assert {sanitizer.name, *(each.policy for each in outcomes)} == {row.policy}
    assert sanitizer.sanitize([]) == []
    for document, outcome in zip(documents(), outcomes, strict=True):
        risk = outcome.risk
        assert 0 <= risk.before <= 1 and 0 <= risk.after <= 1 and risk.engine == "prior"
        for decision, (start, end) in zip(outcome.decisions, outcome.places, strict=True):
            span, kept = decision.entity.span, decision.action is Action.KEEP
            expected = document.text[span.start : span.end] if kept else decision.replacement
            assert outcome.text[start:end] == expected
    nobody, alone = outcomes[1], outcomes[3]
    assert (list(nobody.decisions), nobody.article_repairs) == ([], 0)
    assert nobody.text == NOBODY or row.policy in ANEW
    assert alone.risk.before > 0
    if row.takes_all:
        assert alone.risk.after < alone.risk.before
        for outcome in outcomes:
            assert all(decision.action is not Action.KEEP for decision in outcome.decisions)
            assert not any(mark in outcome.text for mark in MARKS)


@pytest.mark.parametrize("blank", [EMPTY, " \n\t"])
def test_an_empty_document_stays_empty(row: Row, blank: str) -> None:
    (outcome,) = all_sanitized(row(), [Document("d", blank)])
    assert (outcome.text.strip(), list(outcome.decisions), list(outcome.places)) == ("", [], [])
    assert (outcome.risk.before, outcome.risk.after) == (0, 0)


def test_the_same_again_when_made_again(row: Row) -> None:
    assert row().sanitize(documents()) == row().sanitize(documents())


@pytest.mark.parametrize("name", [name for name, row in SANITIZERS.items() if row.the_same_alone])
def test_the_same_alone_in_a_batch_and_in_any_order(name: str) -> None:
    sanitizer = SANITIZERS[name]()
    together = sanitizer.sanitize(documents())
    assert [sanitizer.sanitize([document])[0] for document in documents()] == together
    assert sanitizer.sanitize(documents()[::-1])[::-1] == together


@pytest.mark.parametrize("part", ["detection", "risk measurement", "method"])
def test_where_a_part_fails_that_document_fails_alone(row: Row, part: str) -> None:
    detector = FailingDetector(BAD) if part == "detection" else DETECTOR
    risk = FailingRisk() if part == "risk measurement" else None
    *good, bad = row(detector, risk, part == "method").sanitize(documents())
    assert [each.doc_id for each in good if isinstance(each, SanitizedDocument)] == ["d0", "d1", "d2", "d3"]
    assert isinstance(bad, SanitizationError)
    rewrites = row.policy in ("extract", *ANEW)
    step = part if part != "method" else "rewriting" if rewrites else "scoring"
    assert str(bad) == f"document d4 was not indexed: {step} failed (RuntimeError); nothing of it was kept"
    assert (bad.__cause__, bad.__context__) == (None, None)
    assert not any(mark in f"{bad!r} {vars(bad)}" for mark in MARKS)


def test_no_text_is_in_a_repr(row: Row) -> None:
    if row.policy == "lprag-compat":
        pytest.skip("what it puts in may be the very words that stood there")
    sanitizer = row()
    shown = f"{sanitizer!r} {sanitizer.sanitize(documents())!r}"
    assert not any(mark in shown for mark in MARKS)


# -- what users say ----------------------------------------------------------------------------------------

RULED = [name for name, row in SANITIZERS.items() if row.ruled]
SAID = Said(
    Treatment(
        {"symptom": "keep", "email address": "mask", "person age": "hash", "city name": "suppress"},
        {"person full name": "neighbors"},
    ),
    OwnEntities(allow=["tobias orrin"], deny={"event": ["Fed at  NOON"], "identifying detail": ["61"]}),
)


@pytest.mark.parametrize("name", RULED)
def test_every_method_does_what_is_said_of_labels_and_strings(name: str) -> None:
    outcomes = all_sanitized(SANITIZERS[name](said=SAID), documents())
    for outcome in outcomes:
        for each in outcome.decisions:
            label, goes = each.entity.label, each.action is not Action.KEEP
            if label == "symptom":
                assert not goes
            if label == "email address" and goes:
                assert each.replacement == MASK
            if label == "city name" and goes:
                assert (each.action, each.replacement) == (Action.SUPPRESS, "")
            if label == "person full name" and goes:
                assert (each.action, each.replacement.lower()) == (Action.GENERALIZE, "neighbors")
            if label == "person age":
                assert goes and each.replacement.startswith("[person age ")
    assert all("61" not in each.text and "noon" not in each.text for each in outcomes)
    assert outcomes[4].text.count("Tobias Orrin") == 2


@pytest.mark.parametrize("name", [name for name in RULED if SANITIZERS[name].takes_all])
def test_what_takes_all_puts_what_is_said(name: str) -> None:
    (outcome,) = all_sanitized(SANITIZERS[name](said=SAID), [Document("d", TEXTS[0])])
    shown = {each.entity.label: each.replacement.lower() for each in outcome.decisions}
    assert (shown["person full name"], shown["email address"]) == ("neighbors", MASK)
    assert shown.get("city name", "") == ""
    origin = SANITIZERS["origin"](said=SAID)
    assert [each.text for each in all_sanitized(origin, documents())] == TEXTS


# -- TRIP and its ends -------------------------------------------------------------------------------------


def decided(method: Method, text: AnnotatedText) -> Sequence[Decision]:
    (found,) = method.decide([text], RiskPrior().hazards([text]))
    return found


LOWEST = {"lethe": DEFAULT.at(0.0), "trip": DESCRIPTORS.at(-inf)}


@pytest.mark.parametrize("name", LOWEST)
@FEW
@given(text=some_texts, direct_limit=st.sampled_from([0.0, 0.5, 1.0]))
def test_at_the_lowest_threshold_all_goes_as_it_does_in_redact(
    name: str, text: AnnotatedText, direct_limit: float
) -> None:
    by_scores = decided(by(replace(LOWEST[name], direct_limit=direct_limit)), text)
    all_alike = decided(REDACT, text)
    assert [(d.entity, d.action) for d in by_scores] == [(d.entity, d.action) for d in all_alike]
    assert apply(text, by_scores).residual == apply(text, all_alike).residual


@FEW
@given(some_texts)
def test_above_every_priority_trip_without_hard_rules_is_origin(text: AnnotatedText) -> None:
    direct = Identifier.DIRECT
    mild = [e for e in text.entities if not label_of(e.label).rigid and e.identifier is not direct]
    assume(mild)
    only_mild = replace(text, entities=mild)
    decisions = decided(trip(Policy("trip", tau=inf)), only_mild)
    assert {decision.action for decision in decisions} == {Action.KEEP}
    assert apply(only_mild, decisions).residual.text == text.text


weights = st.builds(
    Weights,
    alpha=st.floats(0, 2),
    beta=st.floats(0, 2),
    gamma=st.floats(0, 2),
    marginal=st.sampled_from(["hazard", "difference"]),
)


@FEW
@given(some_texts, weights)
def test_a_priority_ranks_by_distance_as_it_would_by_relevance_and_has_its_bounds(
    text: AnnotatedText, weights: Weights
) -> None:
    for decision in decided(trip(Policy("trip", weights=weights), score_all=True), text):
        assert decision.scores is not None
        risk, divergence, relevance, priority, bits = astuple(decision.scores)
        assert bits is None
        assert all(0 <= each <= 1 for each in (risk, divergence, relevance))
        by_relevance = weights.alpha * risk - weights.beta * divergence - weights.gamma * relevance
        assert priority - by_relevance == pytest.approx(weights.gamma, abs=1e-9)
        assert -weights.beta - 1e-9 <= priority <= weights.alpha + weights.gamma + 1e-9


@FEW
@given(text=some_texts, direct_limit=st.sampled_from([0.0, 0.5, 1.0]), tau=st.sampled_from([0.2, 0.6]))
def test_what_hard_rules_decide_is_not_measured_and_all_is_decided_alike(
    text: AnnotatedText, direct_limit: float, tau: float
) -> None:
    policy = Policy("trip", tau=tau, direct_limit=direct_limit)
    few, every = decided(trip(policy), text), decided(trip(policy, score_all=True), text)
    assert [replace(each, scores=None) for each in few] == [replace(each, scores=None) for each in every]
    by_scores = {each.entity.link for each in every if each.reason not in HARD_RULES}
    known = scores_by_link(few)
    for link, scores in scores_by_link(every).items():
        if link in by_scores:
            assert known[link][:4] == pytest.approx(scores[:4])
        else:
            assert known[link] == (scores[0], None, None, None, None)


def scores_by_link(decisions: Sequence[Decision]) -> dict[int, Any]:
    return {each.entity.link: astuple(each.scores) for each in decisions if each.scores is not None}


# -- controls and the ablation -----------------------------------------------------------------------------


def taken(decisions: Sequence[Decision]) -> set[int]:
    return {each.entity.link for each in decisions if each.action is not Action.KEEP}


@FEW
@given(text=some_texts, seed=st.integers(0, 5), tau=st.sampled_from([0.2, 0.6]))
def test_the_controls_take_as_many_linked_entities_as_trip(
    text: AnnotatedText, seed: int, tau: float
) -> None:
    method = trip(Policy("trip", tau=tau, direct_limit=1.0))
    by_scores = taken(decided(method, text))
    times = {link: len(mentions) for link, mentions in text.mentions().items()}
    for control in (Control(method, "number", seed), Control(method, "frequency", seed)):
        drawn = decided(control, text)
        assert len(taken(drawn)) == len(by_scores)
        assert [each.entity for each in drawn] == list(text.entities)
        assert len({(each.entity.link, each.action) for each in drawn}) == len(times)
    # Each can stand for itself, so that there is always one that stands as often.
    assert sorted(times[link] for link in taken(drawn)) == sorted(times[link] for link in by_scores)


def apart(text: AnnotatedText, decisions: Sequence[Decision]) -> set[int]:
    """The links that go, the rigid mentions of a link being one of their own."""
    links = [each.link for each in rigid_apart(text).entities]
    return {link for link, each in zip(links, decisions, strict=True) if each.action is not Action.KEEP}


@pytest.mark.parametrize("policy", [DEFAULT, DESCRIPTORS], ids=["lethe", "trip"])
@pytest.mark.parametrize("chosen", get_args(Chosen))
@FEW
@given(text=some_texts, seed=st.integers(0, 5), threshold=st.sampled_from([0.2, 0.6, 5.0]))
def test_within_rules_all_rules_hold_and_as_many_go_as_by_the_method(
    policy: Policy, chosen: Chosen, text: AnnotatedText, seed: int, threshold: float
) -> None:
    chosen_at = policy.at(threshold)
    by_method = decided(by(chosen_at), text)
    by_rules = decided(by(rules_alone(chosen_at)), text)
    assert apart(text, by_rules) <= apart(text, by_method)
    control = decided(within(chosen, chosen_at, seed), text)
    assert [each.entity for each in control] == list(text.entities)
    assert apart(text, by_rules) <= apart(text, control)
    assert len(apart(text, control)) == len(apart(text, by_method))


@pytest.mark.parametrize("policy", [DEFAULT, DESCRIPTORS], ids=["lethe", "trip"])
@FEW
@given(text=some_texts, threshold=st.sampled_from([0.2, 0.6, 5.0]))
def test_beyond_the_rules_the_lowest_divergence_goes_first(
    policy: Policy, text: AnnotatedText, threshold: float
) -> None:
    chosen_at = policy.at(threshold)
    by_rules = apart(text, decided(by(rules_alone(chosen_at)), text))
    links = [each.link for each in rigid_apart(text).entities]
    by_trip = decided(trip(score_all=True), text)
    divergences = {
        link: each.scores.knowledge_divergence
        for link, each in zip(links, by_trip, strict=True)
        if each.scores is not None and link not in by_rules
    }
    gone = apart(text, decided(within("lowest divergence", chosen_at), text)) - by_rules
    taken = [divergences[link] for link in gone]
    left = [divergences[link] for link in divergences if link not in gone]
    assert all(one is not None and other is not None and one <= other for one in taken for other in left)


def linked(sentence: str) -> AnnotatedText:
    """A sentence whose entities are linked by their labels, in the order in which these first stand."""
    found = sorted(DETECTOR.detect([Document("d", sentence)])[0], key=lambda each: each.span)
    labels = list(dict.fromkeys(each.label for each in found))
    return AnnotatedText(sentence, [replace(each, link=labels.index(each.label)) for each in found])


@pytest.mark.parametrize("name", LOWEST)
def test_the_rules_alone_take_what_no_score_decides(name: str) -> None:
    policy, text = LOWEST[name], linked("Tobias Orrin has a cough.")
    assert taken(decided(by(policy), text)) == {0, 1}
    assert taken(decided(by(rules_alone(policy)), text)) == {0}
    if name == "lethe":
        control = WithinRules(by(policy), by(rules_alone(policy)), "lowest divergence")
        with pytest.raises(ValueError, match="an entity has no divergence"):
            decided(control, text)


@pytest.mark.parametrize("name", LOWEST)
def test_a_control_takes_nothing_that_the_rules_keep(name: str) -> None:
    text = linked("Tobias Orrin of Quarnby has a cough.")
    policy = replace(LOWEST[name], treatment=Treatment({"symptom": "keep"}))
    for seed in range(9):
        assert taken(decided(within("random", policy, seed), text)) == {0, 1}


def test_single_mentions_leave_both_of_two_equal_names() -> None:
    text = linked("Tobias Orrin came. Then Tobias Orrin left.")
    # Without hard rules: a name goes by its scores alone.
    method = trip(Policy("trip", direct_limit=1.0, weights=Weights(beta=0.0)))
    assert [d.action for d in decided(method, text)] == [Action.GENERALIZE] * 2
    decisions = decided(PerMention(method, RiskPrior()), text)
    assert [d.action for d in decisions] == [Action.KEEP] * 2
    assert [d.scores.marginal_privacy_risk for d in decisions if d.scores] == [0, 0]


@FEW
@given(some_texts)
def test_where_each_is_mentioned_once_single_mentions_are_trip(text: AnnotatedText) -> None:
    assume(all(len(mentions) == 1 for mentions in text.mentions().values()))
    method = trip()
    assert decided(PerMention(method, RiskPrior()), text) == decided(method, text)
