"""Sentences and how they are chosen. All texts are invented; nobody in them exists."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.language.sentences import MAX_CHARACTERS, split_sentences
from models.encoders.minilm import MiniLM
from retrieval.citations import NO_ANSWER
from retrieval.documents import Passage, RetrievedPassage
from retrieval.generators.extractive import (
    MAX_CANDIDATES,
    ExtractiveGenerator,
)
from tests.hashing_encoder import HashingEncoder


def found(*texts: str) -> list[RetrievedPassage]:
    return [
        RetrievedPassage(Passage(100 + n, f"doc-{n}", 0, len(text), text), 0.5)
        for n, text in enumerate(texts, start=1)
    ]


@pytest.fixture(scope="module")
def quoting() -> ExtractiveGenerator:
    return ExtractiveGenerator(HashingEncoder())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rained. We left.", ["It rained.", "We left."]),
        ("Dr. Roe left at 5 p.m. today. So did we.", ["Dr. Roe left at 5 p.m. today.", "So did we."]),
        ("See e.g. Figure 2 and J. Roe. Then stop.", ["See e.g. Figure 2 and J. Roe.", "Then stop."]),
        ("The dose is 2.5 mg. Take it!", ["The dose is 2.5 mg.", "Take it!"]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ("Was it I. No.", ["Was it I.", "No."]),
        ("Really?! Yes... Perhaps.", ["Really?!", "Yes...", "Perhaps."]),
        ("Doctor: Any pain?\nPatient: no", ["Doctor: Any pain?", "Patient: no"]),
        ("| a | b |\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("a line that was\nwrapped here.\nAnother.", ["a line that was wrapped here.", "Another."]),
        (f"{'word ' * 13}and\nThen Some.", [f"{'word ' * 13}and Then Some."]),
        ("1. Rest.\n2. Drink water.", ["1. Rest.", "2. Drink water."]),
        ("- milk\n- bread", ["- milk", "- bread"]),
        ("Title\n\nbody text", ["Title", "body text"]),
        ("雨が降る。帰った。", ["雨が降る。", "帰った。"]),
        ("\n \n", []),
    ],
)  # fmt: skip
def test_splits_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("abcÉé A.?!…:;|-1\"'()\n\r\t\u2028\u3000。"), max_size=200))
def test_splitting_loses_and_adds_nothing_but_white_space(text: str) -> None:
    sentences = split_sentences(text)
    assert re.sub(r"\s", "", "".join(sentences)) == re.sub(r"\s", "", text)
    assert all(sentence.strip() == sentence != "" for sentence in sentences)


@given(st.integers(1, 2000), st.sampled_from(["x", "word "]))
def test_no_sentence_is_longer_than_a_quotation_may_be(n: int, piece: str) -> None:
    assert all(0 < len(sentence) <= MAX_CHARACTERS for sentence in split_sentences(piece * n))


def test_quotes_the_sentence_that_answers_and_cites_its_passage(quoting: ExtractiveGenerator) -> None:
    passages = found(
        "The weather was fine that day.", "We walked. The rent is nine hundred a month. We slept."
    )
    answer = quoting.generate("How much is the rent a month?", passages)
    assert answer.text == "The rent is nine hundred a month. [2]"
    assert [(c.mark, c.passage_id, c.doc_id) for c in answer.citations] == [(2, 102, "doc-2")]


def test_follows_a_question_with_what_comes_after_it(quoting: ExtractiveGenerator) -> None:
    passages = found("Doctor: Hello.\nDoctor: Any allergies?\nPatient: Bees.\nDoctor: Fine.")
    assert quoting.generate("Any allergies?", passages).text == (
        "Doctor: Any allergies? [1] Patient: Bees. [1]"
    )


def test_takes_the_neighbor_from_the_same_passage_only(quoting: ExtractiveGenerator) -> None:
    answer = quoting.generate("Any allergies?", found("Any allergies?", "Unrelated words stand here."))
    assert answer.text == "Any allergies? [1]"


def test_quotes_what_overlapping_passages_share_once(quoting: ExtractiveGenerator) -> None:
    shared = "The rent is nine hundred a month."
    answer = quoting.generate("What is the rent?", found(f"We slept. {shared}", f"{shared} We left."))
    assert answer.text == f"{shared} [1]"


def test_prefers_something_new_to_a_repetition(quoting: ExtractiveGenerator) -> None:
    alike = ["Our roof leaks badly.", "Our roof leaks quickly."]
    new = ["One attic window is broken.", "That storm hit my garden."]
    answer = quoting.generate("Roof leaks, attic window, storm garden?", found(" ".join(alike + new)))
    assert answer.text == f"{alike[0]} [1] {new[0]} [1] {new[1]} [1]"


@pytest.mark.parametrize("floor", [0.0, 2.0])
def test_the_floor_decides_whether_there_is_an_answer(floor: float) -> None:
    answer = ExtractiveGenerator(HashingEncoder(), floor).generate("the rent?", found("The rent is due now."))
    assert (answer.text == NO_ANSWER) == (not answer.citations) == (floor > 1.25)


def test_quotes_at_most_three_sentences(quoting: ExtractiveGenerator) -> None:
    text = " ".join(f"The rent for room {word} is due." for word in "one two three four five".split())
    answer = quoting.generate("Is the rent for the room due?", found(text))
    assert answer.text.count("[1]") == 3


def test_leaves_out_a_question_whose_answer_has_no_room(quoting: ExtractiveGenerator) -> None:
    text = (
        "The roof leaks badly today. That attic window is broken. Any storm harm seen out there? Yes, once."
    )
    answer = quoting.generate(
        "The roof leaks badly, that attic window is broken, any storm harm?", found(text)
    )
    assert answer.text == "The roof leaks badly today. [1] That attic window is broken. [1]"


def test_ranks_the_sentences_of_the_best_passages_only(quoting: ExtractiveGenerator) -> None:
    filler = found(*(f"Sentence number {n} says nothing." for n in range(MAX_CANDIDATES)))
    last = found("The rent is nine hundred a month.")
    assert quoting.generate("What is the rent a month?", filler + last).text == NO_ANSWER
    assert quoting.generate("What is the rent a month?", filler[1:] + last).text != NO_ANSWER


def test_marks_in_a_passage_do_not_look_like_citations(quoting: ExtractiveGenerator) -> None:
    answer = quoting.generate("What is the rent?", found("The rent is high [2, 3]."))
    assert answer.text == "The rent is high (2, 3). [1]"


def test_the_embedded_encoder_answers_by_meaning_and_knows_when_it_cannot() -> None:
    quoting = ExtractiveGenerator(MiniLM())
    passages = found(
        "The tenant must leave by the end of a month. The deposit is returned within two weeks.",
        "Somebody was treated for a disease with a medication twice a day.",
    )
    assert (
        "The deposit is returned within two weeks. [1]"
        in quoting.generate("When do I get my security deposit back?", passages).text
    )
    assert quoting.generate("What is the capital of Mongolia?", passages).text == NO_ANSWER
