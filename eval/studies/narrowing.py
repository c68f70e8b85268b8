"""Learning what links: the bits model of ``models.bits`` from games over public corpora.

A round has sanitized texts, each with its owner's public text among those of many others. Whatever identifies
by itself is gone; of the other facts, some are kept. A linker ranks all public texts for a text by the words
that they share, and what an order of replacing facts is worth is how far the owner falls. The frequencies
that a linker uses are those of the public texts, which a defender never sees.
"""

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.attacks.linkage import Bm25
from ingest.annotated import AnnotatedText
from ingest.deciding.narrowing import FEATURES, WORD, Held, held, rows_of
from ingest.documents import Document, Identifier
from ingest.language.sentences import split_sentences
from ingest.protocols import Encoder, EntityDetector
from ingest.sanitize import annotate
from models.bits import BitsModel, Floats, Trees, arrays_of, surprisals
from models.errors import ConfigurationError
from models.packs import packs

FEWEST_FACTS = 3
"""Texts with fewer facts are left out: there is nothing to choose."""
FEWEST_SENTENCES = 4
"""Shorter biographies cannot be split into two texts about one person."""
PASSAGE = 1_000
"""Characters that an encoder reads at once."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Texts, and public texts of the same ids and of others."""

    name: str
    texts: Mapping[str, str] = field(repr=False)
    public: Mapping[str, str] = field(repr=False)


def court_cases(data: Path) -> Pairs:
    """Cases and the openings of public judgments, of the Text Anonymization Benchmark."""
    cases = _lines(data / "tab" / "dev.jsonl")
    public = json.loads((data / "tab" / "background_public10_train_dev.json").read_text(encoding="utf-8"))
    return Pairs("court cases", {each["doc_id"]: each["text"] for each in cases}, public)


def biographies(data: Path) -> Pairs:
    """Biographies of DB-Bio, each in two: every other sentence is the text, the others are public."""
    return _alternating("biographies", data / "db_bio" / "data.jsonl")


def actors(data: Path) -> Pairs:
    """Biographies of actors, and the first quarter of public ones, of WikiActors."""
    texts = {each["id"]: each["text"] for each in _lines(data / "wikiactors" / "data.jsonl")}
    public = json.loads((data / "wikiactors" / "background_public25.json").read_text(encoding="utf-8"))
    return Pairs("actors", texts, public)


def visits(data: Path) -> Pairs:
    """Dialogues of visits, and the notes that were written of them, of ACI-Bench."""
    rows = _lines(data / "aci_bench" / "data.jsonl")
    texts, public = ({each["id"]: each[part] for each in rows} for part in ("dialogue", "note"))
    return Pairs("visits", texts, public)


def mails(data: Path) -> Pairs:
    """Mail of the English Web Treebank, each in two as biographies are: neither half is public, as a test."""
    return _alternating("mail", data / "ewt_email" / "data.jsonl")


def _alternating(name: str, path: Path) -> Pairs:
    sentences = {each["id"]: split_sentences(each["text"]) for each in _lines(path)}
    long = {each: those for each, those in sentences.items() if len(those) >= FEWEST_SENTENCES}
    texts, public = ({each: " ".join(those[half::2]) for each, those in long.items()} for half in (0, 1))
    return Pairs(name, texts, public)


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise ConfigurationError(
            f"{path}: could not be read ({error.strerror}); the corpora are named in docs/models.md."
        ) from None


@dataclass(frozen=True, slots=True)
class Player:
    """A text of the game: its words by fact, its direct links, and the place of its owner's public text."""

    text: AnnotatedText = field(repr=False)
    direct: frozenset[int]
    words: Held = field(repr=False)
    owner: int

    @property
    def facts(self) -> list[int]:
        """The links that may be replaced."""
        return [link for link in self.words.links if link in self.words.words]

    def left(self, gone: Collection[int]) -> Counter[str]:
        """The words of the text without those of these facts."""
        found = Counter(self.words.elsewhere)
        for link, words in self.words.words.items():
            if link not in gone:
                found.update(words)
        return found

    def shown(self, gone: Collection[int]) -> str:
        """The text without these facts and without what identifies by itself."""
        return self.text.without({*self.direct, *gone}, lambda entity: "").text

    def characters(self, link: int) -> int:
        """How many characters the mentions of a fact have."""
        return sum(len(each.span) for each in self.words.links[link])


def players(pairs: Pairs, ids: Sequence[str], detector: EntityDetector) -> list[Player]:
    """The texts of these ids that have enough facts, and a public text of their owner."""
    places = {name: place for place, name in enumerate(pairs.public)}
    known = [each for each in ids if each in places]
    found = []
    for part in packs(known, 16):
        annotated = annotate(detector, [Document(each, pairs.texts[each]) for each in part])
        for name, text in zip(part, annotated, strict=True):
            direct = frozenset(
                each.link for each in text.entities if each.identifier is Identifier.DIRECT or each.required
            )
            player = Player(text, direct, held(text, direct), places[name])
            if len(player.facts) >= FEWEST_FACTS:
                found.append(player)
    return found


Numbers = NDArray[np.float64]
Scores = Callable[[Sequence[Player], Sequence[Collection[int]]], Numbers]
"""The score of every public text for each text without some facts: shape (texts, public texts)."""


def words_of(text: str) -> Counter[str]:
    """The words of a text as ``ingest.deciding.narrowing`` counts them."""
    return Counter(match[0].lower() for match in WORD.finditer(text))


