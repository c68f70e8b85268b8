from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.deciding.echoes import echoes
from ingest.deciding.policy import (
    AT_OR_ABOVE,
    BELOW,
    DIRECT,
    ECHO,
    MAY_STAY,
    QUASI,
    RESIDUAL,
    RIGID,
    Policy,
    decide,
)
from ingest.deciding.residual import Asking, beyond_limit, in_step
from ingest.deciding.trip import Trip
from ingest.detection.sources import is_of_care
from ingest.documents import Action, Decision, Document, Entity, Identifier, SanitizedDocument, Scores, Span
from ingest.errors import SanitizationError
from ingest.labels import LABELS, label_of
from ingest.protocols import EntityDetector, Hazards, Method, RiskModel
from ingest.rendering.aliases import alias_of
from ingest.rendering.replace import apply
from ingest.sanitize import DecidingSanitizer, _joined, annotate
from ingest.scoring.exact import ExactEngine
from ingest.scoring.learned_risk import LearnedRisk
from ingest.scoring.prior import RiskPrior
from ingest.scoring.raw import absolute_risk
from ingest.scoring.scale import EMBEDDED_SCALE, Weights
from models.detectors.words import Need
from models.risk.embedded import LabeledText
from tests.doubles import FailingDetector, PhraseDetector, WordEncoder, entity
from tests.strategies import annotated_texts, overlapping_words, sentences_about_people

DETECTOR = PhraseDetector(
    {
        "Anna Keller": "person full name",
        "a.keller@example.org": "email address",
        "61": "person age",
        "cough": "symptom",
    }
)
TEXT = "Anna Keller, 61, has a cough. Write to a.keller@example.org."


