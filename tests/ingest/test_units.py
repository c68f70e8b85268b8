from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.language.units import retrieval_units
from tests.doubles import WordEncoder
from tests.strategies import annotated_texts

prose = st.text(alphabet="ab. \n!é😀", max_size=300)


@settings(max_examples=500, deadline=None)
@given(prose, st.integers(1, 12))
def test_units_cover_the_text_without_gaps_and_stay_small(text: str, size: int) -> None:
    tokens = WordEncoder().token_spans(text)
    units = retrieval_units(text, tokens, size)
    assert "".join(text[u.start : u.end] for u in units) == text
    for unit in units:
        assert sum(unit.start <= start < unit.end for start, _ in tokens) <= size


def test_cuts_fall_between_paragraphs_before_sentences_before_words() -> None:
    text = "one two. three\n\nfour five. six seven eight nine ten eleven twelve"
    tokens = WordEncoder().token_spans(text)
    units = [text[u.start : u.end] for u in retrieval_units(text, tokens, 6)]
    assert units[0] == "one two. three\n\n"
    assert units[1] == "four five. "


@given(annotated_texts(), st.sets(st.integers(1, 60)))
def test_pieces_hold_all_of_a_text_and_all_that_was_found_in_it(text: AnnotatedText, cuts: set[int]) -> None:
    borders = [0, *sorted(cut for cut in cuts if cut < len(text.text)), len(text.text)]
    units = [Span(start, end) for start, end in pairwise(borders)]
    pieces = text.pieces(units)
    assert "".join(piece.text for piece in pieces) == text.text
    found = {
        (entity.link, entity.label, unit.start + place)
        for unit, piece in zip(units, pieces, strict=True)
        for entity in piece.entities
        for place in range(entity.span.start, entity.span.end)
        if piece.text[place].isalnum()
    }
    assert found == {
        (entity.link, entity.label, place)
        for entity in text.entities
        for place in range(entity.span.start, entity.span.end)
        if text.text[place].isalnum()
    }


def test_a_stand_in_that_crosses_a_cut_is_one_on_both_sides() -> None:
    text = AnnotatedText("a city is there", [], [Span(0, 6)])
    first, second = text.pieces([Span(0, 4), Span(4, 15)])
    assert (first.stand_ins, second.stand_ins) == ([Span(0, 4)], [Span(0, 2)])
