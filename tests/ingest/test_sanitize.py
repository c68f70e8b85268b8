from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.deciding.echoes import echoes
from ingest.deciding.lethe import Lethe
from ingest.deciding.policy import (
    AT_OR_ABOVE,
    BELOW,
    DEFAULT,
    DESCRIPTORS,
    DIRECT,
    ECHO,
    FITS,
    NARROWS,
    OWN,
    RIGID,
    Policy,
    hard_rule,
    reason_of,
)
from ingest.deciding.trip import Trip
from ingest.documents import Action, Decision, Document, Entity, Identifier, SanitizedDocument, Scores, Span
from ingest.errors import SanitizationError
from ingest.labels import LABELS, label_of
from ingest.protocols import EntityDetector, Hazards, Method
from ingest.sanitize import DecidingSanitizer, annotate
from ingest.scoring.engine import Engine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE, Weights
from ingest.wording.aliases import alias_of
from ingest.wording.replace import apply
from models.bits import embedded_bits
from models.encoders.words import Need
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


def trip(policy: Policy = DESCRIPTORS) -> Method:
    return Trip(Engine(WordEncoder(), 32), EMBEDDED_SCALE, policy)


def lethe(policy: Policy = DEFAULT) -> Method:
    return Lethe(embedded_bits(), policy)


def by(policy: Policy) -> Method:
    """The method of a policy with a threshold."""
    return lethe(policy) if policy.name == "lethe" else trip(policy)


def decided(method: Method, text: AnnotatedText) -> Sequence[Decision]:
    (found,) = method.decide([text], RiskPrior().hazards([text]))
    return found


METHODS: list[Callable[[], Method]] = [
    lethe,
    trip,
    lambda: REDACT,
    lambda: SUPPRESS,
    lambda: ORIGIN,
]
NAMES = ["lethe", "trip", "redact", "suppress", "origin"]


@pytest.fixture(params=METHODS, ids=NAMES)
def method(request: pytest.FixtureRequest) -> Method:
    made: Method = request.param()
    return made


THRESHOLDS = (DEFAULT, DESCRIPTORS)
"""The policies of which a threshold decides."""
KEEPING = [policy.at(inf) for policy in THRESHOLDS]
"""Only the hard rules."""


def sanitized(method: Method, text: str, detector: EntityDetector = DETECTOR) -> SanitizedDocument:
    outcome = DecidingSanitizer(detector, method, RiskPrior()).sanitize([Document("d", text)])[0]
    assert isinstance(outcome, SanitizedDocument)
    return outcome


@settings(max_examples=60, deadline=None)
@given(text=sentences_about_people())
@pytest.mark.parametrize("make", METHODS, ids=NAMES)
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


@pytest.mark.parametrize("policy", [DEFAULT, Policy("trip", tau=0.9)], ids=["lethe", "trip"])
def test_the_symptom_is_kept(policy: Policy) -> None:
    outcome = sanitized(by(policy), TEXT)
    assert outcome.text == "Somebody, a certain age, has a cough. Write to an email address."
    assert outcome.risk.after < outcome.risk.before


@pytest.mark.parametrize("policy", [DEFAULT.at(0.0), DESCRIPTORS.at(-inf)], ids=["lethe", "trip"])
def test_at_the_lowest_threshold_all_goes_as_it_does_in_redact(policy: Policy) -> None:
    assert sanitized(by(policy), TEXT).text == sanitized(REDACT, TEXT).text


@pytest.mark.parametrize("policy", KEEPING, ids=["lethe", "trip"])
def test_without_a_threshold_only_the_hard_rules_decide(policy: Policy) -> None:
    kept = sanitized(by(policy), TEXT).text
    assert kept == "Somebody, 61, has a cough. Write to an email address."


def test_origin_is_trip_without_threshold_and_limit_but_for_rigid_identifiers() -> None:
    kept = sanitized(trip(Policy("trip", tau=inf, direct_limit=1.0)), TEXT).text
    assert kept == TEXT.replace("a.keller@example.org", "an email address")


