"""What the hybrid detector takes from whom. Every text here is invented."""

import pytest

from ingest.detection.hybrid import BARE_LISTS, HybridDetector
from ingest.detection.rules.find import find_by_rules
from ingest.documents import Document, Entity
from tests.doubles import PhraseDetector

NOTHING_LEARNED = PhraseDetector({})


def found(text: str, learned: PhraseDetector | None = None) -> list[tuple[str, str, str]]:
    """Words, label and source of each mention."""
    (entities,) = HybridDetector(learned).detect([Document("d", text)])
    return [(_words(text, entity), entity.label, entity.source) for entity in entities]


def _words(text: str, entity: Entity) -> str:
    return text[entity.span.start : entity.span.end]


def test_a_bare_list_is_asked_only_where_no_model_reads() -> None:
    text = "The applicant met a lawyer."
    assert {entity.source for entity in find_by_rules(text)} >= BARE_LISTS
    assert ("lawyer", "job title", "rule:job-list") in found(text)
    assert found(text, NOTHING_LEARNED) == []


@pytest.mark.parametrize("text", ["She works as a plumber in town.", "Occupation: plumber"])
def test_what_the_text_says_of_a_job_is_asked_beside_a_model_too(text: str) -> None:
    assert [words for words, _, _ in found(text, NOTHING_LEARNED)] == ["plumber"]


def test_a_rigid_pattern_drops_what_others_find_within() -> None:
    text = "Write to anna.keller@example.org today."
    assert found(text, PhraseDetector({"keller": "person full name"})) == [
        ("anna.keller@example.org", "email address", "pattern:email")
    ]


def test_a_mention_that_reaches_past_a_pattern_stays() -> None:
    text = "Write to anna.keller@example.org today."
    labels = [label for _, label, _ in found(text, PhraseDetector({"org today": "place"}))]
    assert labels == ["email address", "place"]


def test_one_span_keeps_the_riskiest_of_its_labels() -> None:
    text = "We met Ms Amara Okoye."
    mentions = found(text, PhraseDetector({"Ms Amara Okoye": "city name", "Amara Okoye": "city name"}))
    assert [label for words, label, _ in mentions if words == "Amara Okoye"] == ["person full name"]


def test_the_name_says_every_part() -> None:
    assert HybridDetector().name == "patterns+rules"
    assert HybridDetector(NOTHING_LEARNED).name == "patterns+rules+phrases (test double)"