def by_tf_idf(public: Sequence[Counter[str]]) -> Scores:
    """Cosines of logarithmic counts times idf."""
    from scipy.sparse import csr_array

    having = Counter(word for each in public for word in each)
    numbers = {word: number for number, word in enumerate(having)}
    idf = np.array([math.log((1 + len(public)) / (1 + each)) + 1 for each in having.values()])

    def table(texts: Sequence[Counter[str]]) -> Any:
        cells = [
            (row, numbers[word], 1 + math.log(count))
            for row, text in enumerate(texts)
            for word, count in text.items()
            if word in numbers
        ]
        rows, columns, counts = (list(each) for each in zip(*cells, strict=True))
        weights = np.array(counts) * idf[columns]
        norms = np.sqrt(np.bincount(rows, weights**2, len(texts)))
        return csr_array((weights / norms[rows], (rows, columns)), (len(texts), len(numbers)))

    index = table(public).T.tocsr()

    def scores(texts: Sequence[Player], gone: Sequence[Collection[int]]) -> Numbers:
        left = [each.left(those) for each, those in zip(texts, gone, strict=True)]
        return np.asarray((table(left) @ index).toarray())

    return scores


def by_bm25(public: Sequence[str]) -> Scores:
    """BM25 of the words that are left; a word counts once, however often it stands in the text."""
    search = Bm25().index(public)

    def scores(texts: Sequence[Player], gone: Sequence[Collection[int]]) -> Numbers:
        left = [" ".join(each.left(those)) for each, those in zip(texts, gone, strict=True)]
        return np.array(list(search(left)))

    return scores


def by_encoder(encoder: Encoder, public: Sequence[str]) -> Scores:
    """Cosines of an encoder's vectors, those of the passages of a text added up."""

    def vectors(texts: Sequence[str]) -> Numbers:
        passages = [
            [text[at : at + PASSAGE] for at in range(0, max(1, len(text)), PASSAGE)] for text in texts
        ]
        found = encoder.encode([each for of_text in passages for each in of_text]).astype(np.float64)
        ends = np.cumsum([len(each) for each in passages])
        sums = np.array([part.sum(axis=0) for part in np.split(found, ends[:-1])])
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True))

    index = vectors(public).T
    return lambda texts, gone: (
        vectors([each.shown(those) for each, those in zip(texts, gone, strict=True)]) @ index
    )


def ranks(scores: Numbers, players: Sequence[Player]) -> Numbers:
    """How many others come before each owner, half of the ties counted."""
    own = scores[np.arange(len(players)), [each.owner for each in players]][:, None]
    return np.asarray((scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2)


def gone_of(player: Player, order: Sequence[int], share: float, by: str) -> frozenset[int]:
    """The first facts of an order: a share of their number, or as many as have a share of the characters."""
    if by == "number":
        return frozenset(order[: round(share * len(order))])
    left = share * sum(map(player.characters, order))
    taken = set()
    for link in order:
        if (characters := player.characters(link)) <= left:
            taken.add(link)
            left -= characters
    return frozenset(taken)


def drawn(players: Sequence[Player], seed: int) -> list[list[int]]:
    """The facts of each text in random order."""
    facts = [each.facts for each in players]
    return [Random(f"{seed} {number}").sample(each, len(each)) for number, each in enumerate(facts)]


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
        return Learned(self.rows[chosen], self.linking[chosen], self.narrowing[chosen], self.texts[chosen])


def rows_to_learn(round_of: Sequence[Player], public: Sequence[Counter[str]], recipe: Recipe) -> Learned:
    """One row for each word of the facts of each text."""
    having = Counter(word for each in public for word in each)
    rarity = surprisals(
        sorted({word for each in round_of for link in each.facts for word in each.words.words[link]})
    )
    scores = by_tf_idf(public)(round_of, [()] * len(round_of))
    scores[np.arange(len(round_of)), [each.owner for each in round_of]] = -1
    near = np.argsort(-scores, axis=1, kind="stable")[:, : recipe.nearest]
    rows, linking, narrowing, texts = [], [], [], []
    for number, (player, nearest) in enumerate(zip(round_of, near, strict=True)):
        keys, table = rows_of(player.words, rarity)
        first: dict[str, int] = {}
        for place, (_, word) in enumerate(keys):
            first.setdefault(word, place)
        for word, place in first.items():
            shared = word in public[player.owner]
            others = (having[word] - shared + 0.5) / len(public)
            among = sum(word in public[each] for each in nearest)
            rate = min(0.98, (among + recipe.prior * others) / (recipe.nearest + recipe.prior))
            rows.append(table[place])
            linking.append(-math.log2(rate) if shared else math.log2(1 - rate))
            narrowing.append(-math.log2(others))
            texts.append(number)
    added, rarely = np.array(linking, np.float32), np.array(narrowing, np.float32)
    return Learned(np.array(rows, np.float32), added, rarely, np.array(texts))


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
    shape = len(grown), max(each.node_count for each in grown)
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
    rows, wanted = (np.concatenate([getattr(each, of) for each in parts]) for of in ("rows", "linking"))
    linking = boosted(rows, wanted, np.concatenate([_weights(each.texts) for each in parts]), recipe)
    narrowing = boosted(broad.rows, broad.narrowing, np.ones(len(broad.texts)), recipe)
    return BitsModel("lethe-bits", FEATURES, linking, narrowing)


def _weights(texts: NDArray[np.int64]) -> NDArray[np.float64]:
    """A game weighs as much as another, a text by the root of its number of words."""
    weights = 1 / np.sqrt(np.bincount(texts)[texts])
    return np.asarray(weights / weights.sum() * 1_000)


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
