"""Learning what links: the bits model of ``models.bits`` from games over public corpora."""

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.studies.narrowing.game import Player, biographies, by_tf_idf, court_cases, players, words_of
from ingest.deciding.narrowing import FEATURES, rows_of
from ingest.protocols import EntityDetector
from models.bits import BitsModel, Floats, Trees, arrays_of, surprisals

MONOTONE = {"surprisal": 1, "times": 1}
"""Features with which what a word is worth never falls: rarer, and more often."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Hyperparameters of the shipped model.

    ``nearest`` are the public texts of others that an owner's is told from, ``prior`` how many more the
    frequency among all counts as.
    """

    seed: int = 20261128
    trees: int = 120
    leaves: int = 6
    rate: float = 0.06
    fewest: int = 100
    nearest: int = 20
    prior: float = 4.0
    folds: int = 5


@dataclass(frozen=True, slots=True)
class Learned:
    """Rows of one game: features, what each word added to the link, how rarely others have it, its text."""

    rows: Floats = field(repr=False)
    linking: Floats = field(repr=False)
    narrowing: Floats = field(repr=False)
    texts: NDArray[np.int64] = field(repr=False)

    def only(self, chosen: NDArray[np.bool_]) -> "Learned":
        """The chosen rows."""
        return Learned(self.rows[chosen], self.linking[chosen], self.narrowing[chosen], self.texts[chosen])


def rows_to_learn(round_of: Sequence[Player], public: Sequence[Counter[str]], recipe: Recipe) -> Learned:
    """One row for each word of the facts of each text."""
    having = Counter(word for each in public for word in each)
    rarity = surprisals(
        sorted({word for each in round_of for link in each.facts for word in each.words.words[link]})
    )
    near = _nearest(round_of, public, recipe.nearest)
    rows, linking, narrowing, texts = [], [], [], []
    for number, player in enumerate(round_of):
        own = public[player.owner]
        keys, table = rows_of(player.words, rarity)
        first: dict[str, int] = {}
        for place, (_, word) in enumerate(keys):
            first.setdefault(word, place)
        for word, place in first.items():
            shared = word in own
            others = (having[word] - shared + 0.5) / len(public)
            among = sum(word in public[each] for each in near[number])
            rate = min(0.98, (among + recipe.prior * others) / (recipe.nearest + recipe.prior))
            rows.append(table[place])
            linking.append(-math.log2(rate) if shared else math.log2(1 - rate))
            narrowing.append(-math.log2(others))
            texts.append(number)
    return Learned(
        np.array(rows, np.float32),
        np.array(linking, np.float32),
        np.array(narrowing, np.float32),
        np.array(texts),
    )


def _nearest(
    round_of: Sequence[Player], public: Sequence[Counter[str]], most: int
) -> list[NDArray[np.int64]]:
    scores = by_tf_idf(public)(round_of, [()] * len(round_of))
    scores[np.arange(len(round_of)), [each.owner for each in round_of]] = -1
    return [np.argsort(-row, kind="stable")[:most] for row in scores]


def boosted(rows: Floats, wanted: NDArray[np.float32], weights: NDArray[np.float64], recipe: Recipe) -> Trees:
    """Least squares by gradient boosting: each tree takes a part of what is left."""
    from sklearn.tree import DecisionTreeRegressor

    rising = [MONOTONE.get(name, 0) for name in FEATURES]
    start = float(np.average(wanted, weights=weights))
    left = wanted - start
    grown = []
    for number in range(recipe.trees):
        tree = DecisionTreeRegressor(
            max_leaf_nodes=recipe.leaves,
            min_samples_leaf=recipe.fewest,
            monotonic_cst=rising,
            random_state=recipe.seed + number,
        ).fit(rows, left, sample_weight=weights)
        left = left - recipe.rate * tree.predict(rows)
        grown.append(tree.tree_)
    nodes = max(each.node_count for each in grown)
    shape = (len(grown), nodes)
    feature, left_child, right_child = (np.zeros(shape, np.int16) for _ in range(3))
    threshold, value = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for number, each in enumerate(grown):
        own = np.arange(each.node_count)
        leaf = each.children_left < 0
        feature[number, own] = np.where(leaf, 0, each.feature)
        threshold[number, own] = np.where(leaf, 0, each.threshold)
        left_child[number, own] = np.where(leaf, own, each.children_left)
        right_child[number, own] = np.where(leaf, own, each.children_right)
        value[number, own] = recipe.rate * each.value[:, 0, 0]
    return Trees(start, feature, threshold, left_child, right_child, value)


def learned(parts: Sequence[Learned], broad: Learned, recipe: Recipe) -> BitsModel:
    """A model of some games; how rarely others have a word is learned of ``broad``."""
    linking = boosted(
        np.concatenate([each.rows for each in parts]),
        np.concatenate([each.linking for each in parts]),
        np.concatenate([_weights(each.texts) for each in parts]),
        recipe,
    )
    narrowing = boosted(broad.rows, broad.narrowing, np.ones(len(broad.texts)), recipe)
    return BitsModel("lethe-bits", FEATURES, linking, narrowing)


def _weights(texts: NDArray[np.int64]) -> NDArray[np.float64]:
    """A game weighs as much as another, a text by the root of its number of words."""
    weights = 1 / np.sqrt(np.bincount(texts)[texts])
    found: NDArray[np.float64] = weights / weights.sum() * 1_000
    return found


def make_bits(
    data: Path, detector: EntityDetector, output: Path, recipe: Recipe, report: Callable[[str], None]
) -> dict[str, Any]:
    """Play the games of two corpora, learn of all people, and write the model and its card."""
    from safetensors.numpy import save_file

    began = time.time()
    rounds: dict[str, tuple[int, Learned]] = {}
    for pairs in (court_cases(data), biographies(data)):
        report(f"reading {len(pairs.texts):,} texts of {pairs.name}")
        round_of = players(pairs, sorted(pairs.texts), detector)
        public = [words_of(each) for each in pairs.public.values()]
        rounds[pairs.name] = len(round_of), rows_to_learn(round_of, public, recipe)
    report("learning")
    model = learned([each for _, each in rounds.values()], rounds["biographies"][1], recipe)
    output.mkdir(parents=True, exist_ok=True)
    save_file(dict(arrays_of(model)), output / "bits.safetensors")
    card = {
        "name": model.name,
        "features": list(model.features),
        "start": {"linking": model.linking.start, "narrowing": model.narrowing.start},
        "recipe": asdict(recipe),
        "texts": {name: texts for name, (texts, _) in rounds.items()},
        "words": {name: len(each.texts) for name, (_, each) in rounds.items()},
        "seconds": round(time.time() - began),
        "trained": time.strftime("%Y-%m-%d"),
    }
    text = json.dumps(card, indent=2, sort_keys=True)
    (output / "bits.json").write_text(text + "\n", encoding="utf-8")
    return card


def cross_fitted(
    own: Learned, others: Sequence[Learned], broad: Learned | None, recipe: Recipe
) -> Iterator[tuple[NDArray[np.int64], BitsModel]]:
    """Models that did not learn of a part of the texts, each with the numbers of that part.

    How rarely others have a word is learned of ``broad``, or of the rest of the texts if it is None.
    """
    texts = int(own.texts.max()) + 1
    fold = np.array(Random(recipe.seed).sample(range(texts), texts)) % recipe.folds
    for number in range(recipe.folds):
        part = own.only(fold[own.texts] != number)
        yield np.flatnonzero(fold == number), learned([part, *others], broad or part, recipe)