@pytest.mark.parametrize("policy", THRESHOLDS, ids=["lethe", "trip"])
def test_all_mentions_of_a_link_are_treated_alike(policy: Policy) -> None:
    detector = PhraseDetector({"Anna Keller": "person full name", "Keller": "person full name"})
    outcome = sanitized(by(policy), "Anna Keller came. Then Keller left. KELLER stays.", detector)
    assert "Keller" not in outcome.text


def linked(text: str, phrases: dict[str, str]) -> AnnotatedText:
    (annotated,) = annotate(PhraseDetector(phrases), [Document("d", text)])
    return annotated


def linked_text(text: str) -> AnnotatedText:
    (annotated,) = annotate(DETECTOR, [Document("d", text)])
    assert len(annotated.mentions()) == 1
    return annotated


@pytest.mark.parametrize("text", ["Anna Keller, a.keller@example.org", "a.keller@example.org, Anna Keller"])
@pytest.mark.parametrize(("tau", "kept"), [(inf, True), (-1.0, False)])
def test_an_address_goes_and_its_name_goes_by_the_scores(text: str, tau: float, kept: bool) -> None:
    method = trip(Policy("trip", tau=tau, direct_limit=1.0))
    decisions = decided(method, linked_text(text))
    told = {d.entity.label: (d.action, d.reason) for d in decisions}
    assert told["email address"] == (Action.GENERALIZE, RIGID)
    by_score = (Action.KEEP, BELOW) if kept else (Action.GENERALIZE, AT_OR_ABOVE)
    assert told["person full name"] == by_score
    assert len({d.scores for d in decisions}) == 1


@pytest.mark.parametrize("make", [lethe, trip, lambda: REDACT], ids=["lethe", "trip", "redact"])
def test_with_a_key_people_get_aliases(make: Callable[[], Method]) -> None:
    policy = Policy("trip", replacements="alias")
    sanitizer = DecidingSanitizer(DETECTOR, make(), RiskPrior(), policy, b"k" * 32)
    (outcome,) = sanitizer.sanitize([Document("d", TEXT)])
    assert isinstance(outcome, SanitizedDocument)
    known = alias_of("person full name", ("anna", "keller"), b"k" * 32)
    assert outcome.text.startswith(f"{known}, a certain age, has a ")
    assert outcome.text.endswith("Write to an email address.")
    assert [d.action for d in outcome.decisions if d.entity.label == "person full name"] == [Action.SURROGATE]


def test_an_alias_speaks_of_somebody_as_a_descriptor_does() -> None:
    text = "Anna Keller went to Ulm"
    detector = PhraseDetector({"Anna Keller": "person full name", "Ulm": "city name"})
    method = trip(Policy("trip", tau=inf))
    risks = []
    for policy in (Policy("trip"), Policy("lethe"), Policy(replacements="alias")):
        sanitizer = DecidingSanitizer(detector, method, RiskPrior(), policy, b"k" * 32)
        (outcome,) = sanitizer.sanitize([Document("d", text)])
        assert isinstance(outcome, SanitizedDocument)
        risks.append(outcome.risk)
    assert risks[0].after > 0
    assert risks[0] == risks[1] == risks[2]


@pytest.mark.parametrize(
    ("policy", "thresholds"), [(DEFAULT, (40.0, 10.0, 1.0, 0.0)), (DESCRIPTORS, (0.9, 0.6, 0.3, 0.0))]
)
@settings(max_examples=100, deadline=None)
@given(text=sentences_about_people())
def test_a_stricter_threshold_never_acts_on_fewer(
    policy: Policy, thresholds: Sequence[float], text: AnnotatedText
) -> None:
    acted = []
    for threshold in thresholds:
        decisions = decided(by(policy.at(threshold)), text)
        acted.append({d.entity.link for d in decisions if d.action is not Action.KEEP})
    assert all(loose <= strict for loose, strict in zip(acted, acted[1:], strict=False))


def read(said: str, label: str, need: Need) -> AnnotatedText:
    """A text with one mention, of which a model has read what it needs."""
    found = Entity(Span(0, len(said)), label, label_of(label).identifier, 0.9, "model:x", 0, need=need)
    return AnnotatedText(f"{said}, she said.", [found])


