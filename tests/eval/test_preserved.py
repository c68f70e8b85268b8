"""TPS and TPI, by hand, by their properties, and on published replacements. Texts here are invented."""

import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures.preserved import EditedDocument, edit_similarities, text_preserved, word_information
from ingest.documents import Span
from ingest.spans import Replacement, merged
from models.encoders.minilm import MiniLM
from models.vectors import Vectors
from tests.commands import public_data
from tests.hashing_encoder import HashingEncoder
from tests.strategies import spans

TEXT = "The Anna met Bremen"
ANNA, MET, BREMEN = Span(4, 8), Span(9, 12), Span(13, 19)
OTHER = EditedDocument("The Keller met", [])
HASHING = HashingEncoder()
WORDS = ["", " ", "Anna", "a town", "anna keller", "é"]


@st.composite
def edited(draw: st.DrawFn) -> EditedDocument:
    pieces = st.sampled_from(["Anna", "keller", "met", "the", "o'neill", "7", ",", "é"])
    text = " ".join(draw(st.lists(pieces, min_size=1, max_size=12)))
    found = draw(st.lists(st.tuples(spans(len(text)), st.sampled_from(WORDS)), max_size=6))
    return EditedDocument(text, merged(found))


CORPORA = st.lists(edited(), min_size=1, max_size=4)


class Asked(HashingEncoder):
    """Notes what it is asked to encode."""

    def __init__(self) -> None:
        self.calls: list[Sequence[str]] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(texts)
        return super().encode(texts)