class RecordingRisk(RiskPrior):
    """Notes the texts of each call."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        self.asked.append([text.text for text in texts])
        return super().hazards(texts)


class FailingAfterwards(RiskPrior):
    """Fails on texts from which something was taken, with a message that quotes them."""

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        if any(text.stand_ins for text in texts):
            raise RuntimeError(f"cannot judge {[text.text for text in texts]}")
        return super().hazards(texts)


def trip(policy: Policy, risk: RiskModel | None = None) -> Method:
    return Trip(ExactEngine(WordEncoder(), 32), risk or RiskPrior(), EMBEDDED_SCALE, policy)


def decided(method: Method, text: AnnotatedText) -> Sequence[Decision]:
    (found,) = method.decide([text], RiskPrior().hazards([text]), apply)
    return found.decisions


METHODS: list[Callable[[], Method]] = [
    lambda: trip(Policy()),
    lambda: REDACT,
    lambda: SUPPRESS,
    lambda: ORIGIN,
]


@pytest.fixture(params=METHODS, ids=["trip", "redact", "suppress", "origin"])
def method(request: pytest.FixtureRequest) -> Method:
    made: Method = request.param()
    return made


KEEPING = Policy(tau=float("inf"), residual_limit=1.0)
"""Only the hard rules."""


def sanitized(method: Method, text: str, detector: EntityDetector = DETECTOR) -> SanitizedDocument:
    outcome = DecidingSanitizer(detector, method, RiskPrior()).sanitize([Document("d", text)])[0]
    assert isinstance(outcome, SanitizedDocument)
    return outcome


@settings(max_examples=60, deadline=None)
@given(text=sentences_about_people())
@pytest.mark.parametrize("make", METHODS, ids=["trip", "redact", "suppress", "origin"])
def test_no_acted_on_character_survives(make: Callable[[], Method], text: AnnotatedText) -> None:
    decisions = decided(make(), text)
    applied = apply(text, decisions)
    acted = {
        place
        for decision in decisions
        if decision.action is not Action.KEEP
        for place in range(decision.entity.span.start, decision.entity.span.end)
    }
    replaced = {
        place
        for decision in applied.decisions
        if decision.action is not Action.KEEP
        for place in range(decision.entity.span.start, decision.entity.span.end)
    }
    assert acted <= replaced
    # The blank before or behind a detail goes with it.
    assert not "".join(text.text[place] for place in replaced - acted).strip(" \t")
    for decision, (start, end) in zip(applied.decisions, applied.places, strict=True):
        words = applied.residual.text[start:end]
        span = decision.entity.span
        expected = (
            text.text[span.start : span.end] if decision.action is Action.KEEP else decision.replacement
        )
        assert words == expected


def test_the_same_twice_and_alone_or_in_a_batch(method: Method) -> None:
    sanitizer = DecidingSanitizer(DETECTOR, method, RiskPrior())
    documents = [Document("a", TEXT), Document("b", TEXT * 3), Document("c", "")]
    together = sanitizer.sanitize(documents)
    assert together == sanitizer.sanitize(documents)
    assert together == [sanitizer.sanitize([document])[0] for document in documents]


def test_a_failure_yields_no_document_and_spares_the_others(method: Method) -> None:
    sanitizer = DecidingSanitizer(FailingDetector("Keller"), method, RiskPrior())
    good, bad = sanitizer.sanitize([Document("good", "a cough"), Document("bad", TEXT)])
    assert isinstance(good, SanitizedDocument)
    assert isinstance(bad, SanitizationError)
    assert str(bad) == "document bad was not indexed: detection failed (RuntimeError); nothing of it was kept"
    assert bad.__cause__ is None


def test_a_failure_to_judge_the_sanitized_text_yields_no_document() -> None:
    (outcome,) = DecidingSanitizer(DETECTOR, REDACT, FailingAfterwards()).sanitize([Document("d", TEXT)])
    assert isinstance(outcome, SanitizationError)
    assert str(outcome) == (
        "document d was not indexed: risk measurement failed (RuntimeError); nothing of it was kept"
    )
    assert outcome.__cause__ is None


def test_nothing_in_nothing_out(method: Method) -> None:
    assert DecidingSanitizer(DETECTOR, method, RiskPrior()).sanitize([]) == []


def test_origin_changes_nothing() -> None:
    assert sanitized(ORIGIN, TEXT).text == TEXT


def test_redact_generalizes_all() -> None:
    assert (
        sanitized(REDACT, TEXT).text == "Somebody, a certain age, has a symptom. Write to an email address."
    )


def test_suppress_removes_all() -> None:
    assert sanitized(SUPPRESS, TEXT).text == ",, has a. Write to."


def test_trip_keeps_the_symptom() -> None:
    outcome = sanitized(trip(Policy(tau=0.9)), TEXT)
    assert outcome.text == "Somebody, a certain age, has a cough. Write to an email address."
    assert outcome.risk.after < outcome.risk.before


def test_redact_is_trip_with_the_threshold_at_minus_infinity() -> None:
    assert sanitized(trip(Policy(tau=float("-inf"))), TEXT).text == sanitized(REDACT, TEXT).text


def test_origin_is_trip_with_the_threshold_at_infinity_and_no_limit_but_for_rigid_identifiers() -> None:
    kept = sanitized(
        trip(Policy(tau=float("inf"), residual_limit=1.0, direct_limit=1.0, quasi_limit=1.0)), TEXT
    ).text
    assert kept == TEXT.replace("a.keller@example.org", "an email address")


def test_all_mentions_of_a_link_are_treated_alike() -> None:
    detector = PhraseDetector({"Anna Keller": "person full name", "Keller": "person full name"})
    outcome = sanitized(trip(Policy()), "Anna Keller came. Then Keller left. KELLER stays.", detector)
    assert "Keller" not in outcome.text


def whole(text: str) -> list[Span]:
    return [Span(0, len(text))]


def linked_text(text: str) -> AnnotatedText:
    (annotated,) = annotate(DETECTOR, [Document("d", text)])
    assert len(annotated.mentions()) == 1
    return annotated


@pytest.mark.parametrize("text", ["Anna Keller, a.keller@example.org", "a.keller@example.org, Anna Keller"])
@pytest.mark.parametrize(("tau", "kept"), [(float("inf"), True), (-1.0, False)])
def test_an_address_goes_and_its_name_goes_by_the_scores(text: str, tau: float, kept: bool) -> None:
    method = trip(Policy(tau=tau, residual_limit=1.0, direct_limit=1.0, quasi_limit=1.0))
    decisions = decided(method, linked_text(text))
    told = {d.entity.label: (d.action, d.reason) for d in decisions}
    assert told["email address"] == (Action.GENERALIZE, RIGID)
    by_score = (Action.KEEP, BELOW) if kept else (Action.GENERALIZE, AT_OR_ABOVE)
    assert told["person full name"] == by_score
    assert len({d.scores for d in decisions}) == 1


def test_a_name_that_is_left_beside_its_address_falls_to_the_residual_limit() -> None:
    text = linked_text("Anna Keller, a.keller@example.org")
    decisions = decided(trip(Policy(tau=float("inf"), direct_limit=1.0, quasi_limit=1.0)), text)
    assert {d.entity.label: d.reason for d in decisions} == {
        "person full name": RESIDUAL,
        "email address": RIGID,
    }
    assert apply(text, decisions).residual.text == "Somebody, an email address"


@pytest.mark.parametrize("method", [lambda: trip(Policy()), lambda: REDACT])
def test_with_a_key_people_get_aliases(method: Callable[[], Method]) -> None:
    policy = Policy("trip", replacements="alias")
    sanitizer = DecidingSanitizer(DETECTOR, method(), RiskPrior(), policy, b"k" * 32)
    (outcome,) = sanitizer.sanitize([Document("d", TEXT)])
    assert isinstance(outcome, SanitizedDocument)
    known = alias_of("person full name", ("anna", "keller"), b"k" * 32)
    assert outcome.text.startswith(f"{known}, a certain age, has a ")
    assert outcome.text.endswith("Write to an email address.")
    assert [d.action for d in outcome.decisions if d.entity.label == "person full name"] == [Action.SURROGATE]


def test_an_alias_speaks_of_somebody_as_a_descriptor_does() -> None:
    text = "Anna Keller went to Ulm"
    detector = PhraseDetector({"Anna Keller": "person full name", "Ulm": "city name"})
    method = trip(Policy(tau=0.9, residual_limit=0.7, quasi_limit=1.0))
    risks = []
    for policy in (Policy("trip"), Policy("lethe"), Policy(replacements="alias")):
        sanitizer = DecidingSanitizer(detector, method, RiskPrior(), policy, b"k" * 32)
        (outcome,) = sanitizer.sanitize([Document("d", text)])
        assert isinstance(outcome, SanitizedDocument)
        risks.append(outcome.risk)
    assert risks[0].after > 0
    assert risks[0] == risks[1] == risks[2]


@settings(max_examples=100, deadline=None)
@given(sentences_about_people())
def test_a_stricter_threshold_never_acts_on_fewer(text: AnnotatedText) -> None:
    acted = []
    for tau in (0.9, 0.6, 0.3, 0.0):
        decisions = decided(trip(Policy(tau=tau, residual_limit=1.0)), text)
        acted.append({d.entity.link for d in decisions if d.action is not Action.KEEP})
    assert all(loose <= strict for loose, strict in zip(acted, acted[1:], strict=False))


@settings(max_examples=100, deadline=None)
@given(sentences_about_people(), st.sampled_from([4, 32]))
def test_the_residual_risk_of_every_passage_is_at_most_the_limit(text: AnnotatedText, tokens: int) -> None:
    assume(not any(is_of_care(each, text.text[each.span.start : each.span.end]) for each in text.entities))
    engine = ExactEngine(WordEncoder(), tokens)
    method = Trip(engine, RiskPrior(), EMBEDDED_SCALE, Policy(tau=float("inf"), residual_limit=0.4))
    left = apply(text, decided(method, text)).residual
    for hazards in RiskPrior().hazards(left.pieces(engine.units(left.text))):
        assert absolute_risk(hazards.total) <= 0.4 + 1e-9


def test_a_long_text_keeps_in_each_passage_what_a_short_one_keeps() -> None:
    """Hazards add up over a text, and what somebody is shown is a passage of it."""
    sentence = "She is a plumber and 41. "
    found = {"plumber": "job title", "41": "person age"}
    bare = Policy(tau=float("inf"), residual_limit=0.8, quasi_limit=1.0)
    trades = ("baker", "miner", "smith", "tailor", "cooper", "sailor")
    long = "".join(
        sentence.replace("plumber", trade).replace("41", str(30 + n)) for n, trade in enumerate(trades)
    )
    many = (
        found | dict.fromkeys(trades, "job title") | {str(30 + n): "person age" for n in range(len(trades))}
    )
    method = Trip(ExactEngine(WordEncoder(), 7), RiskPrior(), EMBEDDED_SCALE, bare)
    assert sanitized(method, sentence, PhraseDetector(found)).text == sentence
    assert sanitized(method, long, PhraseDetector(many)).text == long


def test_what_may_stay_in_its_context_falls_to_the_residual_limit() -> None:
    stays = Entity(Span(0, 3), "city name", Identifier.QUASI, 0.9, "model:x", 0, need=Need(0.9, 0.0, 0.0))
    text = AnnotatedText("Ulm is dark.", [stays])
    for limit, reason in ((1.0, MAY_STAY), (0.1, RESIDUAL)):
        (decision,) = decided(trip(Policy(tau=float("inf"), residual_limit=limit)), text)
        assert decision.reason == reason


@pytest.mark.parametrize(
    ("said", "label", "stays"),
    [
        ("142/86", "test result", True),
        ("HIV positive", "test result", False),
        ("abortion", "procedure", False),
    ]
    + [("twice a day", "frequency", True), ("40 mg", "dosage", True), ("asthma", "disease", False)],
)
def test_doses_and_readings_do_not_fall_to_the_residual_limit(said: str, label: str, stays: bool) -> None:
    kind = label_of(label)
    one = Entity(Span(0, len(said)), label, kind.identifier, 0.9, "model:x", 0, need=Need(0.9, 0.0, 0.0))
    policy = Policy(tau=float("inf"), residual_limit=0.01, quasi_limit=1.0)
    (decision,) = decided(trip(policy), AnnotatedText(f"{said}, she said.", [one]))
    assert decision.reason == (MAY_STAY if stays else RESIDUAL)


def test_no_limit_asks_for_nothing() -> None:
    text = AnnotatedText("Keller", [])
    asking = beyond_limit(lambda links: apply(text, []), dict, 1.0, whole)
    assert in_step([asking], RiskPrior()) == [(set(), None)]


def test_decisions_in_step_ask_together_and_get_their_own_answers() -> None:
    asked: list[list[str]] = []

    class Counting(RiskPrior):
        def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
            asked.append([each.text for each in texts])
            return [Hazards(float(len(each.text)), {}) for each in texts]

    def asking(*rounds: str) -> Asking[list[float]]:
        found: list[float] = []
        for texts in rounds:
            answers = yield [AnnotatedText(each, []) for each in texts.split()]
            found += [each.total for each in answers]
        return found

    decisions = [asking("a bb", "ccc"), asking(), asking("dddd"), asking("", "e", "ff g")]
    assert in_step(decisions, Counting()) == [[1, 2, 3], [], [4], [1, 2, 1]]
    assert asked == [["a", "bb", "dddd"], ["ccc", "e"], ["ff", "g"]]


def test_a_name_that_the_threshold_keeps_falls_to_the_residual_limit() -> None:
    outcome = sanitized(
        trip(Policy(tau=float("inf"), direct_limit=1.0, quasi_limit=1.0)), "Anna Keller has a cough."
    )
    reasons = {d.entity.label: d.reason for d in outcome.decisions}
    assert reasons == {"person full name": RESIDUAL, "symptom": BELOW}


@pytest.mark.parametrize("label", sorted(LABELS))
@pytest.mark.parametrize("priority", [-0.5, 0.6, 1.4])
@pytest.mark.parametrize("risk", [0.39, 0.4, 1.0])
def test_every_label_gets_an_action_at_every_corner(label: str, priority: float, risk: float) -> None:
    direct = LABELS[label].identifier is Identifier.DIRECT
    found = entity(0, 1, label)
    scores = Scores(0.0, 0.0, 0.0, priority)
    quasi = LABELS[label].identifier is Identifier.QUASI
    action, reason = decide(found, scores, risk, Policy(tau=0.6, direct_limit=0.4, quasi_limit=0.5))
    if LABELS[label].rigid:
        assert (action, reason) == (Action.GENERALIZE, RIGID)
    elif direct and risk >= 0.4:
        assert (action, reason) == (Action.GENERALIZE, DIRECT)
    elif quasi and max(risk, LABELS[label].risk) >= 0.5:
        assert (action, reason) == (Action.GENERALIZE, QUASI)
    elif priority >= 0.6:
        assert (action, reason) == (Action.GENERALIZE, AT_OR_ABOVE)
    else:
        assert (action, reason) == (Action.KEEP, BELOW)


def test_a_quasi_identifier_of_level_two_goes_whatever_it_would_cost() -> None:
    detector = PhraseDetector({"Ulm": "city name", "mason": "job title", "a cough": "symptom"})
    text = "The mason in Ulm has a cough."
    reasons = {d.entity.label: d.reason for d in sanitized(trip(KEEPING), text, detector).decisions}
    assert reasons == {"city name": QUASI, "job title": BELOW, "symptom": BELOW}


@pytest.mark.parametrize(
    ("own_risk", "limit", "reason"),
    [(0.39, 0.4, BELOW), (0.4, 0.4, QUASI), (0.99, 1.0, BELOW), (0.0, 0.35, QUASI)],
)
def test_a_quasi_identifier_goes_by_its_own_risk_or_by_that_of_its_kind(
    own_risk: float, limit: float, reason: str
) -> None:
    scores = Scores(0.0, 0.0, 0.0, -1.0)
    job = entity(0, 3, "job title")
    assert decide(job, scores, own_risk, Policy(quasi_limit=limit))[1] == reason


def test_what_says_the_same_as_an_identifier_goes_with_it() -> None:
    detector = PhraseDetector({"41 years": "person age", "for 41 YEARS": "duration", "41 mg": "dosage"})
    outcome = sanitized(trip(KEEPING), "He is 41 years old, smoked for 41 YEARS, takes 41 mg.", detector)
    assert [(d.entity.label, d.reason) for d in outcome.decisions] == [
        ("person age", QUASI),
        ("duration", ECHO),
        ("dosage", BELOW),
    ]
    assert "years" not in outcome.text.casefold()


def test_full_width_letters_say_the_same() -> None:
    text = "Varde. The Ｖａｒｄｅ clinic."
    found = [entity(0, 5, "city name", 0), entity(11, 23, "organization", 1)]
    assert echoes(AnnotatedText(text, found), {0}) == {1}


def test_an_identifier_that_the_threshold_takes_has_echoes_and_an_attribute_has_none() -> None:
    text = "The plumber took a plumber course, had a cough, and a cough syrup."
    found = [entity(4, 11, "job title", 0), entity(19, 33, "event", 1)]
    found += [entity(41, 46, "symptom", 2), entity(54, 65, "medication", 3)]
    annotated = AnnotatedText(text, found)
    assert echoes(annotated, {0, 2}) == {1}

    detector = PhraseDetector({"plumber": "job title", "plumber course": "quantity"})
    risky = Policy(tau=0.15, weights=Weights(1.0, 0.0, 0.0), quasi_limit=1.0, residual_limit=1.0)
    outcome = sanitized(trip(risky), text, detector)
    assert [d.reason for d in outcome.decisions] == [AT_OR_ABOVE, ECHO]
    assert "plumber" not in outcome.text


@pytest.mark.parametrize(
    ("said", "kind", "elsewhere"),
    [
        ("Zürich", "city name", "Zurich Insurance"),
        ("Zurich", "city name", "ZÜRICH Insurance"),
        ("Bo", "person full name", "Bo Radio"),
        ("Quorin", "person full name", "quorin_med"),
    ],
)
def test_words_are_the_same_without_case_accents_and_joints(said: str, kind: str, elsewhere: str) -> None:
    text = f"{said}. {elsewhere}"
    start = len(said) + 2
    found = [entity(0, len(said), kind, 0), entity(start, len(text), "organization", 1)]
    assert echoes(AnnotatedText(text, found), {0}) == {1}


@pytest.mark.parametrize("tau", [-1.0, 0.0, 0.3, 0.5, 0.9, 2.0])
@pytest.mark.parametrize("labels", [("state or province", "city name"), ("city name", "state or province")])
def test_of_several_labels_of_one_link_the_strictest_holds_at_every_threshold(
    tau: float, labels: tuple[str, str]
) -> None:
    text = "Shipping goes to New York. The clinic in New York is New York Eye Infirmary."
    first, second = (
        entity(place, place + 8, label, 0) for place, label in zip((17, 41), labels, strict=True)
    )
    annotated = AnnotatedText(text, [first, second, entity(53, 75, "organization", 1)])
    decisions = decided(trip(Policy(tau=tau, residual_limit=1.0)), annotated)
    assert {d.action for d in decisions} == {Action.GENERALIZE}
    assert {d.reason for d in decisions if d.entity.link == 0} == {QUASI}


def test_short_words_of_an_identifier_are_found_in_nothing() -> None:
    found = [entity(5, 6, "person age", 0), entity(14, 18, "dosage", 1), entity(0, 6, "person age", 2)]
    text = AnnotatedText("Aged 4, takes 4 mg, aged 4.", [*found, entity(20, 26, "duration", 3)])
    assert echoes(text, {0}) == set()
    assert echoes(text, {0, 2}) == {3}


def test_a_direct_identifier_goes_whatever_it_would_cost() -> None:
    outcome = sanitized(trip(Policy(tau=float("inf"), residual_limit=1.0)), "Anna Keller has a cough.")
    reasons = {d.entity.label: d.reason for d in outcome.decisions}
    assert reasons == {"person full name": DIRECT, "symptom": BELOW}


def test_by_default_a_direct_identifier_goes_however_harmless_it_is_judged() -> None:
    scores = Scores(marginal_privacy_risk=0.0, knowledge_divergence=1.0, topical_relevance=0.0, priority=-0.5)
    name = entity(0, 11, "person full name")
    assert name.identifier is Identifier.DIRECT
    assert decide(name, scores, 0.0, Policy()) == (Action.GENERALIZE, DIRECT)
    assert decide(name, scores, 0.0, Policy(direct_limit=0.1))[0] is Action.KEEP


def test_names_that_hide_each_other_in_the_difference_still_go() -> None:
    detector = PhraseDetector(
        {"Anna Keller": "person full name", "Tom Brandt": "person full name", "4711": "medical record number"}
    )
    weights = Weights(marginal="difference")
    policy = Policy(tau=float("inf"), residual_limit=1.0, weights=weights, direct_limit=0.1)
    outcome = sanitized(trip(policy), "Anna Keller met Tom Brandt about 4711.", detector)
    names = [d for d in outcome.decisions if d.entity.label == "person full name"]
    assert all(d.scores and d.scores.marginal_privacy_risk < policy.direct_limit for d in names)
    assert [(d.action, d.reason) for d in names] == [(Action.GENERALIZE, DIRECT)] * 2


def test_the_risk_model_is_asked_of_a_batch_once_before_and_once_after() -> None:
    risk = RecordingRisk()
    sanitizer = DecidingSanitizer(DETECTOR, trip(Policy(residual_limit=1.0), risk), risk)
    outcomes = sanitizer.sanitize([Document("a", TEXT), Document("b", TEXT * 3)])
    after = [each.text for each in outcomes if isinstance(each, SanitizedDocument)]
    assert risk.asked == [[TEXT, TEXT * 3], after]


@settings(max_examples=300, deadline=None)
@given(st.one_of(overlapping_words(), annotated_texts()))
def test_nothing_survives_of_what_identifies_directly(text: AnnotatedText) -> None:
    decisions = decided(trip(Policy(tau=float("inf"), direct_limit=1.0, quasi_limit=1.0)), text)
    acted = {
        place
        for decision in apply(text, decisions).decisions
        if decision.action is not Action.KEEP
        for place in range(decision.entity.span.start, decision.entity.span.end)
    }
    for each in text.entities:
        if label_of(each.label).risk > 0.7:
            letters = {n for n in range(each.span.start, each.span.end) if text.text[n].isalnum()}
            assert letters <= acted


def test_the_rest_of_a_name_that_is_covered_in_part_is_seen() -> None:
    text = "He saw Anna Keller-ID44871 yesterday."
    detector = PhraseDetector({"Anna Keller": "person full name", "Keller-ID44871": "medical record number"})
    outcome = sanitized(trip(Policy(tau=float("inf"), direct_limit=1.0, quasi_limit=1.0)), text, detector)
    assert "Anna" not in outcome.text
    kept = sanitized(
        trip(Policy(tau=float("inf"), residual_limit=1.0, direct_limit=1.0, quasi_limit=1.0)), text, detector
    )
    assert kept.text == "He saw Anna a medical record number yesterday."
    assert kept.risk.after == pytest.approx(0.85)
    assert [(d.entity.label, str(d.action)) for d in kept.decisions] == [
        ("person full name", "keep"),
        ("medical record number", "generalize"),
    ]


class ByLabel:
    """Every mention has the hazard of its label, wherever it stands."""

    name = "by label (test double)"

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        return [[0.1 * len(label) for label in text.labels] for text in texts]


@settings(max_examples=60, deadline=None)
@given(sentences_about_people(), st.integers(1, 4))
def test_the_risk_of_a_text_is_that_of_its_passages_under_an_additive_model(
    text: AnnotatedText, count: int
) -> None:
    risk = LearnedRisk(ByLabel())
    step = -(-len(text.text) // count)
    units = [Span(at, min(at + step, len(text.text))) for at in range(0, len(text.text), step)]
    whole, joined = risk.hazards([text])[0], _joined(risk.hazards(text.pieces(units)))
    assert joined.total == pytest.approx(whole.total)
    assert {link: n for link, n in joined.marginals.items() if n} == {
        link: n for link, n in whole.marginals.items() if n
    }