@pytest.mark.parametrize(
    ("said", "label"),
    [("142/86", "test result"), ("HIV positive", "test result"), ("abortion", "procedure")]
    + [("twice a day", "frequency"), ("asthma", "disease"), ("Ulm", "city name"), ("smith", "job title")],
)
def test_what_nobody_knows_stays_and_what_is_known_near_a_person_goes(said: str, label: str) -> None:
    (unknown,) = decided(lethe(), read(said, label, Need(0.9, 0.0, 0.0)))
    (known,) = decided(lethe(), read(said, label, Need(0.9, 0.9, 0.9)))
    assert (unknown.action, unknown.reason) == (Action.KEEP, FITS)
    assert (known.action, known.reason) == (Action.GENERALIZE, NARROWS)


def test_a_fact_that_stays_alone_goes_beside_others_that_narrow_less() -> None:
    text = "She is a smith of 41 and plays the viola."
    found = {"smith": "job title", "41": "person age", "plays the viola": "identifying detail"}
    alone = [decided(lethe(), linked(text, {said: label}))[0].scores for said, label in found.items()]
    bits = [each.bits for each in alone if each and each.bits is not None]
    assert len(bits) == 3 and min(bits) > 0
    policy = DEFAULT.at(max(bits) * 1.01)
    for said, label in found.items():
        assert [d.reason for d in decided(lethe(policy), linked(text, {said: label}))] == [FITS]
    assert {d.reason for d in decided(lethe(policy), linked(text, found))} == {FITS, NARROWS}


@pytest.mark.parametrize("label", sorted(LABELS))
@pytest.mark.parametrize("priority", [None, 0.49, 0.51])
@pytest.mark.parametrize("risk", [0.39, 0.4, 1.0])
def test_every_label_gets_a_reason_at_every_corner(label: str, priority: float | None, risk: float) -> None:
    direct = LABELS[label].identifier is Identifier.DIRECT
    for policy, goes, stays in ((DEFAULT, NARROWS, FITS), (DESCRIPTORS, AT_OR_ABOVE, BELOW)):
        limited = replace(policy, direct_limit=0.4).at(0.5)
        scores = Scores(0.0, 0.0, 0.0, priority)
        reason = hard_rule(entity(0, 1, label), risk, limited) or reason_of(scores, limited)
        if LABELS[label].rigid:
            assert reason == RIGID
        elif direct and risk >= 0.4:
            assert reason == DIRECT
        else:
            assert reason == (stays if priority == 0.49 else goes)


def test_what_says_the_same_as_an_identifier_goes_with_it() -> None:
    detector = PhraseDetector({"41 years": "person age", "for 41 YEARS": "duration", "16 mg": "dosage"})
    text = "He is 41 years old, smoked for 41 YEARS, takes 16 mg."
    outcome = sanitized(trip(Policy("trip", tau=0.3, weights=Weights(1.0, 0.0, 0.0))), text, detector)
    assert [(d.entity.label, d.reason) for d in outcome.decisions] == [
        ("person age", AT_OR_ABOVE),
        ("duration", ECHO),
        ("dosage", BELOW),
    ]
    assert "years" not in outcome.text.casefold()


