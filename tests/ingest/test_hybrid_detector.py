"""What the hybrid detector takes from whom. Every text here is invented."""

from ingest.detection.hybrid import HybridDetector
from ingest.documents import Document, Entity
from tests.doubles import PhraseDetector

NOTHING_LEARNED = PhraseDetector({})


def found(text: str, learned: PhraseDetector | None = None) -> list[tuple[str, str, str]]:
    """Words, label and source of each mention."""
    (entities,) = HybridDetector(learned).detect([Document("d", text)])
    return [(_words(text, entity), entity.label, entity.source) for entity in entities]


def _words(text: str, entity: Entity) -> str:
    return text[entity.span.start : entity.span.end]


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
    text = "We met on 3 May 2021."
    assert found(text, PhraseDetector({"3 May 2021": "date of birth"})) == [
        ("3 May 2021", "date of birth", "test")
    ]


def test_the_name_says_every_part() -> None:
    assert HybridDetector().name == "patterns"
    assert HybridDetector(NOTHING_LEARNED).name == "patterns+phrases (test double)"
