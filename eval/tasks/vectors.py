"""Stored vectors: does the vector of each passage say what its text says, and nothing else?

A stored vector has to be the one that the pipeline makes of the sanitized text. One that was made of the
original, or of anything else, can be searched and inverted although its text shows nothing (Morris et al.
2023, Text Embeddings Reveal (Almost) As Much As Text). The attacker reads the index on an untrusted server:
sees each passage with its vector, has the encoder and the settings, and holds the originals to compare with.
Chance finds nothing: a vector that is made of its text alone is never flagged.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from eval.experiment import SanitizedCorpus, Shelf
from eval.measures.leakage import NOTHING_SENSITIVE
from eval.progress import Progress
from eval.rows import Row
from ingest.documents import Action, Decision, Document, Entity, Identifier, SanitizedDocument, Span
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from models.vectors import Vectors
from retrieval.passages import cut

TOLERANCE = 1e-4
"""How far a cosine may lie below 1 for reasons of numbers.

Over 300 texts of 5 to 110 words MiniLM's vectors lose at most 3e-8 by half precision, 6e-13 by the batch and
3e-5 by bfloat16; one other word costs 6e-4 or more.
"""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Compared:
    """The cosines of each stored vector: with that of its own text, and with the original's nearest one."""

    own: Floats = field(repr=False)
    original: Floats = field(repr=False)

    @property
    def flagged(self) -> int:
        """How many are not what their text gives; what is no number is not."""
        return int(np.count_nonzero(~(self.own >= 1 - TOLERANCE)))

    @property
    def nearer(self) -> int:
        """How many of these are nearer to the original's."""
        return int(np.count_nonzero(self.original > self.own + TOLERANCE))


def compared(stored: Vectors, own: Vectors, originals: Vectors) -> Compared:
    """Compare stored vectors with as many of their own text, and with those of the original's passages."""
    units, expected, others = map(_units, (stored, own, originals))
    return Compared((units * expected).sum(axis=1), (units @ others.T).max(axis=1, initial=-1.0))


def found_among(vectors: Vectors, pool: Vectors, own: NDArray[np.bool_]) -> int:
    """How many vectors have their nearest neighbour among those of ``pool`` that ``own`` marks.

    Inversion by search: whoever holds candidates for an original needs no model that writes text.
    """
    if not len(vectors) or not len(pool):
        return 0
    return int(np.count_nonzero(own[(_units(vectors) @ _units(pool).T).argmax(axis=1)]))


def described(document: SanitizedDocument, treated: Iterable[tuple[str, str, int, int]]) -> SanitizedDocument:
    """A document with the decisions of its ledger: label, action and place in the sanitized text of each.

    They say what is left out of a vector. Where their mentions stood in the original is not known.
    """
    decisions, places = [], []
    for label, action, start, end in treated:
        entity = Entity(Span(0, 1), label, Identifier.ATTRIBUTE, 1.0, "ledger")
        decisions.append(Decision(entity, None, Action(action), ""))
        places.append((start, end))
    return replace(document, decisions=decisions, places=places)


def _units(vectors: Vectors) -> Floats:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    units: Floats = np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0)
    return units


PASSAGES, FLAGGED, NEARER = "passages", "vectors not of their text", "vectors nearer to the original"
INVERTED, BY_TEXT = "vectors that find their original", "texts that find their original"
LOWEST = "lowest cosine with the vector of the text"
CUT_OTHERWISE = "stored in other passages than its text is cut into"
"""The failure of a document whose vectors cannot be made again."""
AMONG = 64
"""Documents among whose originals that of a vector is looked for, in the order of the documents."""


@dataclass(frozen=True, slots=True)
class VectorsTask:
    """One row per document, with numbers only; a failure if it could not be sanitized.

    The vectors are made again from the stored text, without the descriptors that the ledger names. Give it
    the same ``eval.targets.reading_once`` as other tasks, and no text is encoded twice.

    Raises:
        ConfigurationError: Two documents have the same id, or a corpus has no stored vectors.
    """

    documents: Sequence[Document] = field(repr=False)
    encoder: Encoder

    name = "stored vectors"
    sensitive = NOTHING_SENSITIVE

    def __post_init__(self) -> None:
        if len(set(self.cases)) < len(self.documents):
            raise ConfigurationError("Two documents have the same id: give each its own.")

    @property
    def cases(self) -> Sequence[str]:
        return [document.doc_id for document in self.documents]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        if kept.shelf is None:
            raise ConfigurationError(f"{kept.system} has no stored vectors: measure a collection.")
        shelf, phase = kept.shelf(self.encoder), f"comparing vectors in {kept.system}"
        there, wanted = {each.doc_id: each for each in kept.documents}, set(cases)
        for first in range(0, len(self.documents), AMONG):
            batch = self.cases[first : first + AMONG]
            if wanted.isdisjoint(batch):
                continue
            progress(phase, first, len(self.documents))
            figures = self._compared(shelf, [there[case] for case in batch if case in there])
            for case in batch:
                if case not in wanted:
                    continue
                row = kept.row(self.name, case, figures.get(case), self.encoder.name)
                otherwise = case in there and figures[case] is None
                yield row.model_copy(update={"failure": CUT_OTHERWISE}) if otherwise else row
        progress(phase, len(self.documents), len(self.documents))

    def _compared(
        self, shelf: Shelf, documents: Sequence[SanitizedDocument]
    ) -> dict[str, dict[str, float] | None]:
        """The figures of each document by its id, None where its passages cannot be told apart."""
        texts = {each.doc_id: each.text for each in self.documents}
        ids = [next(iter(shelf.store.documents_called([each.doc_id])), each.doc_id) for each in documents]
        said = [described(each, shelf.store.treated(own)) for each, own in zip(documents, ids, strict=True)]
        bare = [replace(each, text=texts[each.doc_id], decisions=(), places=()) for each in documents]
        expected, originals = (
            cut(each, self.encoder, shelf.passage_tokens, shelf.search) for each in (said, bare)
        )
        pool = np.concatenate([each.vectors for each in originals])
        owners = np.repeat(np.arange(len(originals)), [len(each.vectors) for each in originals])
        figures: dict[str, dict[str, float] | None] = {}
        for place, (doc_id, own, original) in enumerate(zip(ids, expected, originals, strict=True)):
            passages = shelf.store.passages_of(doc_id)
            if [each.text for each in passages] != [each.text for each in own.passages]:
                figures[own.document.doc_id] = None
                continue
            found: dict[str, float] = {PASSAGES: len(passages)}
            if passages:
                _, stored = shelf.store.vectors_of([each.passage_id for each in passages])
                cosines = compared(stored, own.vectors, original.vectors)
                found |= {
                    FLAGGED: cosines.flagged,
                    NEARER: cosines.nearer,
                    LOWEST: float(cosines.own.min()),
                    INVERTED: found_among(stored, pool, owners == place),
                    BY_TEXT: found_among(own.vectors, pool, owners == place),
                }
            figures[own.document.doc_id] = found
        return figures
