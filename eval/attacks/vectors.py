"""Reading stored vectors: whether the vector of a passage tells more than its text does.

A stored vector has to be the one that the pipeline makes of the sanitized text. One that was made of the
original, or of anything else, can be searched and inverted although its text shows nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from eval.attacks.guessing import IndexAttack
from ingest.documents import Action, Decision, Entity, Identifier, SanitizedDocument, Span
from models.vectors import Vectors

STORED_VECTORS = IndexAttack(
    name="stored vectors",
    goal="Find passages whose stored vector is not that of their text, or is nearer to that of the original.",
    threat_model=(
        "A reader of the index on an untrusted server: sees each passage with its vector, has the encoder "
        "and the settings, and holds the originals to compare with."
    ),
    reference="ours; vectors are worth reading since Morris et al. 2023, Text Embeddings Reveal (Almost) As "
    "Much As Text",
)
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
        """How many are not what their text gives."""
        # Written so that what is no number is flagged.
        return int(np.count_nonzero(~(self.own >= 1 - TOLERANCE)))

    @property
    def nearer(self) -> int:
        """How many of these are nearer to the original's."""
        return int(np.count_nonzero(self.original > self.own + TOLERANCE))


def compared(stored: Vectors, own: Vectors, originals: Vectors) -> Compared:
    """Compare stored vectors with as many of their own text, and with those of the original's passages."""
    units, expected, others = map(_units, (stored, own, originals))
    nearest = (units @ others.T).max(axis=1, initial=-1.0)
    return Compared((units * expected).sum(axis=1), nearest)


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
