"""Answers piece by piece: what comes out does not depend on how the text was cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import ModelUnavailable
from retrieval.citations import _MARKS, KnownMarks, _numbers
from retrieval.documents import Answer, Citation, Passage, RetrievedPassage
from retrieval.generators.language_model import _WithoutReasoning
from retrieval.writing import (
    Restored,
    Shortened,
    Until,
    Writing,
    at_once,
    begun,
    filtered,
    through_all,
    whole,
)
from tests.writing import cuts_of, passed

NAMES = {"Person A": "Mara Vell", "Person AB": "Otto Lind", "P": "Weir"}
CITED = {n: RetrievedPassage(Passage(n, f"d{n}", 0, 3, "one"), 0.5) for n in (1, 2)}


def cut(pieces: list[str], said: list[str] | None = None) -> Writing:
    """An answer that comes in pieces and cites two passages; ``said`` gets those that were asked for."""
    for piece in pieces:
        if said is not None:
            said.append(piece)
        yield piece
    return Answer("".join(pieces), (Citation(1, 1, "d1"), Citation(2, 2, "d2")), (), "x")


@given(cuts_of(st.text(alphabet="Person AB.Px ", max_size=12)))
def test_names_come_back_as_in_the_whole_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    slow = re.sub(r"\b(?:Person AB|Person A|P)\b", lambda found: NAMES[found[0]], text)
    assert passed(pieces, Restored(NAMES)) == slow


@given(cuts_of(st.text(alphabet="[1, ９3]【】x \n", max_size=8)))
def test_marks_are_those_of_the_whole_text(pieces: list[str]) -> None:
    def known(found: re.Match[str]) -> str:
        marks = [number for number in _numbers(found["numbers"]) if number in CITED]
        return found["space"] * bool(marks) + "".join(f"[{mark}]" for mark in marks)

    assert passed(pieces, KnownMarks(CITED)) == _MARKS.sub(known, "".join(pieces)).strip()


@given(cuts_of(st.text(alphabet="<think>/ ab", max_size=9)), st.booleans())
def test_reasoning_is_left_out_however_it_is_cut(pieces: list[str], thinks: bool) -> None:
    pieces = ["<thi", "nk>", *pieces] if thinks else pieces
    slow = re.sub(r"\A\s*<think>.*?(?:</think>|\Z)", "", "".join(pieces), flags=re.DOTALL)
    assert passed(pieces, _WithoutReasoning()) == slow


def pieces_of_words(text: str) -> list[tuple[int, int]]:
    """Two letters a token, and each word by itself."""
    return [found.span() for found in re.finditer(r"\w\w?|[^\w\s]", text)]


@given(cuts_of(st.text(alphabet="abc. \n", max_size=12)), st.none() | st.integers(1, 8))
def test_an_answer_ends_after_as_many_tokens_as_are_asked_for(pieces: list[str], most: int | None) -> None:
    text, shortened = "".join(pieces), Shortened(most, pieces_of_words)
    places = pieces_of_words(text)
    over = most is not None and len(places) > most
    said = passed(pieces, shortened)
    assert shortened.cut == over
    # What is left out after the last token that fits is white space at most.
    assert said.rstrip() == (text[: places[most - 1][1]] if over and most else text).rstrip()
    assert text.startswith(said)


@given(
    cuts_of(st.text(alphabet="ab#\n", max_size=6)), st.lists(st.sampled_from(["##", "a#b", "\n"]), max_size=3)
)
def test_an_answer_ends_before_the_first_stop_string(pieces: list[str], stops: list[str]) -> None:
    text = "".join(pieces)
    ends = [text.index(stop) for stop in stops if stop in text]
    assert passed(pieces, Until(stops)) == text[: min(ends, default=len(text))]


@given(cuts_of(st.text(alphabet="x[1] #", max_size=6)))
def test_the_answer_is_all_pieces_and_cites_the_marks_that_are_left(pieces: list[str]) -> None:
    writing, out = filtered(cut(pieces), Until(["#"])), []
    try:
        while True:
            out.append(next(writing))
    except StopIteration as end:
        answer = end.value
    assert answer.text == "".join(out) == "".join(pieces).partition("#")[0]
    assert all(out)
    assert [each.mark for each in answer.citations] == [mark for mark in (1, 2) if f"[{mark}]" in answer.text]


def test_several_filters_are_passed_in_order() -> None:
    pieces = through_all(iter(["P ", "a", "#b"]), Restored({"P": "x#"}), Until(["#"]))
    assert "".join(pieces) == "x"
    assert "".join(through_all(iter(["Pe", "rson A"]), Restored(NAMES), Restored({"Vell": "Z"}))) == "Mara Z"


def test_an_answer_that_is_there_is_one_piece() -> None:
    answer = Answer("one", (), (), "x")
    assert whole(at_once(answer)) is answer
    assert whole(begun(at_once(answer))) is answer
    assert whole(begun(cut([]))).text == ""


def test_what_fails_before_the_first_piece_fails_at_once_and_what_comes_later_does_not() -> None:
    def failing(pieces: list[str]) -> Writing:
        yield from pieces
        raise ModelUnavailable("the model failed;", "try again")

    with pytest.raises(ModelUnavailable, match="the model failed; try again"):
        begun(failing([]))
    writing = begun(failing(["one"]))
    assert next(writing) == "one"
    with pytest.raises(ModelUnavailable):
        next(writing)


def test_no_more_is_asked_for_than_the_reader_takes_and_who_leaves_ends_the_writing() -> None:
    asked: list[str] = []
    writing = filtered(cut(["one. ", "two. ", "three."], asked), Until(()))
    assert next(writing) == "one. "
    assert asked == ["one. "]
    writing.close()
    assert asked == ["one. "]
