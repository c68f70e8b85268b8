"""How units are scored. All texts are invented."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.generators.relevance import (
    WEIGHTS,
    Scored,
    naming,
    relevances,
)
from retrieval.quoting.words import content_words, stem
from tests.hashing_encoder import HashingEncoder

QUESTION = "Which pump does the boiler need?"


def scored(
    *texts: str, question: str = QUESTION, marks: tuple[int, ...] = (), replies: int = -1
) -> list[float]:
    units = [
        Scored(text, marks[n] if marks else n, marks[n] if marks else n, n == replies)
        for n, text in enumerate(texts)
    ]
    return [float(each) for each in relevances(question, units, HashingEncoder().encode([question, *texts]))]


@pytest.mark.parametrize(
    "forms",
    [
        ["stop", "stops", "stopped", "stopping"],
        ["move", "moves", "moved", "moving"],
        ["tablet", "tablets"],
        ["allergy", "allergies"],
        ["carry", "carries", "carried"],
        ["press", "presses", "pressed"],
        ["quick", "quickly"],
    ],
)
def test_forms_of_a_word_have_one_stem(forms: list[str]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["gas", "bus", "is", "red", "mass", "42"])
def test_short_words_stay(word: str) -> None:
    assert stem(word) == word


@given(st.text(max_size=20))
def test_a_stem_is_never_empty_and_case_does_not_matter(word: str) -> None:
    assert (stem(word) == "") == (word.casefold() == "")
    assert stem(word.casefold()) == stem(word)


def test_words_of_questions_carry_no_content() -> None:
    assert content_words("How often did somebody say what happened to the 3 boilers?") == ["3", "boiler"]


def test_a_rare_word_of_the_question_counts_more_than_a_common_one() -> None:
    texts = ["boiler one", "boiler two", "boiler three", "pump four"]
    *_, boiler, pump = scored(*texts)
    assert pump > boiler


def test_the_words_of_the_passage_and_the_neighbors_count() -> None:
    alone, beside = scored("we paid", "a pump"), scored("we paid", "a pump", marks=(1, 1))
    assert beside[0] > alone[0]


def test_a_reply_counts_more() -> None:
    texts = ("the pump of the boiler", "the pump of the boiler")
    assert scored(*texts, replies=1)[1] - scored(*texts)[1] == pytest.approx(WEIGHTS["reply"])


def test_who_has_as_many_words_of_the_question_as_the_best() -> None:
    texts = ("The boiler needs a pump.", "No pump fits.", "Our boiler and its pump are old.", "We left.")
    assert naming(QUESTION, texts, best=0).tolist() == [True, False, True, False]
    assert naming(QUESTION, texts, best=1).tolist() == [True, True, True, False]
    assert naming("Who?", texts, best=0).tolist() == [False] * 4


WORDS = st.lists(st.sampled_from("pump boiler need rent roof the a 7".split()), min_size=1).map(" ".join)


@given(st.lists(st.tuples(WORDS, st.integers(0, 2), st.booleans()), min_size=1, max_size=6), WORDS)
def test_relevance_has_a_range_and_does_not_depend_on_other_stretches_order(
    rows: list[tuple[str, int, bool]], question: str
) -> None:
    rows = sorted(rows, key=lambda row: row[1])
    units = [Scored(text, mark, mark, replies) for text, mark, replies in rows]
    vectors = HashingEncoder().encode([question, *(unit.text for unit in units)])
    found = relevances(question, units, vectors)
    assert found.shape == (len(units),)
    assert np.all((found >= 0) & (found <= sum(WEIGHTS.values()) + 1e-6))
    turned = sorted(range(len(units)), key=lambda n: -units[n].mark)
    again = relevances(question, [units[n] for n in turned], vectors[[0, *(n + 1 for n in turned)]])
    assert again == pytest.approx(found[turned])


def test_no_text_in_reprs() -> None:
    assert "boiler" not in repr(Scored("boiler", 1, 1, False))
