"""Linking documents: which sanitized documents are about the same person.

Nothing has to be known of anybody: a reader of the index compares each document with all others, by their
words (BM25), their vectors, and the marks that they share: aliases, and mentions that were kept. What is
linked adds up: facts that say little in each document identify a person together.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.attacks.guessing import IndexAttack
from eval.attacks.linkage import DIGITS, Bm25
from eval.measures.leakage import normalized
from eval.targets import having_read
from ingest.documents import Action, Identifier, SanitizedDocument
from ingest.language.sentences import split_sentences
from ingest.protocols import Encoder
from ingest.wording.aliases import alias_in

SAME_PERSON = IndexAttack(
    name="same person",
    goal="Find the other sanitized documents about the person of a document.",
    threat_model=(
        "A reader of the index on an untrusted server, who knows the mechanism and nothing of the people: "
        "sees each sanitized text with the place of every slot, and so its aliases and what was kept."
    ),
    reference="ours; the ranking of pairs of records goes back to Fellegi and Sunter 1969",
)
PIECES = 4
"""At most so many pieces of a document are encoded, spread over it, and their vectors averaged."""
PIECE_CHARACTERS = 600
MARK = 3.0
"""What a mark that only two documents show adds to their score."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SamePerson:
    """Ranks all other documents for each document.

    The score is the sum of three: BM25 with one text as the query, as a share of its score for itself; the
    cosine of the vectors, from their mean; and for each mark in both documents up to ``MARK``, less as it
    stands in more documents, 0 where it stands in all.
    """

    encoder: Encoder
    words: Bm25 = Bm25()

    @property
    def name(self) -> str:
        """What it compares."""
        return f"{self.words.name}, dense[{self.encoder.name}], marks"

    def scores(self, documents: Sequence[SanitizedDocument]) -> Floats:
        """(documents, documents): how like each is to each other one; minus infinity for itself."""
        if not documents:
            return np.zeros((0, 0))
        scores = self._by_words(documents) + self._by_vectors(documents) + _by_marks(documents)
        np.fill_diagonal(scores, -np.inf)
        rounded: Floats = scores.round(DIGITS)
        return rounded

    def _by_words(self, documents: Sequence[SanitizedDocument]) -> Floats:
        texts = [each.text for each in documents]
        scores = np.array(list(self.words.scores(texts, texts)))
        own = np.diag(scores)[:, None].copy()
        shares: Floats = np.divide(scores, own, out=np.zeros_like(scores), where=own > 0)
        return shares

    def _by_vectors(self, documents: Sequence[SanitizedDocument]) -> Floats:
        pieces = [list(_pieces(each.text)) for each in documents]
        encoder = having_read(self.encoder, [piece for each in pieces for piece in each])
        means = np.array([encoder.encode(each).mean(axis=0) for each in pieces], np.float64)
        means -= means.mean(axis=0)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        units = np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 1e-6)
        cosines: Floats = units @ units.T
        return cosines


def aliases_in(document: SanitizedDocument) -> frozenset[str]:
    """The aliases that stand in the slots of a document."""
    found = (alias_in(document.text[start:end]) for start, end in document.places)
    return frozenset(alias for alias in found if alias)


def marks_in(document: SanitizedDocument) -> frozenset[str]:
    """The aliases of a document, and its kept mentions that may identify, each with its label."""
    kept = {
        f"{decision.entity.label}: {normalized(document.text[start:end])}"
        for decision, (start, end) in zip(document.decisions, document.places, strict=True)
        if decision.action is Action.KEEP and decision.entity.identifier is not Identifier.ATTRIBUTE
    }
    return aliases_in(document) | kept


def _by_marks(documents: Sequence[SanitizedDocument]) -> Floats:
    marked = [marks_in(each) for each in documents]
    having: dict[str, list[int]] = {}
    for place, marks in enumerate(marked):
        for mark in marks:
            having.setdefault(mark, []).append(place)
    scores = np.zeros((len(documents), len(documents)))
    for _, places in sorted(having.items()):
        if 1 < len(places) < len(documents):
            rarity = np.log(len(documents) / len(places)) / np.log(len(documents) / 2)
            scores[np.ix_(places, places)] += MARK * rarity
    return scores


def _pieces(text: str) -> Iterator[str]:
    """Parts of a text, of whole sentences where it has some, evenly spread."""
    pieces = [""]
    for sentence in split_sentences(text):
        if pieces[-1] and len(pieces[-1]) + len(sentence) > PIECE_CHARACTERS:
            pieces.append("")
        pieces[-1] += f" {sentence}" if pieces[-1] else sentence
    wanted = np.linspace(0, len(pieces) - 1, min(PIECES, len(pieces))).round().astype(int)
    return (pieces[place] for place in wanted)


@dataclass(frozen=True, slots=True)
class Found:
    """The rank, from 1, of the best ranked of ``twins`` documents among the ``others``."""

    rank: int
    twins: int
    others: int

    def chance(self, top: int) -> float:
        """The probability that a random order has a twin among the first ``top``."""
        missing = 1.0
        for place in range(min(top, self.others)):
            missing *= max(self.others - self.twins - place, 0) / (self.others - place)
        return 1 - missing


def found_twins(scores: Floats, own: int, twins: Collection[int], rng: np.random.Generator) -> Found:
    """Where the twins of document ``own`` rank by their scores; equals are ordered at random."""
    order = np.lexsort((rng.random(len(scores)), -scores))
    ranked = order[order != own]
    return Found(int(np.flatnonzero(np.isin(ranked, list(twins)))[0]) + 1, len(twins), len(ranked))
