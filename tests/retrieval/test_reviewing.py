"""What a person masks in stored documents is gone wherever it stood. All texts are invented."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Span
from models.errors import ConfigurationError
from retrieval.collection import Collection, UnknownDocument
from retrieval.errors import CollectionError
from retrieval.passages import encoded, passages_of
from retrieval.reviewing import MASKED, Mask, _apart, _Edit, _edited, review
from tests.retrieval.test_store import ENCODER, MANIFEST, best, keep

FERRY = "Keller told the mate. The ferry to Skarholm was late. Skarholm waits. The Skarholms do not."
MILL = "Keller owns the mill by Skarholm, and the old\nWEIR. Skarholm\thas an Old weir."


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    folder = tmp_path / "notes"
    folder.mkdir()
    with Collection.create(folder, MANIFEST) as made:
        keep(
            made.store, ("ferry", "1", FERRY), ("mill", "2", MILL), ("rain", "3", "It rained in the valley.")
        )
        made.publish()
        yield made


def text_of(collection: Collection, doc_id: str) -> str:
    passages = collection.store.passages_of(doc_id)
    assert all(each.end - each.start == len(each.text) for each in passages)
    return "".join(each.text for each in passages)


def mask(collection: Collection, words: str, instead: str = "", doc_id: str = "ferry") -> Mask:
    start = text_of(collection, doc_id).index(words)
    return Mask(Span(start, start + len(words)), instead)


def ids(collection: Collection) -> set[str]:
    return {each.doc_id for each in collection.store.to_review("few", 9)[0]}


def test_one_place_is_masked_and_the_document_is_no_longer_to_be_reviewed(collection: Collection) -> None:
    assert collection.store.to_review("few", 2)[1] == 3
    done = review(collection, ENCODER, "ferry", [mask(collection, "Skarholm")], everywhere=False)
    assert (done.places, done.documents) == (1, 1)
    text = text_of(collection, "ferry")
    assert text.count("Skarholm") == 2
    assert "The ferry to [detail] was late" in text
    assert text_of(collection, "mill").count("Skarholm") == 2
    assert ids(collection) == {"mill", "rain"}
    row = collection.store.ledger("ferry")[-1]
    assert (text[row.start : row.end], row.reason, row.action) == ("[detail]", MASKED, "generalize")
    # What sanitizing decided comes first, and stands where it stood.
    places = [text[start:end] for _, _, start, end in collection.store.treated("ferry")]
    assert places == ["Somebody", "[detail]"]
    # An audit makes the vectors again from what is stored.
    cuts = passages_of(text, collection.store.treated("ferry"), ENCODER, MANIFEST.passage_tokens)
    (vectors,) = encoded([[(each.text, each.kept) for each in cuts]], ENCODER, MANIFEST.search)
    found = [each.passage_id for each in collection.store.passages_of("ferry")]
    assert np.allclose(collection.store.vectors_of(found)[1], vectors, atol=1e-3)


def test_the_same_words_go_everywhere_as_words_and_milder_ones_stand_there(collection: Collection) -> None:
    done = review(
        collection, ENCODER, "ferry", [mask(collection, "Skarholm", "an island town")], everywhere=True
    )
    assert (done.places, done.documents) == (4, 2)
    assert text_of(collection, "ferry").count("an island town") == 2
    assert "The Skarholms do not." in text_of(collection, "ferry")
    assert text_of(collection, "mill") == (
        "Somebody owns the mill by an island town, and the old\nWEIR. an island town\thas an Old weir."
    )
    # Found by what it says now, by words and by vectors; nothing is left of what it said.
    assert best(collection, "island weir") == "mill"
    assert len(collection.load_index()) == collection.store.count_passages()
    assert not collection.store.saying("by Skarholm")
    files = [path.read_bytes() for path in collection.folder.iterdir() if path.is_file()]
    assert not any(b"by Skarholm" in each for each in files)
    assert collection.store.broken_audit_entry() is None


def test_the_same_words_go_whatever_their_capitals_and_blanks(collection: Collection) -> None:
    asked = [mask(collection, "Old weir", "bank", doc_id="mill")]
    assert review(collection, ENCODER, "mill", asked, everywhere=True).places == 2
    assert text_of(collection, "mill").endswith("the bank. Skarholm\thas an bank.")


def test_what_was_put_in_place_goes_whole_or_stays(collection: Collection) -> None:
    keep(collection.store, ("school", "5", "The ÉCOLE, Keller, the école."))
    text = text_of(collection, "school")
    assert text == "The ÉCOLE, somebody, the école."
    cut = Mask(Span(text.index("body"), text.index(", the")), "a person")
    review(collection, ENCODER, "school", [cut, mask(collection, "école", doc_id="school")], everywhere=True)
    assert text_of(collection, "school") == "The [detail], a person, the [detail]."
    review(collection, ENCODER, "school", [mask(collection, "The", "A", "school")], everywhere=True)
    assert text_of(collection, "school") == "A [detail], a person, A [detail]."
    keep(collection.store, ("note", "6", "A detail of the note."))
    review(collection, ENCODER, "note", [mask(collection, "detail", doc_id="note")], everywhere=True)
    assert text_of(collection, "note") == "A [detail] of the note."
    assert text_of(collection, "school") == "A [detail], a person, A [detail]."


def test_a_mask_over_several_passages_and_decisions_leaves_no_gap(collection: Collection) -> None:
    text = text_of(collection, "ferry")
    assert len(collection.store.passages_of("ferry")) > 1
    review(collection, ENCODER, "ferry", [Mask(Span(0, len(text) - 1), "Nothing")], everywhere=False)
    assert text_of(collection, "ferry") == "Nothing."
    assert {(each.start, each.end) for each in collection.store.ledger("ferry")} == {(0, 7)}


def test_a_document_that_may_stay_is_only_noted_and_stored_anew_it_is_reviewed_anew(
    collection: Collection,
) -> None:
    before = text_of(collection, "mill")
    assert review(collection, ENCODER, "mill", [], everywhere=True).documents == 0
    assert (text_of(collection, "mill"), ids(collection)) == (before, {"ferry", "rain"})
    keep(collection.store, ("mill", "4", MILL + " And more."))
    assert "mill" in ids(collection)


def test_wrong_places_strangers_and_other_writers_change_nothing(collection: Collection) -> None:
    before = text_of(collection, "ferry")
    overlapping = [Mask(Span(0, 9)), Mask(Span(5, 12))]
    for masks in ([Mask(Span(0, 999))], overlapping, [Mask(Span(8, 9))]):
        with pytest.raises(ConfigurationError, match="masks"):
            review(collection, ENCODER, "ferry", masks, everywhere=False)
    with pytest.raises(UnknownDocument):
        review(collection, ENCODER, "nothing", [], everywhere=False)
    with collection.writing(), pytest.raises(CollectionError, match="another process"):
        review(collection, ENCODER, "ferry", [], everywhere=False)
    assert (text_of(collection, "ferry"), ids(collection)) == (before, {"ferry", "mill", "rain"})


PIECES = st.lists(st.tuples(st.text("ab ", max_size=5), st.text("XY", min_size=1, max_size=4)), max_size=5)


@given(PIECES, st.text("ab ", max_size=5))
def test_every_place_outside_of_edits_says_what_it_said(pieces: list[tuple[str, str]], last: str) -> None:
    text, edits, outside = "", list[_Edit](), list[tuple[int, int]]()
    for before, word in pieces:
        outside.append((len(text), len(text) + len(before)))
        text += before
        edits.append(_Edit(len(text), len(text) + len(word), f"[{len(edits)}]"))
        text += word
    outside.append((len(text), len(text) + len(last)))
    made, moved = _edited(text + last, edits)
    for start, end in outside:
        if start < end:
            assert made[moved(start, False) : moved(end, True)] == (text + last)[start:end]
    for edit in edits:
        assert made[moved(edit.start, False) : moved(edit.end, True)] == edit.words
    assert _apart(edits[::-1], ()) == edits
