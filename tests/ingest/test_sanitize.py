from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ingest.deciding.policy as because
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.deciding.echoes import echoes
from ingest.deciding.lethe import Lethe
from ingest.deciding.policy import BELOW, DEFAULT, DESCRIPTORS, FITS, NARROWS, Policy, hard_rule, reason_of
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

NAME, MAIL, RECORD, CITY = "person full name", "email address", "medical record number", "city name"
DETECTOR = PhraseDetector(
    {"Anna Keller": NAME, "a.keller@example.org": MAIL, "61": "person age", "cough": "symptom"}
)
TEXT = "Anna Keller, 61, has a cough. Write to a.keller@example.org."


class FailingAfterwards(RiskPrior):
    """Notes the texts of each call; fails on those from which something was taken, and quotes them."""

    def __init__(self, fails: bool = True) -> None:
        self.asked: list[list[str]] = []
        self._fails = fails

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        self.asked.append([text.text for text in texts])
        if self._fails and any(text.stand_ins for text in texts):
            raise RuntimeError(f"cannot judge {self.asked}")
        return super().hazards(texts)


Chosen = Policy | Method


def by(chosen: Chosen) -> Method:
    """The method of a policy with a threshold, or another one."""
    if not isinstance(chosen, Policy):
        return chosen
    if chosen.name == "lethe":
        return Lethe(embedded_bits(), chosen)
    return Trip(Engine(WordEncoder(), 32), EMBEDDED_SCALE, chosen)


def decided(method: Method, text: AnnotatedText) -> Sequence[Decision]:
    (found,) = method.decide([text], RiskPrior().hazards([text]))
    return found


THRESHOLDS = pytest.mark.parametrize("policy", [DEFAULT, DESCRIPTORS], ids=["lethe", "trip"])
KEEPING = pytest.mark.parametrize("policy", [DEFAULT.at(inf), DESCRIPTORS.at(inf)], ids=["lethe", "trip"])
"""Only the hard rules."""
METHODS = pytest.mark.parametrize(
    "chosen",
    [DEFAULT, DESCRIPTORS, REDACT, SUPPRESS, ORIGIN],
    ids="lethe trip redact suppress origin".split(),
)


def sanitized(
    chosen: Chosen, text: str, detector: EntityDetector = DETECTOR, words: Policy | None = None
) -> SanitizedDocument:
    """A text by a method, worded as another policy says under a key."""
    key = b"k" * 32 if words else None
    sanitizer = DecidingSanitizer(detector, by(chosen), RiskPrior(), words or Policy("trip"), key)
    (outcome,) = sanitizer.sanitize([Document("d", text)])
    assert isinstance(outcome, SanitizedDocument)
    return outcome


def acted(decisions: Sequence[Decision]) -> set[int]:
    """The places of the characters that do not stay."""
    spans = [each.entity.span for each in decisions if each.action is not Action.KEEP]
    return {place for span in spans for place in range(span.start, span.end)}


@settings(max_examples=60, deadline=None)
@given(text=sentences_about_people())
@METHODS
def test_no_acted_on_character_survives(chosen: Chosen, text: AnnotatedText) -> None:
    decisions = decided(by(chosen), text)
    applied = apply(text, decisions)
    before, replaced = acted(decisions), acted(applied.decisions)
    assert before <= replaced
    # The blank before or behind a detail goes with it.
    assert not "".join(text.text[place] for place in replaced - before).strip(" \t")
    for decision, (start, end) in zip(applied.decisions, applied.places, strict=True):
        span = decision.entity.span
        kept = decision.action is Action.KEEP
        expected = text.text[span.start : span.end] if kept else decision.replacement
        assert applied.residual.text[start:end] == expected


@METHODS
def test_the_same_twice_and_alone_or_in_a_batch_and_of_nothing_nothing(chosen: Chosen) -> None:
    sanitizer = DecidingSanitizer(DETECTOR, by(chosen), RiskPrior())
    documents = [Document("a", TEXT), Document("b", TEXT * 3), Document("c", "")]
    together = sanitizer.sanitize(documents)
    assert together == sanitizer.sanitize(documents)
    assert together == [sanitizer.sanitize([document])[0] for document in documents]
    assert sanitizer.sanitize([]) == []


@METHODS
def test_a_failure_yields_no_document_and_spares_the_others(chosen: Chosen) -> None:
    sanitizer = DecidingSanitizer(FailingDetector("Keller"), by(chosen), RiskPrior())
    good, bad = sanitizer.sanitize([Document("good", "a cough"), Document("bad", TEXT)])
    assert isinstance(good, SanitizedDocument) and isinstance(bad, SanitizationError)
    assert str(bad) == "document bad was not indexed: detection failed (RuntimeError); nothing of it was kept"
    assert bad.__cause__ is None


