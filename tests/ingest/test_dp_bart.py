"""DP-BART over a model that is made of arithmetic: what is noised, by how much, and what decoding reads."""

import random
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.dp_bart import BOUND, DELTA, DpBart, sensitivity
from ingest.deciding.baselines.local_privacy import gaussian_noise
from models.errors import ConfigurationError
from tests.doubles import Letters

PRUNED = [0, 3]


class Still(random.Random):
    """Draws no noise."""

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        return mu


def rewritten(model: Letters, text: str, epsilon: float = 1.0, rng: random.Random | None = None) -> str:
    method = DpBart(model, PRUNED, epsilon, rng=rng or random.Random(0))
    return method.rewrite([AnnotatedText(text, [])])[0]


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=40))
def test_no_clipped_outputs_are_farther_apart_than_the_sensitivity(pairs: list[tuple[float, float]]) -> None:
    one, other = np.clip(np.array(pairs).T, -BOUND, BOUND)
    assert np.linalg.norm(one - other) <= sensitivity(len(pairs)) * (1 + 1e-9)
    # That of the paper.
    assert sensitivity(20 * 768) == pytest.approx(24.79, abs=5e-3)
    assert sensitivity(20 * (768 - 192)) == pytest.approx(0.2 * np.sqrt(11_520))


def test_what_is_decoded_is_clipped_and_pruned() -> None:
    model = Letters()
    rewritten(model, "ab. cd, efg", rng=Still())
    raw = model.states(model.pieces("ab. cd, efg"))
    assert np.abs(raw).max() > BOUND > np.abs(raw).min()
    (told,) = model.told
    assert told.shape == raw.shape == (3, 4, 6)
    assert not told[..., PRUNED].any()
    kept = np.delete(np.arange(6), PRUNED)
    assert told[..., kept] == pytest.approx(np.clip(raw[..., kept], -BOUND, BOUND))


def test_the_budget_is_for_the_whole_text_and_not_for_each_piece() -> None:
    model = Letters()
    rewritten(model, 4000 * "abcd", epsilon=50)
    (told,) = model.told
    noised = np.delete(told, PRUNED, axis=2) - np.delete(model.limits(told.shape), PRUNED, axis=2)
    assert noised.size == 4000 * 4 * 4
    deviation = gaussian_noise(sensitivity(noised.size), 50, DELTA)
    assert noised.std() == pytest.approx(deviation, rel=0.02)
    assert noised.mean() == pytest.approx(0, abs=0.02 * deviation)
    assert not told[..., PRUNED].any(), "what is pruned tells nothing and needs no noise"


def test_texts_whose_clipped_outputs_are_equal_are_told_apart_by_nothing() -> None:
    one, other = Letters(), Letters()
    # Beyond the bound and in pruned neurons, letters differ; so does the length of the last piece.
    assert rewritten(one, "aaaaaa") == rewritten(other, "bbbbbbb")
    assert (one.told[0] == other.told[0]).all()
    assert (one.states(one.pieces("aaaaaa")) != other.states(other.pieces("bbbbbbb"))).any()


def test_noise_is_drawn_anew_for_each_text_and_seeds_repeat_a_run() -> None:
    model = Letters()
    texts = [AnnotatedText("abcd", [])] * 2
    DpBart(model, PRUNED, 1.0, rng=random.Random(0)).rewrite(texts)
    DpBart(model, PRUNED, 1.0, rng=random.Random(0)).rewrite(texts)
    DpBart(model, PRUNED, 1.0).rewrite(texts)
    first, second, again, then, *unseeded = model.told
    assert (first != second).any() and (first == again).all() and (second == then).all()
    assert all((first != each).any() for each in unseeded)


def test_pieces_are_joined_and_what_says_nothing_stays_empty() -> None:
    model = Letters()
    assert rewritten(model, "abcdefghijk") == "piece piece piece"
    assert rewritten(model, "") == rewritten(model, " \n") == ""
    assert len(model.told) == 1
    for length in range(1, 13):
        rewritten(model, "x" * length)
        assert model.told[-1].shape == (-(-length // 4), 4, 6)
    assert DpBart(Letters(), PRUNED, 2500).name == (
        "dp-bart (letters, epsilon 2500 and delta 1e-05 a text, 2 of 6 neurons pruned)"
    )


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, 1e-5), (-1, 1e-5), (inf, 1e-5), (nan, 1e-5), (1, 0), (1, 1)]
)
def test_a_budget_that_is_none_is_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(ConfigurationError, match="above 0 and at most 10,000, and a delta between 0 and 1"):
        DpBart(Letters(), PRUNED, epsilon, delta)
