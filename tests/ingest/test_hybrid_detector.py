"""What the hybrid detector takes from whom. Every text here is invented."""

from ingest.detection.hybrid import HybridDetector
from ingest.documents import Document
from tests.doubles import PhraseDetector


def found(text: str, **learned: str) -> list[tuple[str, str, str]]:
    """Words, label and source of each mention; ``learned`` has underscores for blanks."""
    phrases = PhraseDetector({phrase.replace("_", " "): label for phrase, label in learned.items()})
    (entities,) = HybridDetector(phrases).detect([Document("d", text)])
    return [(text[each.span.start : each.span.end], each.label, each.source) for each in entities]


def test_a_rigid_pattern_drops_what_others_find_within_and_not_what_reaches_past_it() -> None:
    text = "Write to anna.keller@example.org today."
    email = ("anna.keller@example.org", "email address", "pattern:email")
    assert found(text, keller="person full name") == [email]
    assert found(text, org_today="place") == [email, ("org today", "place", "test")]


def test_one_span_keeps_the_riskiest_of_its_labels_and_the_name_says_every_part() -> None:
    (entities,) = HybridDetector(PhraseDetector({"3 May 2021": "date of birth"})).detect(
        [Document("d", "We met on 3 May 2021.")]
    )
    assert [(each.label, each.source) for each in entities] == [("date of birth", "test")]
    assert HybridDetector().name == "patterns"
    assert HybridDetector(PhraseDetector({})).name == "patterns+phrases (test double)"