def test_the_risk_is_asked_once_before_and_once_after_and_its_failure_yields_no_document() -> None:
    risk = FailingAfterwards(fails=False)
    documents = [Document("a", TEXT), Document("b", TEXT * 3)]
    outcomes = DecidingSanitizer(DETECTOR, by(DESCRIPTORS), risk).sanitize(documents)
    after = [each.text for each in outcomes if isinstance(each, SanitizedDocument)]
    assert risk.asked == [[TEXT, TEXT * 3], after]
    (outcome,) = DecidingSanitizer(DETECTOR, REDACT, FailingAfterwards()).sanitize([Document("d", TEXT)])
    assert isinstance(outcome, SanitizationError) and outcome.__cause__ is None
    assert str(outcome) == (
        "document d was not indexed: risk measurement failed (RuntimeError); nothing of it was kept"
    )


ALL = "Somebody, a certain age, has a symptom. Write to an email address."
ILL = "Somebody, a certain age, has a cough. Write to an email address."
HARD = "Somebody, 61, has a cough. Write to an email address."
SAID = "Anna Keller, 61, has a cough. Write to an email address."


@pytest.mark.parametrize("chosen", [DEFAULT.at(0.0), DESCRIPTORS.at(-inf), REDACT])
def test_at_the_lowest_threshold_all_goes_as_it_does_in_redact(chosen: Chosen) -> None:
    assert sanitized(chosen, TEXT).text == ALL


def test_suppress_removes_all() -> None:
    assert sanitized(SUPPRESS, TEXT).text == ",, has a. Write to."


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [(ORIGIN, TEXT), (DEFAULT, ILL), (Policy("trip", tau=0.9), ILL), (DEFAULT.at(inf), HARD)]
    + [(DESCRIPTORS.at(inf), HARD), (Policy("trip", tau=inf, direct_limit=1.0), SAID)],
)
def test_what_each_method_leaves(chosen: Chosen, expected: str) -> None:
    outcome = sanitized(chosen, TEXT)
    assert outcome.text == expected
    assert outcome.risk.after < outcome.risk.before or expected != ILL


@THRESHOLDS
def test_all_mentions_of_a_link_are_treated_alike(policy: Policy) -> None:
    detector = PhraseDetector({"Anna Keller": NAME, "Keller": NAME})
    outcome = sanitized(policy, "Anna Keller came. Then Keller left. KELLER stays.", detector)
    assert "Keller" not in outcome.text


def linked(text: str, phrases: dict[str, str]) -> AnnotatedText:
    (annotated,) = annotate(PhraseDetector(phrases), [Document("d", text)])
    return annotated


@pytest.mark.parametrize("text", ["Anna Keller, a.keller@example.org", "a.keller@example.org, Anna Keller"])
@pytest.mark.parametrize(
    ("tau", "by_score"),
    [(inf, (Action.KEEP, BELOW)), (-1.0, (Action.GENERALIZE, because.AT_OR_ABOVE))],
)
def test_an_address_goes_and_its_name_goes_by_the_scores(
    text: str, tau: float, by_score: tuple[Action, str]
) -> None:
    (annotated,) = annotate(DETECTOR, [Document("d", text)])
    assert len(annotated.mentions()) == 1
    decisions = decided(by(Policy("trip", tau=tau, direct_limit=1.0)), annotated)
    told = {d.entity.label: (d.action, d.reason) for d in decisions}
    assert told == {MAIL: (Action.GENERALIZE, because.RIGID), NAME: by_score}
    assert len({d.scores for d in decisions}) == 1


@pytest.mark.parametrize("chosen", [DEFAULT, DESCRIPTORS, REDACT], ids=["lethe", "trip", "redact"])
def test_with_a_key_people_get_aliases(chosen: Chosen) -> None:
    outcome = sanitized(chosen, TEXT, words=Policy("trip", replacements="alias"))
    known = alias_of(NAME, ("anna", "keller"), b"k" * 32)
    assert outcome.text.startswith(f"{known}, a certain age, has a ")
    assert outcome.text.endswith("Write to an email address.")
    assert [d.action for d in outcome.decisions if d.entity.label == NAME] == [Action.SURROGATE]


