"""The figures of the benchmark of protection. Posts are invented."""

import numpy as np
import pytest

from benchmarks.protecting import _attacked, _kept, _read_again
from eval.attacks.attribute_truths import KnownText
from eval.attacks.attributes import CLUES, AttributeAttack, ClueReader, value_names
from ingest.protecting.search import Searched
from models.attributes import Head, Heads
from models.encoders.minilm import MiniLM

POSTS = [
    KnownText("As a dad I snore. The tram is late.", {"sex": ("male",)}, "a", "posts"),
    KnownText("My husband snores. The tram is late.", {"sex": ("female",)}, "b", "posts"),
    KnownText("The kettle is broken.", {"sex": ("female",)}, "c", "posts"),
]
SEARCHED = [
    Searched("The tram is late.", {"sex": "protected"}, {"sentence": 1}, {"sex": 0.9}, {"sex": 0.5}),
    Searched(POSTS[1].text, {"sex": "no edit helps"}, {}, {"sex": 0.9}, {"sex": 0.9}),
    Searched(POSTS[2].text, {"sex": "already safe"}, {}, {"sex": 0.5}, {"sex": 0.5}),
]
ROWS = list(zip(POSTS, (0, 1, 1), SEARCHED, strict=True))


@pytest.fixture(scope="module")
def encoder() -> MiniLM:
    return MiniLM()


def heads() -> Heads:
    """They believe what points at a sex, and female where nothing does."""
    values = value_names()["sex"]
    clues = np.array([1.0 if name == "pointing words" else 0.0 for name in CLUES])
    priors = np.array([0.1 if value == "female" else 0.0 for value in values])
    return Heads("test", {"sex": Head("sex", values, priors, clues, np.zeros((2, 0)), np.ones(1))})


def test_what_is_right_is_counted_before_and_after_beside_the_most_frequent(encoder: MiniLM) -> None:
    attack = AttributeAttack(encoder, heads())
    (found,) = _attacked({0: attack, 1: attack}, ROWS).items()
    two_thirds = pytest.approx(2 / 3, abs=1e-4)
    assert found == ("sex", {"n": 3, "majority": two_thirds, "before": 1.0, "after": two_thirds})


def test_what_stays_and_what_could_not_be_protected_is_told(encoder: MiniLM) -> None:
    found = _kept(encoder, ROWS)
    assert (found["posts"], found["edited"]) == (3, pytest.approx(1 / 3, abs=1e-4))
    assert found["still_certain"] == {"sex": pytest.approx(1 / 3, abs=1e-4)}
    assert found["edits"] == {"sentence": 1, "phrase": 0, "wording": 0, "entity": 0}
    assert 0.5 < found["rouge_l"] < 1 and 0.5 < found["cosine"] < 1


def test_texts_that_were_not_protected_are_not_read_again(encoder: MiniLM) -> None:
    read = ClueReader(encoder, ("sex",)).read([each.text for each in POSTS])
    again = _read_again(read, [0], [SEARCHED[0].text], encoder)
    assert np.array_equal(again.vectors[1:], read.vectors[1:])
    assert not np.allclose(again.vectors[0], read.vectors[0])
    assert not np.array_equal(again.clues["sex"][0], read.clues["sex"][0])
