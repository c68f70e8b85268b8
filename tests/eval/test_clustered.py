"""NMI by hand, by its properties, and on texts about four things. Texts here are invented."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures import preserved
from eval.measures.preserved import (
    BY_WORDS,
    clustered,
    clusters_kept,
    mutual_information,
    spread,
    word_vectors,
)
from models.encoders.minilm import MiniLM
from tests.hashing_encoder import HashingEncoder

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=20)
ABOUT = (
    ("river", "water", "boat", "bridge", "fish", "flood"),
    ("bread", "oven", "flour", "baker", "butter", "crust"),
    ("violin", "song", "choir", "piano", "concert", "melody"),
    ("rocket", "orbit", "engine", "moon", "launch", "fuel"),
)
WANTED = np.repeat(np.arange(4), 6)


def four_things() -> list[str]:
    """Six texts about each of four things, each with a few of its words."""
    rng = np.random.default_rng(0)
    return [
        f"Yesterday the {' and the '.join(rng.choice(words, 4, replace=False))} were seen again."
        for words in ABOUT
        for _ in range(6)
    ]


def test_mutual_information_by_hand() -> None:
    # Two heaps of two; the other labeling moves one thing into a heap of three.
    shared = 0.5 * math.log(0.5 / (0.5 * 0.75)) + 0.25 * math.log(0.25 / (0.5 * 0.75)) + 0.25 * math.log(2)
    entropies = math.log(2), -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert mutual_information([0, 0, 1, 1], [0, 0, 0, 1]) == pytest.approx(shared / (sum(entropies) / 2))
    # Nothing in common, and one label for everything, which tells nothing of two.
    assert mutual_information([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(0)
    assert (mutual_information([3, 3, 3, 3], [0, 0, 1, 1]), mutual_information([3, 3], [5, 5])) == (0, 1)
    assert spread([0.2, 0.4, 0.6]).mean == pytest.approx(0.4)
    assert spread([0.2, 0.4, 0.6]).deviation == pytest.approx(0.2)
    assert spread([0.5]).deviation == 0


@given(PAIRS, st.permutations(range(5)))
def test_bounds_symmetry_and_what_another_implementation_says(
    pairs: list[tuple[int, int]], numbers: list[int]
) -> None:
    from sklearn.metrics import normalized_mutual_info_score

    one, other = [first for first, _ in pairs], [second for _, second in pairs]
    found = mutual_information(one, other)
    assert 0 <= found <= 1
    assert found == pytest.approx(mutual_information(other, one), abs=1e-9)
    assert found == pytest.approx(normalized_mutual_info_score(one, other), abs=1e-9)
    # The same labels under any numbers agree.
    renamed = [numbers[label] for label in one]
    assert mutual_information(one, renamed) == pytest.approx(1)
    assert mutual_information(renamed, other) == pytest.approx(found)


def test_different_numbers_of_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="label the same things twice"):
        mutual_information([1, 2], [1])
    with pytest.raises(ValueError, match="0 labels and 0 others"):
        mutual_information([], [])


def test_four_things_are_found_and_kept_and_can_be_taken_from_a_text() -> None:
    texts = four_things()
    original = clustered(BY_WORDS, word_vectors(texts))
    assert original is not None
    assert all(mutual_information(labels, WANTED) == pytest.approx(1) for labels in original.first)
    kept = clusters_kept(original, original)
    assert kept is not None
    assert (kept.engine, kept.n, len(kept.pairs)) == (BY_WORDS, 24, preserved.PAIRS)
    assert kept.kept.mean == kept.ceiling.mean == pytest.approx(1)
    assert kept.kept.deviation == pytest.approx(0)
    assert kept.chance.mean < 0.4
    # Every text gets the words of some other one: nothing of its own is left.
    swapped = list(np.random.default_rng(3).permutation(texts))
    taken = clusters_kept(original, clustered(BY_WORDS, word_vectors(swapped)))
    assert taken is not None
    assert taken.kept.mean < 0.5 < taken.ceiling.mean


def test_a_seed_gives_the_same_clusters_and_each_run_has_its_own() -> None:
    vectors = np.random.default_rng(1).normal(size=(40, 6))
    one, again = clustered("noise", vectors, seed=2), clustered("noise", vectors, seed=2)
    other = clustered("noise", vectors, seed=3)
    assert one and again and other
    runs = [*one.first, *one.second]
    assert all((a == b).all() for a, b in zip(runs, [*again.first, *again.second], strict=True))
    assert len({each.tobytes() for each in [*runs, *other.first, *other.second]}) > 1


def test_restarts_find_the_lowest_inertia_of_points_on_a_line() -> None:
    points = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1], [20.0], [20.1]])
    found = preserved.labels_of(points, 0).reshape(4, 2)
    assert (found[:, 0] == found[:, 1]).all()
    assert len(set(found[:, 0].tolist())) == preserved.CLUSTERS


def test_too_few_different_texts_are_not_clustered() -> None:
    assert clustered("same", np.ones((30, 3))) is None
    assert clustered("none", None) is None
    assert word_vectors(["", "the"]) is None
    assert word_vectors(["one text", "another text"]) is None
    assert preserved.window_vectors([], HashingEncoder()) is None
    assert clusters_kept(None, clustered(BY_WORDS, word_vectors(four_things()))) is None
    # Engines are not mixed.
    labels = [np.array([0, 1], dtype=np.int32)]
    with pytest.raises(ValueError, match="take one engine"):
        clusters_kept(*(preserved.Clustering(name, labels, labels) for name in ("one", "other")))


def test_the_vector_of_a_text_is_the_mean_of_its_windows(minilm: MiniLM) -> None:
    baker, moon = "A baker sold bread. ", "The moon rose over the launch site. "
    found = preserved.window_vectors([baker.strip(), baker * 60 + moon * 60, ""], minilm)
    assert found is not None
    assert found.shape == (3, minilm.dim)
    short, nothing, first_window, end = minilm.encode([baker.strip(), "", baker * 40, moon * 20])
    assert found[0] == pytest.approx(short, abs=1e-5)
    assert found[2] == pytest.approx(nothing, abs=1e-5)
    # What is past the first window counts.
    assert float(found[1] @ end) > float(first_window @ end) + 0.2


def test_the_real_encoder_tells_four_things_apart(minilm: MiniLM) -> None:
    found = clustered(preserved.engine_of(minilm), preserved.window_vectors(four_things(), minilm))
    kept = clusters_kept(found, found)
    assert found is not None and kept is not None
    assert mutual_information(found.first[0], WANTED) > 0.9
    assert kept.ceiling.mean > kept.chance.mean + 0.5