def test_an_alias_speaks_of_somebody_as_a_descriptor_does() -> None:
    detector, chosen = PhraseDetector({"Anna Keller": NAME, "Ulm": CITY}), Policy("trip", tau=inf)
    wordings = (Policy("trip"), Policy("lethe"), Policy(replacements="alias"))
    one, *others = [sanitized(chosen, "Anna Keller went to Ulm", detector, each).risk for each in wordings]
    assert one.after > 0
    assert others == [one, one]


@pytest.mark.parametrize(
    ("policy", "thresholds"), [(DEFAULT, (40.0, 10.0, 1.0, 0.0)), (DESCRIPTORS, (0.9, 0.6, 0.3, 0.0))]
)
@settings(max_examples=100, deadline=None)
@given(text=sentences_about_people())
def test_a_stricter_threshold_never_acts_on_fewer(
    policy: Policy, thresholds: Sequence[float], text: AnnotatedText
) -> None:
    decisions = [decided(by(policy.at(threshold)), text) for threshold in thresholds]
    links = [{d.entity.link for d in each if d.action is not Action.KEEP} for each in decisions]
    assert all(loose <= strict for loose, strict in pairwise(links))


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
    (unknown,) = decided(by(DEFAULT), read(said, label, Need(0.9, 0.0, 0.0)))
    (known,) = decided(by(DEFAULT), read(said, label, Need(0.9, 0.9, 0.9)))
    assert (unknown.action, unknown.reason) == (Action.KEEP, FITS)
    assert (known.action, known.reason) == (Action.GENERALIZE, NARROWS)


def test_a_fact_that_stays_alone_goes_beside_others_that_narrow_less() -> None:
    text = "She is a smith of 41 and plays the viola."
    found = {"smith": "job title", "41": "person age", "plays the viola": "identifying detail"}
    alone = [decided(by(DEFAULT), linked(text, {said: label}))[0].scores for said, label in found.items()]
    bits = [each.bits for each in alone if each and each.bits is not None]
    assert len(bits) == 3 and min(bits) > 0
    method = by(DEFAULT.at(max(bits) * 1.01))
    for said, label in found.items():
        assert [d.reason for d in decided(method, linked(text, {said: label}))] == [FITS]
    assert {d.reason for d in decided(method, linked(text, found))} == {FITS, NARROWS}


@pytest.mark.parametrize("priority", [None, 0.49, 0.51])
@pytest.mark.parametrize("risk", [0.39, 0.4, 1.0])
@THRESHOLDS
def test_every_label_gets_a_reason_at_every_corner(
    priority: float | None, risk: float, policy: Policy
) -> None:
    goes, stays = (NARROWS, FITS) if policy.name == "lethe" else (because.AT_OR_ABOVE, BELOW)
    limited = replace(policy, direct_limit=0.4).at(0.5)
    for label in LABELS.values():
        scores = Scores(0.0, 0.0, 0.0, priority)
        reason = hard_rule(entity(0, 1, label.name), risk, limited) or reason_of(scores, limited)
        if label.rigid:
            assert reason == because.RIGID
        elif label.identifier is Identifier.DIRECT and risk >= 0.4:
            assert reason == because.DIRECT
        else:
            assert reason == (stays if priority == 0.49 else goes)


RISKY = Weights(1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("policy", "reasons"),
    [(Policy("trip", tau=0.3, weights=RISKY), [because.AT_OR_ABOVE, because.ECHO, BELOW])]
    + [(DEFAULT, [NARROWS, NARROWS, FITS])],
)
def test_what_says_the_same_as_an_identifier_goes_with_it(policy: Policy, reasons: list[str]) -> None:
    detector = PhraseDetector({"41 years": "person age", "for 41 YEARS": "duration", "16 mg": "dosage"})
    outcome = sanitized(policy, "He is 41 years old, smoked for 41 YEARS, takes 16 mg.", detector)
    assert [d.entity.label for d in outcome.decisions] == ["person age", "duration", "dosage"]
    assert [d.reason for d in outcome.decisions] == reasons
    assert "years" not in outcome.text.casefold()


def test_an_identifier_that_the_threshold_takes_has_echoes_and_an_attribute_has_none() -> None:
    text = "The plumber took a plumber course, had a cough, and a cough syrup."
    found = [entity(4, 11, "job title", 0), entity(19, 33, "event", 1)]
    found += [entity(41, 46, "symptom", 2), entity(54, 65, "medication", 3)]
    assert echoes(AnnotatedText(text, found), {0, 2}) == {1}

    detector = PhraseDetector({"plumber": "job title", "plumber course": "quantity"})
    outcome = sanitized(Policy("trip", tau=0.15, weights=RISKY), text, detector)
    assert [d.reason for d in outcome.decisions] == [because.AT_OR_ABOVE, because.ECHO]
    assert "plumber" not in outcome.text


