"""The heads of the attribute attack: from what was read of a text to the probability of each value.

A head is a conditional logit. The score of a value is its prior, plus what the text's vectors say of it
(an affine map, for attributes of few values), plus what its clues say, with weights that all values share: so
it can rank values that no training text had.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from models.catalog import ModelRef
from models.errors import ModelUnavailable
from models.trained import read_trained

if TYPE_CHECKING:
    from torch import Tensor


Floats = NDArray[np.float64]
Places = NDArray[np.int64]
PARTS = ("priors", "clues", "vectors", "spread")
"""The weights of a head, by the names that follow its own in the file."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of one attribute.

    ``priors`` has shape (values,), ``clues`` (clues,), and ``vectors`` (values, numbers) or (values, 0) where
    vectors are not used. ``spread``, of shape (1,), divides scores: it makes probabilities of them.
    """

    attribute: str
    values: tuple[str, ...]
    priors: Floats = field(repr=False)
    clues: Floats = field(repr=False)
    vectors: Floats = field(repr=False)
    spread: Floats = field(repr=False)

    def probabilities(self, vectors: Floats, clues: Floats) -> Floats:
        """(texts, values), from vectors of shape (texts, numbers) and clues (texts, values, clues)."""
        scores = self.priors + clues @ self.clues
        if self.vectors.shape[1]:
            scores = scores + vectors @ self.vectors.T
        found: Floats = softmax(scores / self.spread, axis=1)
        return found


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads of a model, by attribute."""

    name: str
    heads: Mapping[str, Head]


def load_heads(model: ModelRef, values: Mapping[str, Sequence[str]]) -> Heads:
    """The heads of 'train-attributes'. ModelUnavailable: files are missing, not whole, or of other values."""
    trained = read_trained(model, "attributes")
    heads: dict[str, Head] = {}
    for attribute, known in sorted(trained.card["values"].items()):
        parts = [f"{attribute}.{part}" for part in PARTS]
        if list(values.get(attribute, ())) != known or any(part not in trained.weights for part in parts):
            raise ModelUnavailable(
                f"The head {attribute} of {trained.name} is of another version:",
                "train it again with 'lethe models train-attributes'.",
            )
        numbers = (trained.weights[part].double().numpy() for part in parts)
        heads[attribute] = Head(attribute, tuple(known), *numbers)
    return Heads(trained.name, heads)


def weights_of(heads: Sequence[Head]) -> "dict[str, Tensor]":
    """The weights of heads by name, as ``write_trained`` takes them."""
    import torch

    arrays = {f"{head.attribute}.{part}": getattr(head, part) for head in heads for part in PARTS}
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


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
