"""What the context says of mentions: kept, dropped, trimmed, added; and what the policy makes of it."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.deciding.policy import (
    ALL_SENSITIVE,
    AT_OR_ABOVE,
    BELOW,
    DIRECT,
    MAY_STAY,
    MUST,
    QUASI,
    RIGID,
    Policy,
    decide,
)
from ingest.detection.hybrid import HybridDetector
from ingest.detection.learned import LearnedDetector
from ingest.detection.needs import ADDED, LABEL_OF, LABELS_OF, NOBODY, with_needs
from ingest.documents import Action, Document, Entity, Identifier, Scores, Span
from ingest.labels import LABELS, label_of
from models.detectors.need import WordNeeds
from models.detectors.network import KINDS
from models.detectors.words import FoundSpan, Need, words_of

TEXT = "Ada Lind of Lind Brothers has high cholesterol."
OUT, STAY, GO = (0.97, 0.02, 0.01, 0.0), (0.1, 0.85, 0.05, 0.0), (0.02, 0.03, 0.15, 0.8)


def needs(text: str, go: Sequence[tuple[str, str]] = (), stay: Sequence[tuple[str, str]] = ()) -> WordNeeds:
    """Needs in which these words, each with their kind, have to go or may stay."""
    places = words_of(text)
    musts = np.full((len(places), 4), OUT, dtype=np.float32)
    begins = np.zeros(len(places), dtype=np.float32)
    kinds = np.zeros(len(places), dtype=np.int64)
    for row, pairs in ((GO, go), (STAY, stay)):
        for words, kind in pairs:
            start = text.index(words)
            inside = [i for i, (a, b) in enumerate(places) if start < b and a < start + len(words)]
            musts[inside], kinds[inside], begins[inside[0]] = row, KINDS.index(kind), 1.0
    return WordNeeds(places, begins, musts, kinds, np.ones(len(places), dtype=np.int64))


def mention(words: str, label: str, source: str = "model:x", text: str = TEXT) -> Entity:
    start = text.index(words)
    return Entity(Span(start, start + len(words)), label, label_of(label).identifier, 0.9, source)


def told(entities: Sequence[Entity], text: str = TEXT) -> list[tuple[str, str]]:
    return [(text[each.span.start : each.span.end], each.label) for each in entities]


def test_every_mention_has_its_need() -> None:
    (found,) = with_needs(
        TEXT, [mention("Ada Lind", "person full name")], needs(TEXT, [("Ada Lind", "PERSON")]), "model:m"
    )
    assert found.need is not None
    assert (found.need.tells, found.need.should, found.need.must) == pytest.approx((0.98, 0.95, 0.8))


def test_a_heading_becomes_no_person_and_a_speaker_does() -> None:
    text = "HENT: Clear.\nROS: Thanks.\nGu came. So did L E E."
    marks = [(name, "PERSON") for name in ("HENT", "ROS", "Gu", "L E E")]
    found = told(with_needs(text, [], needs(text, marks), "model:m"), text)
    assert [name for name, _ in found] == ["ROS", "Gu", "L E E"]


@pytest.mark.parametrize("source", ["model:x", "rule:surname", "rule:repeat"])
def test_what_is_surely_nobody_is_no_name(source: str) -> None:
    assert with_needs(TEXT, [mention("Ada Lind", "person full name", source)], needs(TEXT), "model:m") == []


@pytest.mark.parametrize(
    "source", ["pattern:x", "rule:hl7", "rule:key", "rule:caret", "rule:title", "own list"]
)
def test_patterns_structures_and_own_lists_are_believed(source: str) -> None:
    found = with_needs(TEXT, [mention("Ada Lind", "person full name", source)], needs(TEXT), "model:m")
    assert told(found) == [("Ada Lind", "person full name")]


def test_labels_of_ones_own_are_believed() -> None:
    codename = Entity(Span(0, 3), "project codename", Identifier.QUASI, 0.9, "model:x")
    assert [each.label for each in with_needs(TEXT, [codename], needs(TEXT), "model:m")] == [
        "project codename"
    ]


def test_a_name_that_may_be_one_stays_whole_and_a_name() -> None:
    read = needs(TEXT, stay=[("Lind", "ORG")])
    read.musts[:2] = (0.4, 0.5, 0.05, 0.05)
    found = with_needs(TEXT, [mention("Ada Lind", "person full name")], read, "model:m")
    assert told(found) == [("Ada Lind", "person full name")]


def test_a_name_reaches_over_the_marks_of_persons() -> None:
    found = with_needs(
        TEXT, [mention("Lind", "person full name")], needs(TEXT, [("Ada Lind", "PERSON")]), "model:m"
    )
    assert told(found) == [("Ada Lind", "person full name")]


@pytest.mark.parametrize("words", ["Lind Brothers has", "Brothers", "of Lind"])
def test_a_mention_of_a_model_reaches_as_far_as_its_mark(words: str) -> None:
    found = with_needs(
        TEXT, [mention(words, "organization")], needs(TEXT, [("Lind Brothers", "ORG")]), "model:m"
    )
    assert told(found) == [("Lind Brothers", "organization")]


def test_a_mention_over_two_marks_is_two() -> None:
    read = needs(TEXT, [("Ada Lind", "PERSON"), ("Lind Brothers", "ORG")])
    found = with_needs(TEXT, [mention("Ada Lind of Lind Brothers", "organization")], read, "model:m")
    assert told(found) == [("Ada Lind", "person full name"), ("Lind Brothers", "organization")]


@pytest.mark.parametrize(
    ("label", "kind", "shown"),
    [
        ("demographic attribute", "AGE", "person age"),
        ("city name", "LOC", "city name"),
        ("person full name", "HEALTH", "diagnosis"),
        ("organization", "MISC", "organization"),
    ],
)
def test_a_mention_of_a_model_has_a_label_of_its_kind(label: str, kind: str, shown: str) -> None:
    found = with_needs(
        TEXT, [mention("Lind Brothers", label)], needs(TEXT, stay=[("Lind Brothers", kind)]), "model:m"
    )
    assert told(found) == [("Lind Brothers", shown)]
    assert found[0].identifier is label_of(shown).identifier


def test_a_mark_that_no_mention_covers_is_one() -> None:
    found = with_needs(
        TEXT, [], needs(TEXT, [("Lind Brothers", "ORG")], [("high cholesterol", "HEALTH")]), "model:m"
    )
    assert told(found) == [("Lind Brothers", "organization")]
    assert found[0].identifier is Identifier.QUASI
    assert found[0].source == "model:m"


def test_a_mark_beyond_a_mention_is_one_too() -> None:
    found = with_needs(
        TEXT, [mention("Lind", "place", "rule:x")], needs(TEXT, [("Ada Lind", "PERSON")]), "model:m"
    )
    assert ("Ada Lind", "person full name") in told(found)


def test_every_kind_has_a_label() -> None:
    assert set(LABEL_OF) == set(KINDS)
    assert set(LABEL_OF.values()) | {label for each in LABELS_OF.values() for label in each} <= set(LABELS)
    assert all(LABEL_OF[kind] in labels for kind, labels in LABELS_OF.items())
    assert 0 < NOBODY < ADDED < 1


class Judges:
    """A model that finds nothing by itself, and says that a name has to go."""

    name = "judges"

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        return [[] for _ in texts]

    def judged(self, texts: Sequence[str]) -> list[tuple[list[FoundSpan], WordNeeds | None]]:
        return [([], needs(text, [("Lind Brothers", "ORG")])) for text in texts]


def test_a_mark_is_a_mention_wherever_its_name_is_repeated() -> None:
    text = "Lind Brothers pays him. He left Lind Brothers."

    class Once(Judges):
        def judged(self, texts: Sequence[str]) -> list[tuple[list[FoundSpan], WordNeeds | None]]:
            return [([], needs(each, [("Lind Brothers", "ORG")])) for each in texts]

    (found,) = HybridDetector(LearnedDetector(Once())).detect([Document("a", text)])
    assert told(found, text).count(("Lind Brothers", "organization")) == 2
    assert all(each.need is not None and each.need.must > 0.5 for each in found)


def test_a_disguised_name_is_read_where_it_can_be_read() -> None:
    class Decodes(Judges):
        def judged(self, texts: Sequence[str]) -> list[tuple[list[FoundSpan], WordNeeds | None]]:
            told = [[("Quillon", "PERSON")] if "Quillon" in each else [] for each in texts]
            return [([], needs(each, marks)) for each, marks in zip(texts, told, strict=True)]

    text = "She wrote name%3A%20Quillon%20today"
    (found,) = HybridDetector(LearnedDetector(Decodes())).detect([Document("a", text)])
    assert any("Quillon" in words for words, _ in told(found, text))


def test_the_hybrid_detector_asks_the_model() -> None:
    (found,) = HybridDetector(LearnedDetector(Judges())).detect([Document("a", TEXT)])
    assert ("Lind Brothers", "organization") in told(found)
    assert all(each.need is not None for each in found)


@pytest.mark.parametrize(
    ("need", "reason", "action"),
    [
        (Need(1.0, 0.9, 0.5), MUST, Action.GENERALIZE),
        (Need(1.0, 0.9, 0.1), BELOW, Action.KEEP),
        (Need(1.0, 0.1, 0.0), MAY_STAY, Action.KEEP),
        (None, QUASI, Action.GENERALIZE),
    ],
    ids=["must", "scores", "may stay", "no head"],
)
def test_the_policy_follows_the_need(need: Need | None, reason: str, action: Action) -> None:
    policy = Policy(tau=0.6, must_limit=0.4, stay_limit=0.3)
    entity = Entity(Span(0, 3), "city name", Identifier.QUASI, 1.0, "model:x", need=need)
    assert decide(entity, Scores(0.2, 0.1, 0.1, 0.3), 0.2, policy) == (action, reason)


@pytest.mark.parametrize(
    ("label", "need", "reason"),
    [
        ("city name", Need(0.9, 0.5, 0.2), MUST),
        ("job title", Need(0.9, 0.5, 0.2), BELOW),
        ("job title", Need(0.9, 0.5, 0.4), MUST),
        ("symptom", Need(0.9, 0.4, 0.1), MAY_STAY),
    ],
)
def test_what_only_describes_has_higher_limits(label: str, need: Need, reason: str) -> None:
    entity = Entity(Span(0, 3), label, label_of(label).identifier, 1.0, "model:x", need=need)
    assert (
        decide(entity, Scores(0.2, 0.1, 0.1, 0.3), 0.2, Policy(must_limit=0.1, stay_limit=0.15))[1] == reason
    )


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("disease", ALL_SENSITIVE),
        ("religion", ALL_SENSITIVE),
        ("job title", MAY_STAY),
        ("duration", MAY_STAY),
    ],
)
def test_a_policy_may_generalize_all_health_belief_and_origin(label: str, reason: str) -> None:
    entity = Entity(Span(0, 3), label, label_of(label).identifier, 1.0, "model:x", need=Need(0.9, 0.1, 0.0))
    scores = Scores(0.2, 0.1, 0.1, 0.3)
    assert decide(entity, scores, 0.2, Policy())[1] == MAY_STAY
    assert decide(entity, scores, 0.2, Policy(sensitive="generalize"))[1] == reason


@pytest.mark.parametrize("source", ["pattern:x", "rule:hl7"])
def test_the_context_keeps_nothing_that_a_pattern_or_structure_found(source: str) -> None:
    entity = Entity(Span(0, 3), "date of birth", Identifier.QUASI, 1.0, source, need=Need(0.0, 0.0, 0.0))
    assert decide(entity, Scores(0.2, 0.1, 0.1, 0.3), 0.2, Policy())[1] == QUASI


@pytest.mark.parametrize(("label", "above"), [("date", QUASI), ("time", AT_OR_ABOVE)])
def test_the_context_may_keep_a_date_that_a_pattern_knows_by_its_form(label: str, above: str) -> None:
    def reason(should: float, must: float) -> str:
        need = Need(1.0, should, must)
        entity = Entity(Span(0, 3), label, label_of(label).identifier, 1.0, "pattern:x", need=need)
        policy = Policy(must_limit=0.1, stay_limit=0.15)
        return decide(entity, Scores(0.2, 0.1, 0.1, 0.9), 0.5, policy)[1]

    assert reason(0.1, 0.05) == MAY_STAY
    assert reason(0.2, 0.05) == above
    assert reason(0.2, 0.1) == MUST


@pytest.mark.parametrize(("label", "reason"), [("person full name", DIRECT), ("phone number", RIGID)])
def test_direct_identifiers_go_whatever_the_context_says(label: str, reason: str) -> None:
    entity = Entity(Span(0, 3), label, Identifier.DIRECT, 1.0, "model:x", need=Need(0.0, 0.0, 0.0))
    assert decide(entity, Scores(0.0, 0.0, 0.0, -9.0), 0.0, Policy())[1] == reason


@given(must=st.floats(0, 1), more=st.floats(0, 1), limit=st.floats(0, 1), stay=st.floats(0, 1))
def test_a_higher_need_never_keeps_more(must: float, more: float, limit: float, stay: float) -> None:
    policy = Policy(tau=0.5, must_limit=limit, stay_limit=stay)

    def action(need: float) -> Action:
        entity = Entity(Span(0, 3), "date", Identifier.QUASI, 1.0, "x", need=Need(1.0, need, need))
        return decide(entity, Scores(0.2, 0.1, 0.1, 0.3), 0.2, policy)[0]

    low, high = sorted((must, more))
    assert action(low).strictness <= action(high).strictness
