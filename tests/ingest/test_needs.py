"""What the context says of mentions: kept, dropped, trimmed, added; and what the policy makes of it."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.deciding.policy import BELOW, DIRECT, MAY_STAY, MUST, QUASI, RIGID, Policy, decide
from ingest.detection.hybrid import HybridDetector
from ingest.detection.learned import LearnedDetector
from ingest.detection.needs import ADDED, LABEL_OF, LABELS_OF, NAME_TOLD, TOLD, with_needs
from ingest.documents import Action, Document, Entity, Identifier, Scores, Span
from ingest.labels import LABELS, label_of
from models.detectors.need import WordNeeds
from models.detectors.network import KINDS
from models.detectors.words import FoundSpan, Need, words_of

TEXT = "Ada Lind of Lind Brothers has high cholesterol."
NOBODY, STAY, GO = (0.97, 0.02, 0.01, 0.0), (0.1, 0.85, 0.05, 0.0), (0.02, 0.03, 0.15, 0.8)


def needs(text: str, go: Sequence[tuple[str, str]] = (), stay: Sequence[tuple[str, str]] = ()) -> WordNeeds:
    """Needs in which these words, each with their kind, have to go or may stay."""
    places = words_of(text)
    musts = np.full((len(places), 4), NOBODY, dtype=np.float32)
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
        [mention("Ada Lind", "person full name")], needs(TEXT, [("Ada Lind", "PERSON")]), "m"
    )
    assert found.need is not None
    assert (found.need.tells, found.need.should, found.need.must) == pytest.approx((0.98, 0.95, 0.8))


@pytest.mark.parametrize("source", ["model:x", "rule:x"])
def test_what_tells_of_nobody_is_no_mention(source: str) -> None:
    found = [mention("high", "symptom", source), mention("Ada Lind", "person full name", source)]
    assert with_needs(found, needs(TEXT), "m") == []


def test_patterns_are_believed_whatever_the_context_says() -> None:
    found = with_needs([mention("Ada Lind", "person full name", "pattern:x")], needs(TEXT), "m")
    assert told(found) == [("Ada Lind", "person full name")]


def test_a_name_stays_a_mention_at_a_lower_probability() -> None:
    read = needs(TEXT)
    read.musts[:2] = (0.85, 0.05, 0.05, 0.05)
    both = [mention("Ada Lind", "person full name"), mention("Ada Lind", "job title")]
    assert told(with_needs(both, read, "m")) == [("Ada Lind", "person full name")]


@pytest.mark.parametrize("words", ["Lind Brothers has", "Brothers", "of Lind"])
def test_a_mention_of_a_model_reaches_as_far_as_its_mark(words: str) -> None:
    found = with_needs([mention(words, "organization")], needs(TEXT, [("Lind Brothers", "ORG")]), "m")
    assert told(found) == [("Lind Brothers", "organization")]


def test_a_mention_over_two_marks_is_two() -> None:
    read = needs(TEXT, [("Ada Lind", "PERSON"), ("Lind Brothers", "ORG")])
    found = with_needs([mention("Ada Lind of Lind Brothers", "organization")], read, "m")
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
    found = with_needs([mention("Lind Brothers", label)], needs(TEXT, [("Lind Brothers", kind)]), "m")
    assert told(found) == [("Lind Brothers", shown)]
    assert found[0].identifier is label_of(shown).identifier


def test_a_mark_that_no_mention_covers_is_one() -> None:
    found = with_needs([], needs(TEXT, [("Lind Brothers", "ORG")], [("high cholesterol", "HEALTH")]), "m")
    assert told(found) == [("Lind Brothers", "organization")]
    assert found[0].identifier is Identifier.QUASI
    assert found[0].source == "m"


def test_a_mark_beyond_a_mention_is_one_too() -> None:
    found = with_needs([mention("Lind", "place", "rule:x")], needs(TEXT, [("Ada Lind", "PERSON")]), "m")
    assert ("Ada Lind", "person full name") in told(found)


def test_every_kind_has_a_label() -> None:
    assert set(LABEL_OF) == set(KINDS)
    assert set(LABEL_OF.values()) | {label for each in LABELS_OF.values() for label in each} <= set(LABELS)
    assert all(LABEL_OF[kind] in labels for kind, labels in LABELS_OF.items())
    assert 0 < NAME_TOLD < TOLD < 1 and 0 < ADDED < 1


class Judges:
    """A model that finds nothing by itself, and says that a name has to go."""

    name = "judges"

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        return [[] for _ in texts]

    def judged(self, texts: Sequence[str]) -> list[tuple[list[FoundSpan], WordNeeds | None]]:
        return [([], needs(text, [("Lind Brothers", "ORG")])) for text in texts]


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
    ids=["must", "scores", "may stay", "no model"],
)
def test_the_policy_follows_the_need(need: Need | None, reason: str, action: Action) -> None:
    policy = Policy(tau=0.6, must_limit=0.4, stay_limit=0.3)
    entity = Entity(Span(0, 3), "city name", Identifier.QUASI, 1.0, "model:x", need=need)
    assert decide(entity, Scores(0.2, 0.1, 0.1, 0.3), 0.2, policy) == (action, reason)


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
