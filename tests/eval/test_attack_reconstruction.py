"""Documents put back together from guesses. All of them are invented."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import settings as examples

from eval.attacks import guessing
from eval.attacks.posterior import OriginalsMissing, slots_of
from eval.documents import SensitiveEntity
from eval.measures.leakage import SensitiveIndex, normalized, stands_in
from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import ORIGIN, REDACT, SUPPRESS
from ingest.documents import Document, Identifier, SanitizedDocument
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.prior import RiskPrior
from tests.doubles import PhraseDetector
from tests.hashing_encoder import HashingEncoder
from tests.strategies import sentences_about_people

PHRASES = {
    "Quorin Talvik": "person full name",
    "Varde": "city name",
    "Ostby": "city name",
    "marsh fever": "disease",
    "61": "person age",
}
DOCUMENTS = [
    Document("a", "Quorin Talvik of Varde, 61, had marsh fever marshy spots."),
    Document("b", "The ferry to Ostby was late."),
]
SENSITIVE = SensitiveIndex(
    SensitiveEntity(document.doc_id, phrase, label, Identifier.QUASI)
    for document in DOCUMENTS
    for phrase, label in PHRASES.items()
    if phrase in document.text and phrase != "61"
)


def sanitized(
    documents: Sequence[Document], method: Method, phrases: Mapping[str, str] = PHRASES
) -> list[SanitizedDocument]:
    done = DecidingSanitizer(PhraseDetector(dict(phrases)), method, RiskPrior()).sanitize(documents)
    return [each for each in done if isinstance(each, SanitizedDocument)]


def guessed(done: Sequence[SanitizedDocument], *, right: bool) -> list[guessing.Guess]:
    found = []
    for slots in slots_of(DOCUMENTS, done):
        for n, slot in enumerate(slots):
            word = slot.original if right else "oats"
            found.append(
                guessing.Guess(slot.doc_id, n, slot.label, Identifier.QUASI, slot.kept, 2, 1, 1, word)
            )
    return found


def rows_of(method: Method, *, right: bool) -> list[guessing.Reconstruction]:
    done = sanitized(DOCUMENTS, method)
    return guessing.reconstruct(DOCUMENTS, done, guessed(done, right=right), SENSITIVE)


def test_an_unsanitized_document_is_whole_before_any_guess() -> None:
    for row, document in zip(rows_of(ORIGIN, right=False), DOCUMENTS, strict=True):
        assert row.text == document.text
        assert row.sanitized_rouge == row.rouge == 1
        assert row.left == row.recovered == row.sensitive > 0


@pytest.mark.parametrize("method", [REDACT, SUPPRESS], ids=["generalized", "suppressed"])
def test_right_guesses_bring_everything_back_and_wrong_ones_nothing(method: Method) -> None:
    for row, document in zip(rows_of(method, right=True), DOCUMENTS, strict=True):
        assert row.text.split() == document.text.split()
        assert (row.left, row.recovered) == (0, row.sensitive)
        assert row.sanitized_rouge < row.rouge == 1
    for row in rows_of(method, right=False):
        assert (row.left, row.recovered) == (0, 0) and row.rouge < 1


def test_without_guesses_the_text_stays_as_it_is_and_is_not_shown() -> None:
    done = sanitized(DOCUMENTS, REDACT)
    rows = guessing.reconstruct(DOCUMENTS, done, [], SENSITIVE)
    assert [row.text for row in rows] == [each.text for each in done]
    assert [row.rouge for row in rows] == [row.sanitized_rouge for row in rows]
    shown = repr([rows, rows_of(REDACT, right=True)])
    assert "Quorin" not in shown and "ferry" not in shown and "doc_id='a'" in shown
    with pytest.raises(OriginalsMissing, match="document b has no original: give the documents that were"):
        guessing.reconstruct(DOCUMENTS[:1], done, [], SENSITIVE)


def test_what_the_guesser_finds_is_put_in() -> None:
    done = sanitized(DOCUMENTS, SUPPRESS)
    guesses = guessing.guess_slots(DOCUMENTS, done, HashingEncoder())
    rows = guessing.reconstruct(DOCUMENTS, done, guesses, SENSITIVE)
    # A name, an illness and an age without any other candidate, and two towns of which one may be wrong.
    assert rows[0].recovered >= 2
    assert "marsh fever" in rows[0].text


@examples(max_examples=60)
@given(text=sentences_about_people())
def test_with_the_truth_in_every_slot_no_word_is_lost_or_joined(text: AnnotatedText) -> None:
    document = Document("d", text.text)
    phrases = {text.text[e.span.start : e.span.end]: e.label for e in text.entities}
    for method in (ORIGIN, SUPPRESS):
        (done,) = sanitized([document], method, phrases)
        (slots,) = slots_of([document], [done])
        words = {number: slot.original for number, slot in enumerate(slots) if not slot.kept}
        filled = guessing.filled_in(done, words)
        assert "".join(filled.split()) == "".join(document.text.split())
        assert all(stands_in(normalized(each), normalized(filled)) for each in words.values())


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Varde Ostby61", "Varde Ostby 61"),
        ("They (Ostby, 61) left Varde.", "They (Ostby, 61) left Varde."),
        ("Varde3 was far.", "Varde3 was far."),
    ],
)
def test_words_are_put_back_with_the_blank_that_went_with_them(text: str, filled: str) -> None:
    (done,) = sanitized([Document("d", text)], SUPPRESS)
    (slots,) = slots_of([Document("d", text)], [done])
    assert done.text != text
    assert guessing.filled_in(done, {number: slot.original for number, slot in enumerate(slots)}) == filled