def test_what_says_the_same_goes_though_by_itself_it_would_fit() -> None:
    detector = PhraseDetector({"41 years": "person age", "for 41 YEARS": "duration", "16 mg": "dosage"})
    outcome = sanitized(lethe(), "He is 41 years old, smoked for 41 YEARS, takes 16 mg.", detector)
    assert [(d.entity.label, d.reason) for d in outcome.decisions] == [
        ("person age", NARROWS),
        ("duration", NARROWS),
        ("dosage", FITS),
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
    risky = Policy("trip", tau=0.15, weights=Weights(1.0, 0.0, 0.0))
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


@pytest.mark.parametrize("policy", [each.at(n) for each in THRESHOLDS for n in (0.0, 0.5, 2.0, inf)])
@pytest.mark.parametrize("own", [0, 1])
def test_of_several_rules_for_one_link_the_strictest_holds_at_every_threshold(
    policy: Policy, own: int
) -> None:
    text = "Shipping goes to New York. The clinic in New York is New York Eye Infirmary."
    found = [entity(place, place + 8, "city name", 0) for place in (17, 41)]
    found[own] = replace(found[own], required=True)
    annotated = AnnotatedText(text, [*found, entity(53, 75, "organization", 1)])
    decisions = decided(by(policy), annotated)
    assert {d.action for d in decisions} == {Action.GENERALIZE}
    assert {d.reason for d in decisions if d.entity.link == 0} == {OWN}


def test_short_words_of_an_identifier_are_found_in_nothing() -> None:
    found = [entity(5, 6, "person age", 0), entity(14, 18, "dosage", 1), entity(0, 6, "person age", 2)]
    text = AnnotatedText("Aged 4, takes 4 mg, aged 4.", [*found, entity(20, 26, "duration", 3)])
    assert echoes(text, {0}) == set()
    assert echoes(text, {0, 2}) == {3}


@pytest.mark.parametrize("policy", KEEPING, ids=["lethe", "trip"])
def test_a_direct_identifier_goes_whatever_it_would_cost(policy: Policy) -> None:
    outcome = sanitized(by(policy), "Anna Keller has a cough.")
    reasons = {d.entity.label: d.reason for d in outcome.decisions}
    assert reasons == {"person full name": DIRECT, "symptom": FITS if policy.name == "lethe" else BELOW}


@pytest.mark.parametrize("policy", THRESHOLDS, ids=["lethe", "trip"])
def test_by_default_a_direct_identifier_goes_however_harmless_it_is_judged(policy: Policy) -> None:
    scores = Scores(marginal_privacy_risk=0.0, knowledge_divergence=1.0, topical_relevance=0.0, priority=-0.5)
    name = entity(0, 11, "person full name")
    assert name.identifier is Identifier.DIRECT
    assert hard_rule(name, 0.0, policy) == DIRECT
    assert hard_rule(name, 0.0, replace(policy, direct_limit=0.1)) is None
    assert reason_of(scores, policy) in (BELOW, FITS)


def test_names_that_hide_each_other_in_the_difference_still_go() -> None:
    detector = PhraseDetector(
        {"Anna Keller": "person full name", "Tom Brandt": "person full name", "4711": "medical record number"}
    )
    weights = Weights(marginal="difference")
    policy = Policy("trip", tau=inf, weights=weights, direct_limit=0.1)
    outcome = sanitized(trip(policy), "Anna Keller met Tom Brandt about 4711.", detector)
    names = [d for d in outcome.decisions if d.entity.label == "person full name"]
    assert all(d.scores and d.scores.marginal_privacy_risk < policy.direct_limit for d in names)
    assert [(d.action, d.reason) for d in names] == [(Action.GENERALIZE, DIRECT)] * 2


def test_the_risk_model_is_asked_of_a_batch_once_before_and_once_after() -> None:
    risk = RecordingRisk()
    sanitizer = DecidingSanitizer(DETECTOR, trip(), risk)
    outcomes = sanitizer.sanitize([Document("a", TEXT), Document("b", TEXT * 3)])
    after = [each.text for each in outcomes if isinstance(each, SanitizedDocument)]
    assert risk.asked == [[TEXT, TEXT * 3], after]


@pytest.mark.parametrize("policy", KEEPING, ids=["lethe", "trip"])
@settings(max_examples=200, deadline=None)
@given(text=st.one_of(overlapping_words(), annotated_texts()))
def test_nothing_survives_of_what_identifies_directly(policy: Policy, text: AnnotatedText) -> None:
    decisions = decided(by(policy), text)
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
    kept = sanitized(trip(Policy("trip", tau=inf, direct_limit=1.0)), text, detector)
    assert kept.text == "He saw Anna a medical record number yesterday."
    assert kept.risk.after == pytest.approx(0.85)
    assert [(d.entity.label, str(d.action)) for d in kept.decisions] == [
        ("person full name", "keep"),
        ("medical record number", "generalize"),
    ]