class Opposite(HashingEncoder):
    """Each text is the opposite of the one before it."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = super().encode(["same"] * len(texts))
        vectors[::2] *= -1
        return vectors


def test_information_by_hand() -> None:
    first, second = word_information([TEXT, OTHER.text])
    # 7 pairs of a text and a word of it and 5 words, without the 4 or 3 of the text itself.
    shared, alone = math.log(8 / 2), math.log(8)
    assert first == pytest.approx({"the": shared, "anna": alone, "met": shared, "bremen": alone})
    assert second == pytest.approx({"the": math.log(9 / 2), "keller": math.log(9), "met": math.log(9 / 2)})
    # A name that only its own text repeats is rare.
    (repeated, _) = word_information(["Anna anna ANNA met", "met"])
    assert repeated["anna"] > repeated["met"]


# In units of ln 2 the words Anna, met and Bremen carry 3, 2 and 3; "the" is a stop word.
@pytest.mark.parametrize(
    ("edits", "share"),
    [
        ([], 1),
        ([(ANNA, "")], 5 / 8),
        ([(ANNA, ""), (BREMEN, "")], 2 / 8),
        ([(ANNA, "Anna Keller")], (3 * math.sqrt(1 / 2) + 5) / 8),
        # A span of several words is as rare as its rarest one.
        ([(Span(4, 12), "")], 3 / 6),
        ([(Span(4, 12), "Anna met")], 1),
        # A word that is cut goes with the edit.
        ([(Span(5, 6), "")], 5 / 8),
        # Stop words and blanks count only where they are edited.
        ([(Span(0, 3), "")], 8 / 10),
        ([(Span(3, 4), "")], 1),
    ],
)
def test_tps_by_hand(edits: list[Replacement], share: float) -> None:
    found = text_preserved([EditedDocument(TEXT, edits), OTHER], HASHING).per_document[0]
    assert found == pytest.approx(share)


def test_what_an_apostrophe_cuts_off_carries_nothing() -> None:
    text = EditedDocument("The Anna’s met Bremen", [(ANNA, "")])
    (share, _) = text_preserved([text, OTHER], HASHING).per_document
    assert share == pytest.approx(math.log(9 * 9 / 2) / math.log(9 * 9 * 9 / 2))


def test_the_figures_of_a_corpus_by_hand() -> None:
    edits = [(ANNA, "Anna Keller"), (MET, "met"), (BREMEN, "")]
    preserved = text_preserved([EditedDocument(TEXT, edits), OTHER], HASHING)
    half = math.sqrt(1 / 2)
    assert preserved.engine == "tps[document-frequency, hashed words]"
    assert preserved.per_document == pytest.approx([(3 * half + 2) / 8, 1])
    assert preserved.tps.value == pytest.approx(((3 * half + 2) / 8 + 1) / 2)
    # The edit that puts the same word back is no edit.
    assert preserved.tpi.value == pytest.approx((2 / 8 + 1) / 2)
    assert preserved.similarity.value == pytest.approx(half / 2)
    assert (preserved.tps.n, preserved.tpi.n, preserved.similarity.n) == (2, 2, 2)
    assert preserved.tps.interval == pytest.approx(((3 * half + 2) / 8, 1))


def test_what_carries_nothing_is_not_measured() -> None:
    preserved = text_preserved([EditedDocument("And the, of?", []), EditedDocument("", [])], HASHING)
    assert preserved.per_document == [None, None]
    assert (preserved.tps.value, preserved.tpi.value, preserved.similarity.value) == (None, None, None)
    assert text_preserved([], HASHING).tps.value is None


def test_each_text_is_encoded_once_and_no_text_for_nothing() -> None:
    encoder = Asked()
    edited = EditedDocument(TEXT, [(ANNA, "a woman"), (MET, "met"), (BREMEN, "")])
    further = EditedDocument("Anna, a woman", [(Span(0, 4), "Anna K.")])
    found = edit_similarities([edited, edited, further], encoder)
    assert encoder.calls == [["Anna", "Anna K.", "a woman"]]
    assert found["met", "met"] == 1
    assert found["Bremen", ""] == 0
    edit_similarities([EditedDocument(TEXT, [(ANNA, "")])], encoder)
    assert len(encoder.calls) == 1
    # Opposites have nothing in common.
    assert edit_similarities([EditedDocument(TEXT, [(ANNA, "Bert")])], Opposite()) == {("Anna", "Bert"): 0}


def test_edits_that_no_text_can_have_are_refused() -> None:
    overlapping = r"overlapping spans Span\(start=4, end=8\) and Span\(start=5, end=9\)"
    with pytest.raises(ValueError, match=overlapping):
        EditedDocument(TEXT, [(ANNA, ""), (Span(5, 9), "")])
    with pytest.raises(ValueError, match=r"Span\(start=13, end=20\) runs past the text, 19 characters long"):
        EditedDocument(TEXT, [(Span(13, 20), "")])


@given(CORPORA)
def test_shares_reach_from_nothing_of_suppressed_texts_to_untouched_ones(
    documents: list[EditedDocument],
) -> None:
    bare, nothing = (
        [EditedDocument(each.text, [(Span(0, len(each.text)), "")] * gone) for each in documents]
        for gone in (0, 1)
    )
    same = [
        EditedDocument(each.text, [(span, each.text[span.start : span.end]) for span, _ in each.edits])
        for each in documents
    ]
    for preserved in (text_preserved(bare, HASHING), text_preserved(same, HASHING)):
        assert set(preserved.per_document) <= {1.0, None}
        assert preserved.similarity.value is None
    edited = text_preserved(documents, HASHING)
    figures = [each.value for each in (edited.tps, edited.tpi, edited.similarity)]
    assert all(0 <= share <= 1 for share in (*edited.per_document, *figures) if share is not None)
    if edited.tps.value is not None and edited.tpi.value is not None:
        assert edited.tpi.value <= edited.tps.value + 1e-12
    suppressed = text_preserved(nothing, HASHING)
    assert set(suppressed.per_document) <= {0.0, None}
    assert suppressed.tpi.value in (0.0, None)
    assert (suppressed.similarity.value, suppressed.similarity.interval) == (0, None)


def test_published_generalizations_keep_more_than_suppression(minilm: MiniLM) -> None:
    path = public_data("tab/dev.jsonl") / "tab" / "dev.jsonl"
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:20]]

    def edited_case(case: dict[str, Any], method: str) -> EditedDocument:
        edits = [
            (Span(each["start"], each["end"]), each["reference_replacements"][method] if method else "")
            for each in case["mentions"]
        ]
        return EditedDocument(case["text"], merged(edits))

    suppressed, intact = (
        text_preserved([edited_case(each, method) for each in cases], minilm) for method in ("", "intact")
    )
    assert suppressed.tpi == intact.tpi == suppressed.tps
    for less, more in zip(suppressed.per_document, intact.per_document, strict=True):
        assert less is not None and more is not None and less < more
