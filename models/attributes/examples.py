"""Texts whose people are known in part, as numbers: what the heads of the attribute attack learn from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from models.attributes.heads import Floats

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Learned:
    """Texts whose value of an attribute is known, as numbers.

    ``truths`` are places among the values and ``weights`` say how much each text counts; for shapes see
    ``Head.probabilities``.
    """

    vectors: Floats = field(repr=False)
    clues: Floats = field(repr=False)
    truths: Places = field(repr=False)
    weights: Floats = field(repr=False)

    def at(self, places: Places) -> "Learned":
        """Some of the texts."""
        return Learned(self.vectors[places], self.clues[places], self.truths[places], self.weights[places])


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """What an attribute is learned from: texts of corpora, each of a group, and further ones.

    A group holds all texts of a person. ``further`` texts are names and invented sentences: they are always
    learned from and never measured on.
    """

    attribute: str
    values: tuple[str, ...]
    learned: Learned
    groups: Sequence[str] = field(repr=False)
    corpora: Sequence[str] = field(repr=False)
    further: Sequence[Learned] = field(default=(), repr=False)
    reads_vectors: bool = True
