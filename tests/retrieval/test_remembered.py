"""Vectors of sentences that many questions find."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.vectors import Vectors
from retrieval.generators.remembered import RememberedVectors
from tests.doubles import WordEncoder


class Counted(WordEncoder):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return super().encode(texts)


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=6), st.integers(1, 6))
def test_vectors_are_those_of_the_encoder_whatever_is_kept(asked: list[list[str]], most: int) -> None:
    remembered = RememberedVectors(WordEncoder(), most)
    for texts in asked:
        found = remembered.encode(texts)
        assert found.shape == (len(texts), remembered.dim)
        assert (found == WordEncoder().encode(texts)).all()


def test_a_text_is_encoded_once_until_it_is_forgotten() -> None:
    encoder = Counted()
    remembered = RememberedVectors(encoder)
    for _ in range(3):
        remembered.encode(["a mill", "a weir", "a mill"])
    assert encoder.seen == ["a mill", "a weir"]
    remembered.forget()
    remembered.encode(["a mill"])
    assert encoder.seen == ["a mill", "a weir", "a mill"]


def test_what_was_not_asked_for_longest_goes_first() -> None:
    encoder = Counted()
    remembered = RememberedVectors(encoder, most=2)
    for text in ("a mill", "a weir", "a mill", "a heron", "a mill", "a weir"):
        remembered.encode([text])
    assert encoder.seen == ["a mill", "a weir", "a heron", "a weir"]


def test_what_is_being_encoded_while_all_is_forgotten_is_not_kept() -> None:
    class Erasing(Counted):
        def encode(self, texts: Sequence[str]) -> Vectors:
            remembered.forget()
            return super().encode(texts)

    encoder = Erasing()
    remembered = RememberedVectors(encoder)
    remembered.encode(["a mill"])
    remembered.encode(["a mill"])
    assert encoder.seen == ["a mill", "a mill"]


def test_what_is_kept_does_not_hold_the_batch_it_came_in() -> None:
    remembered = RememberedVectors(WordEncoder(), most=1)
    remembered.encode([f"a mill {number}" for number in range(50)])
    (kept,) = remembered._kept.values()
    assert np.asarray(kept).base is None
