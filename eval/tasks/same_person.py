"""Linking documents: is another document about the same person ranked first?

Nothing has to be known of anybody: a reader of the index compares each document with all others, by their
words (BM25), their vectors, and the marks that they share: aliases, and mentions that were kept. What is
linked adds up: facts that say little in each document identify a person together.

A row is a document of a person of whom there are others; figures are folded from rows.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from eval.attacks.linkage import DIGITS, Bm25
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import NOTHING_SENSITIVE, normalized
from eval.measures.uncertainty import Estimate, clustered_share
from eval.progress import Progress
from eval.rows import Row
from eval.targets import having_read
from ingest.documents import Action, Identifier, SanitizedDocument
from ingest.language.sentences import split_sentences
from ingest.protocols import Encoder
from ingest.wording.aliases import alias_in
from models.errors import ConfigurationError

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
        return f"{self.words.name}, dense[{self.encoder.name}], marks"

    def scores(self, documents: Sequence[SanitizedDocument]) -> Floats:
        """(documents, documents): how like each is to each other one; minus infinity for itself."""
        if not documents:
            return np.zeros((0, 0))
        scores = self._by_words(documents) + self._by_vectors(documents) + _by_marks(documents)
        np.fill_diagonal(scores, -np.inf)
        return np.asarray(scores.round(DIGITS))

    def _by_words(self, documents: Sequence[SanitizedDocument]) -> Floats:
        texts = [each.text for each in documents]
        scores = np.array(list(self.words.index(texts)(texts)))
        own = np.diag(scores)[:, None].copy()
        return np.asarray(np.divide(scores, own, out=np.zeros_like(scores), where=own > 0))

    def _by_vectors(self, documents: Sequence[SanitizedDocument]) -> Floats:
        pieces = [list(_pieces(each.text)) for each in documents]
        encoder = having_read(self.encoder, [piece for each in pieces for piece in each])
        means = np.array([encoder.encode(each).mean(axis=0) for each in pieces], np.float64)
        means -= means.mean(axis=0)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        units = np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 1e-6)
        return np.asarray(units @ units.T)


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
        return 1 - prod(
            max(self.others - self.twins - place, 0) / (self.others - place)
            for place in range(min(top, self.others))
        )


def found_twins(scores: Floats, own: int, twins: Collection[int], rng: np.random.Generator) -> Found:
    """Where the twins of document ``own`` rank by their scores; equals are ordered at random."""
    order = np.lexsort((rng.random(len(scores)), -scores))
    ranked = order[order != own]
    return Found(int(np.flatnonzero(np.isin(ranked, list(twins)))[0]) + 1, len(twins), len(ranked))


PERSON, RANK, TWINS, OTHERS = "number of the person", "rank of the best twin", "twins", "other documents"
CHANCE, CHANCE_FIVE = "twin first by chance", "twin among the first five by chance"
ALIAS = "shares an alias with a twin"


def same_person(rows: Iterable[Row], seed: int = 0) -> tuple[Estimate, Estimate]:
    """The share of documents with a twin ranked first, its interval over persons; and by a random order."""
    figures = [row.figures for row in rows if row.measured]
    totals = Counter(each[PERSON] for each in figures)
    hits = Counter(each[PERSON] for each in figures if each[RANK] <= 1)
    first = clustered_share([hits[person] for person in totals], list(totals.values()), seed)
    return first, Estimate(sum(each[CHANCE] for each in figures) / len(figures) if figures else None)


NO_TWIN = "no twin was sanitized"
"""The failure of a document whose person no other sanitized document is about."""


@dataclass(frozen=True, slots=True)
class SamePersonTask:
    """One row per document of a person with several; all sanitized documents are candidates.

    ``people`` is gold: the ids of the documents about each person. People with one document have no row.

    Raises:
        ConfigurationError: A document is about two people, or no person has two documents.
    """

    people: Sequence[Collection[str]] = field(repr=False)
    encoder: Encoder
    seed: int = 0

    sensitive = NOTHING_SENSITIVE

    def __post_init__(self) -> None:
        ids = [doc_id for person in self.people for doc_id in person]
        if len(set(ids)) < len(ids):
            raise ConfigurationError(
                "A document is about two people, or named twice: leave it out of one of them."
            )
        if not self.cases:
            raise ConfigurationError("No person has two documents: name at least two ids.")

    @property
    def name(self) -> str:
        return f"same person, {SamePerson(self.encoder).name}"

    @property
    def cases(self) -> Sequence[str]:
        return [doc_id for person in self.people if len(person) > 1 for doc_id in sorted(person)]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        progress(f"linking documents in {kept.system}", 0, None)
        places = {each.doc_id: place for place, each in enumerate(kept.documents)}
        person_of = {doc_id: number for number, ids in enumerate(self.people) for doc_id in ids}
        attack = SamePerson(self.encoder)
        scores = attack.scores(kept.documents)
        aliases = [aliases_in(each) for each in kept.documents]
        for case in cases:
            person = person_of[case]
            twins = [places[each] for each in sorted(self.people[person]) if each in places and each != case]
            if case not in places or not twins:
                row = kept.row(self.name, case, None, attack.name)
                yield row if case not in places else row.model_copy(update={"failure": NO_TWIN})
                continue
            # A draw for each case, so that cases left over from another run have the same.
            rng = np.random.default_rng([self.seed, places[case]])
            found = found_twins(scores[places[case]], places[case], twins, rng)
            shared = any(aliases[places[case]] & aliases[twin] for twin in twins)
            figures: dict[str, float] = {PERSON: person, ALIAS: shared}
            figures |= {RANK: found.rank, TWINS: found.twins, OTHERS: found.others}
            figures |= {CHANCE: found.chance(1), CHANCE_FIVE: found.chance(5)}
            yield kept.row(self.name, case, figures, attack.name)
