"""The game: sanitized texts are linked to public texts of the same people, by the words that they share.

A round has texts, each with its owner's public text among those of many others. Whatever identifies by
itself is gone; of the other facts, some are kept. A linker ranks all public texts for a text, and what an
order of replacing facts is worth is how far the owner falls. The frequencies that a linker uses are those of
the public texts, which a defender never sees.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.attacks.linkage import Bm25
from ingest.annotated import AnnotatedText
from ingest.deciding.narrowing import WORD, Held, held
from ingest.documents import Document, Identifier
from ingest.language.sentences import split_sentences
from ingest.protocols import Encoder, EntityDetector
from ingest.sanitize import annotate
from models.errors import ConfigurationError

FEWEST_FACTS = 3
"""Texts with fewer facts are left out: there is nothing to choose."""
FEWEST_SENTENCES = 4
"""Shorter biographies cannot be split into two texts about one person."""
PASSAGE = 1_000
"""Characters that an encoder reads at once."""
Floats = NDArray[np.float64]


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
    sentences = {each["id"]: split_sentences(each["text"]) for each in _lines(data / "db_bio" / "data.jsonl")}
    return _alternating("biographies", sentences)


def actors(data: Path) -> Pairs:
    """Biographies of actors, and the first quarter of public ones, of WikiActors."""
    texts = {each["id"]: each["text"] for each in _lines(data / "wikiactors" / "data.jsonl")}
    public = json.loads((data / "wikiactors" / "background_public25.json").read_text(encoding="utf-8"))
    return Pairs("actors", texts, public)


def visits(data: Path) -> Pairs:
    """Dialogues of visits, and the notes that were written of them, of ACI-Bench."""
    rows = _lines(data / "aci_bench" / "data.jsonl")
    return Pairs(
        "visits",
        {each["id"]: each["dialogue"] for each in rows},
        {each["id"]: each["note"] for each in rows},
    )


def mails(data: Path) -> Pairs:
    """Mail of the English Web Treebank, each in two as biographies are: neither half is public, as a test."""
    sentences = {
        each["id"]: split_sentences(each["text"]) for each in _lines(data / "ewt_email" / "data.jsonl")
    }
    return _alternating("mail", sentences)


def _alternating(name: str, sentences: Mapping[str, Sequence[str]]) -> Pairs:
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
    for first in range(0, len(known), 16):
        part = known[first : first + 16]
        annotated = annotate(detector, [Document(each, pairs.texts[each]) for each in part])
        for name, text in zip(part, annotated, strict=True):
            direct = frozenset(
                each.link for each in text.entities if each.identifier is Identifier.DIRECT or each.required
            )
            player = Player(text, direct, held(text, direct), places[name])
            if len(player.facts) >= FEWEST_FACTS:
                found.append(player)
    return found


Scores = Callable[[Sequence[Player], Sequence[Collection[int]]], Floats]
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
        rows, columns, counts = [], [], []
        for row, text in enumerate(texts):
            for word, count in text.items():
                if word in numbers:
                    rows.append(row)
                    columns.append(numbers[word])
                    counts.append(1 + math.log(count))
        weights = np.array(counts) * idf[columns]
        norms = np.sqrt(np.bincount(rows, weights**2, len(texts)))
        return csr_array((weights / norms[rows], (rows, columns)), (len(texts), len(numbers)))

    index = table(public).T.tocsr()

    def scores(texts: Sequence[Player], gone: Sequence[Collection[int]]) -> Floats:
        left = [each.left(those) for each, those in zip(texts, gone, strict=True)]
        return np.asarray((table(left) @ index).toarray())

    return scores


def by_bm25(public: Sequence[str]) -> Scores:
    """BM25 of the words that are left; a word counts once, however often it stands in the text."""
    search = Bm25().index(public)

    def scores(texts: Sequence[Player], gone: Sequence[Collection[int]]) -> Floats:
        left = [" ".join(each.left(those)) for each, those in zip(texts, gone, strict=True)]
        return np.array(list(search(left)))

    return scores


def by_encoder(encoder: Encoder, public: Sequence[str]) -> Scores:
    """Cosines of an encoder's vectors, those of the passages of a text added up."""

    def vectors(texts: Sequence[str]) -> Floats:
        passages = [
            [text[at : at + PASSAGE] for at in range(0, max(1, len(text)), PASSAGE)] for text in texts
        ]
        found = encoder.encode([each for of_text in passages for each in of_text]).astype(np.float64)
        ends = np.cumsum([len(each) for each in passages])
        sums = np.array([part.sum(axis=0) for part in np.split(found, ends[:-1])])
        norms: Floats = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return norms

    index = vectors(public).T
    return lambda texts, gone: (
        vectors([each.shown(those) for each, those in zip(texts, gone, strict=True)]) @ index
    )


def ranks(scores: Floats, players: Sequence[Player]) -> Floats:
    """How many others come before each owner, half of the ties counted."""
    own = scores[np.arange(len(players)), [each.owner for each in players]][:, None]
    found: Floats = (scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2
    return found


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
    return [
        Random(f"{seed} {number}").sample(each.facts, len(each.facts)) for number, each in enumerate(players)
    ]
