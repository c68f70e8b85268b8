"""What is counted, what is released, and what is drawn from it. All documents are invented."""

import random
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.synthesizing.accounting import Guarantee, guaranteed
from ingest.synthesizing.histogram import contribution, released
from ingest.synthesizing.ngrams import END, START, Gram, drawn, learned
from ingest.synthesizing.word_pieces import BREAK, text_of, tokens_of
from models.errors import LetheError

DOCUMENTS = st.lists(st.lists(st.integers(0, 9), max_size=30), min_size=1, max_size=8).filter(any)
USUAL = guaranteed(3, 1e-4, 5, 2)


@given(keys=st.sets(st.tuples(st.integers(0, 99))), most=st.integers(1, 20), seed=st.integers())
def test_a_document_counts_for_no_more_than_it_may(keys: set[Gram], most: int, seed: int) -> None:
    counted = contribution(list(keys), replace(USUAL, per_document=most), random.Random(seed))
    assert len(set(counted)) == len(counted) == min(most, len(keys))
    assert set(counted) <= keys


def test_every_key_is_drawn_as_often_as_every_other() -> None:
    keys, rng = [(key,) for key in range(10)], random.Random(1)
    times = Counter(key for _ in range(4_000) for key in contribution(keys, USUAL, rng))
    assert all(abs(times[key] - 2_000) < 150 for key in keys)


def test_only_what_reaches_the_threshold_is_released() -> None:
    limit = USUAL.threshold
    counts = {(key,): count for key, count in enumerate([1, limit, 100 * limit])}
    seen = [released(counts, USUAL, random.Random(seed)) for seed in range(200)]
    assert all((0,) not in each and (2,) in each for each in seen)
    assert {(1,) in each for each in seen} == {True, False}
    assert all(count >= limit for each in seen for count in each.values())
    assert all(list(each) == sorted(each) for each in seen)
    assert len({each[2,] for each in seen}) > 3, "there is no noise"


@given(documents=DOCUMENTS, order=st.integers(1, 4), seed=st.integers())
def test_without_a_guarantee_the_documents_of_each_ngram_are_counted_and_nothing_else_is_drawn(
    documents: list[list[int]], order: int, seed: int
) -> None:
    model = learned(documents, order, None, random.Random(seed))
    wanted = Counter[Gram]()
    for each in documents:
        for length in range(1, order + 1):
            padded = (*[START] * (length - 1), *each, END)
            wanted.update({padded[at : at + length] for at in range(len(padded) - length + 1)})
    assert model.counts == wanted
    assert model.kept == tuple(sum(len(gram) == n for gram in wanted) for n in range(1, order + 1))
    for each in drawn(model, 5, random.Random(seed), most=40):
        assert all((token,) in wanted for token in each)
        assert order == 1 or all(pair in wanted for pair in pairwise(each))


@given(documents=DOCUMENTS, seed=st.integers())
def test_no_document_counts_for_more_than_is_promised_in_any_histogram(
    documents: list[list[int]], seed: int
) -> None:
    counted: list[Mapping[Gram, int]] = []

    def everything(counts: Mapping[Gram, int], guarantee: Guarantee, rng: random.Random) -> dict[Gram, int]:
        counted.append(dict(counts))
        return dict(counts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ingest.synthesizing.ngrams.released", everything)
        for document in filter(None, documents):
            # Where all that is counted is of one document, the counts are its contribution.
            with suppress(LetheError):
                learned([document], 2, replace(USUAL, per_document=4), random.Random(seed))
    assert all(len(counts) <= 4 and set(counts.values()) <= {1} for counts in counted)


def test_what_few_documents_hold_is_not_released() -> None:
    common, canary = [1, 2, 3], [7, 8, 9]
    for seed in range(100):
        model = learned([*[common] * 200, canary, canary], 2, USUAL, random.Random(seed))
        assert {token for gram in model.counts for token in gram} <= {*common, START, END}
        assert (1, 2) in model.counts
        assert not any(set(canary) & set(each) for each in drawn(model, 5, random.Random(seed)))


def test_an_ngram_is_counted_only_where_its_parts_were_released() -> None:
    # Half of the documents hold a rare token between two common ones: neither pair can be released.
    documents = [[1, 2, 1]] * 200 + [[1, 5 + number, 1] for number in range(200)]
    guarantee = guaranteed(20, 1e-4, 3, 2)
    model = learned(documents, 2, guarantee, random.Random(0))
    assert (1, 2) in model.counts
    # That leaves them two pairs, which both count for sure. The others count for three of four: 200 + 150.
    assert model.counts[START, 1] > 325 and model.counts[1, END] > 325


def test_too_few_documents_and_a_guarantee_for_fewer_histograms_are_refused() -> None:
    with pytest.raises(LetheError) as error:
        learned([[1, 2, 3]] * 3, 2, USUAL, random.Random(0))
    assert str(error.value) == (
        "no token stands in enough of the 3 documents to be released. Give more documents, a larger "
        "--epsilon, or a smaller --per-document."
    )
    with pytest.raises(LetheError, match="of the 1 documents"):
        learned([[]], 2, None, random.Random(0))
    with pytest.raises(ValueError, match="a guarantee for 2 histograms does not fit order 3"):
        learned([[1, 2, 3]] * 300, 3, USUAL, random.Random(0))


def test_documents_follow_the_longest_context() -> None:
    # Behind 1 2 only 3 was seen, behind 4 2 only 5: one token of context could not tell.
    model = learned([[1, 2, 3], [4, 2, 5]], 3, None, random.Random(0))
    texts = {tuple(each) for each in drawn(model, 50, random.Random(1))}
    assert texts == {(1, 2, 3), (4, 2, 5)}
    pairs = learned([[1, 2, 3], [4, 2, 5]], 2, None, random.Random(0))
    assert {tuple(each) for each in drawn(pairs, 50, random.Random(1))} > texts


def test_drawing_backs_off_where_a_context_is_not_known() -> None:
    model = learned([[1, 2]], 3, None, random.Random(0))
    counts = {gram: count for gram, count in model.counts.items() if gram != (1, 2, END)}
    counts |= {(1, 2, 9): 1, (9,): 1}
    texts = list(drawn(replace(model, counts=counts), 20, random.Random(0)))
    assert all(each[:3] == [1, 2, 9] for each in texts)
    assert len(set(map(tuple, texts))) > 1, "behind 9 anything may follow"


def test_tokens_are_drawn_by_their_counts_and_a_document_ends() -> None:
    model = learned([[1]] * 3 + [[2]], 2, None, random.Random(0))
    firsts = Counter(each[0] for each in drawn(model, 4_000, random.Random(2)))
    assert 2_850 < firsts[1] < 3_150 and firsts.total() == 4_000
    endless = replace(model, counts={(1,): 1})
    assert [len(each) for each in drawn(endless, 2, random.Random(0), most=7)] == [7, 7]


def test_texts_are_cut_into_word_pieces_line_by_line_and_put_together_again() -> None:
    text = "Doctor: I don't know.\n\nPatient: well-known, 5/6!\n"
    tokens = tokens_of(text)
    assert tokens.count(BREAK) == 1
    assert text_of(tokens) == "doctor: i don't know.\npatient: well-known, 5/6!"
    assert text_of(tokens_of("zorvathian")) == "zorvathian", "pieces of one word are joined"
    assert tokens_of("☃\u0e00") == [] and text_of([]) == ""
