"""The encoder that requests share joins what they ask for."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.joined import MOST_REMEMBERED, MOST_TEXTS, JoinedEncoder
from models.encoders.minilm import MiniLM
from models.vectors import Vectors
from tests.doubles import WordEncoder


class Held(WordEncoder):
    """Waits at its first call unless it may go on, and refuses a text."""

    def __init__(self, *, go: bool = False) -> None:
        self.begun, self.go = Event(), Event()
        if go:
            self.go.set()
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        self.begun.set()
        assert self.go.wait(10)
        if "bad" in texts:
            raise ValueError("a text that cannot be encoded")
        return super().encode(texts)


def asked_while_held(asked: Sequence[Sequence[str]]) -> tuple[Held, list[object]]:
    """What each caller gets whose texts come while the model is at work for another."""
    held = Held()
    joined = JoinedEncoder(held, threads=1)
    with ThreadPoolExecutor(len(asked) + 1) as pool:
        first = pool.submit(joined.encode, ["first"])
        assert held.begun.wait(10)
        others = [pool.submit(joined.encode, texts) for texts in asked]
        while joined._asked.qsize() < len(asked):
            pass
        held.go.set()
        first.result(10)
        return held, [each.exception(10) or each.result() for each in others]


def test_texts_that_come_meanwhile_are_encoded_in_one_batch() -> None:
    asked = [["a heron"], ["a mill", "a boiler"], ["a weir"]]
    held, found = asked_while_held(asked)
    together = ["a boiler", "a heron", "a mill", "a weir"]
    assert [sorted(batch) for batch in held.batches] == [["first"], together]
    for texts, vectors in zip(asked, found, strict=True):
        assert (np.asarray(vectors) == WordEncoder().encode(texts)).all()


def test_a_text_that_fails_fails_for_its_own_caller_alone() -> None:
    _, (good, bad, also_good) = asked_while_held([["a heron"], ["bad"], ["a weir"]])
    assert (np.asarray(good) == WordEncoder().encode(["a heron"])).all()
    assert isinstance(bad, ValueError)
    assert (np.asarray(also_good) == WordEncoder().encode(["a weir"])).all()


def test_no_more_are_joined_to_a_large_request() -> None:
    large = [f"heron {number}" for number in range(MOST_TEXTS)]
    held, _ = asked_while_held([large, ["a mill"]])
    assert [len(batch) for batch in held.batches] == [1, MOST_TEXTS, 1]


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=3), max_size=9))
def test_vectors_are_those_of_the_encoder_whatever_is_remembered(asked: list[list[str]]) -> None:
    joined = JoinedEncoder(WordEncoder(), threads=1)
    for texts in asked:
        assert (joined.encode(texts) == WordEncoder().encode(texts)).all()


def test_a_text_that_came_alone_is_encoded_once_until_it_is_forgotten_and_others_each_time() -> None:
    held = Held(go=True)
    joined = JoinedEncoder(held, threads=1)
    for texts in (["a mill"], ["a mill"], ["a mill", "a weir"], ["a mill", "a weir"], ["a weir"]):
        joined.encode(texts)
    assert held.batches == [["a mill"], ["a weir"], ["a weir"], ["a weir"]]
    joined.forget()
    joined.encode(["a mill"])
    assert held.batches[4:] == [["a mill"]]


def test_only_the_latest_are_remembered() -> None:
    held = Held(go=True)
    joined = JoinedEncoder(held, threads=1)
    for number in [*range(MOST_REMEMBERED + 1), 0, MOST_REMEMBERED]:
        joined.encode([f"mill {number}"])
    assert held.batches[MOST_REMEMBERED + 1 :] == [["mill 0"]]


def test_many_threads_get_the_vectors_of_their_own_texts(minilm: MiniLM) -> None:
    joined, callers = JoinedEncoder(minilm, threads=2), 12
    texts = [f"The heron number {number} stands in the weir." for number in range(callers)]
    together = Barrier(callers)

    def ask(text: str) -> Vectors:
        together.wait(10)
        return joined.encode([text])

    with ThreadPoolExecutor(callers) as pool:
        found = list(pool.map(ask, texts))
    assert np.concatenate(found) == pytest.approx(minilm.encode(texts), abs=2e-2)
    assert joined.token_spans("a heron") == minilm.token_spans("a heron")


def test_its_threads_end_with_it() -> None:
    before = set(threading.enumerate())
    joined = JoinedEncoder(WordEncoder(), threads=3)
    joined.encode(["a heron"])
    own = set(threading.enumerate()) - before
    assert len(own) == 3
    del joined
    for thread in own:
        thread.join(10)
        assert not thread.is_alive()