@pytest.mark.parametrize(
    ("said", "kind", "elsewhere"),
    [("Zürich", CITY, "Zurich Insurance"), ("Zurich", CITY, "ZÜRICH Insurance"), ("Bo", NAME, "Bo Radio")]
    + [("Quorin", NAME, "quorin_med"), ("Varde", CITY, "The Ｖａｒｄｅ clinic")],
)
def test_words_are_the_same_however_they_are_written(said: str, kind: str, elsewhere: str) -> None:
    text = f"{said}. {elsewhere}"
    found = [entity(0, len(said), kind, 0), entity(len(said) + 2, len(text), "organization", 1)]
    assert echoes(AnnotatedText(text, found), {0}) == {1}


@pytest.mark.parametrize("tau", [0.0, 0.5, 2.0, inf])
@THRESHOLDS
@pytest.mark.parametrize("own", [0, 1])
def test_of_several_rules_for_one_link_the_strictest_holds(policy: Policy, tau: float, own: int) -> None:
    text = "Shipping goes to New York. The clinic in New York is New York Eye Infirmary."
    found = [entity(place, place + 8, CITY, 0) for place in (17, 41)]
    found[own] = replace(found[own], required=True)
    decisions = decided(by(policy.at(tau)), AnnotatedText(text, [*found, entity(53, 75, "organization", 1)]))
    assert {d.action for d in decisions} == {Action.GENERALIZE}
    assert {d.reason for d in decisions if d.entity.link == 0} == {because.OWN}


def test_short_words_of_an_identifier_are_found_in_nothing() -> None:
    found = [entity(5, 6, "person age", 0), entity(14, 18, "dosage", 1), entity(0, 6, "person age", 2)]
    text = AnnotatedText("Aged 4, takes 4 mg, aged 4.", [*found, entity(20, 26, "duration", 3)])
    assert echoes(text, {0}) == set()
    assert echoes(text, {0, 2}) == {3}


@THRESHOLDS
def test_a_direct_identifier_goes_whatever_it_costs_and_however_harmless_it_is_judged(policy: Policy) -> None:
    decisions = sanitized(policy.at(inf), "Anna Keller has a cough.").decisions
    assert [d.reason for d in decisions] == [because.DIRECT, FITS if policy.name == "lethe" else BELOW]
    name = entity(0, 11, NAME)
    assert hard_rule(name, 0.0, policy) == because.DIRECT
    assert hard_rule(name, 0.0, replace(policy, direct_limit=0.1)) is None
    assert reason_of(Scores(0.0, 1.0, 0.0, priority=-0.5), policy) in (BELOW, FITS)


def test_names_that_hide_each_other_in_the_difference_still_go() -> None:
    detector = PhraseDetector({"Anna Keller": NAME, "Tom Brandt": NAME, "4711": RECORD})
    policy = Policy("trip", tau=inf, weights=Weights(marginal="difference"), direct_limit=0.1)
    outcome = sanitized(policy, "Anna Keller met Tom Brandt about 4711.", detector)
    names = [d for d in outcome.decisions if d.entity.label == NAME]
    assert all(d.scores and d.scores.marginal_privacy_risk < policy.direct_limit for d in names)
    assert [(d.action, d.reason) for d in names] == [(Action.GENERALIZE, because.DIRECT)] * 2


@KEEPING
@settings(max_examples=200, deadline=None)
@given(text=st.one_of(overlapping_words(), annotated_texts()))
def test_nothing_survives_of_what_identifies_directly(policy: Policy, text: AnnotatedText) -> None:
    gone = acted(apply(text, decided(by(policy), text)).decisions)
    for each in text.entities:
        if label_of(each.label).risk > 0.7:
            letters = {n for n in range(each.span.start, each.span.end) if text.text[n].isalnum()}
            assert letters <= gone


def test_the_rest_of_a_name_that_is_covered_in_part_is_seen() -> None:
    detector = PhraseDetector({"Anna Keller": NAME, "Keller-ID44871": RECORD})
    policy = Policy("trip", tau=inf, direct_limit=1.0)
    kept = sanitized(policy, "He saw Anna Keller-ID44871 yesterday.", detector)
    assert kept.text == "He saw Anna a medical record number yesterday."
    assert kept.risk.after == pytest.approx(0.85)
    told = [(d.entity.label, str(d.action)) for d in kept.decisions]
    assert told == [(NAME, "keep"), (RECORD, "generalize")]
