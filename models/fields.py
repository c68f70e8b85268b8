"""The head that says what stands in a field: multinomial logits over hashed words of its name and cells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from models.catalog import ModelRef
from models.trained import readable_files

if TYPE_CHECKING:
    from torch import Tensor

BUCKETS = 16_384
"""Places of features: some share one."""
Feature = tuple[str, float]
"""A word of a field and how much it weighs."""


@dataclass(frozen=True, slots=True)
class FieldHead:
    """``weights`` has shape (buckets, kinds), ``priors`` (kinds,). ``learned`` are the names of fields."""

    kinds: tuple[str, ...]
    weights: NDArray[np.float32] = field(repr=False)
    priors: NDArray[np.float32] = field(repr=False)
    learned: tuple[str, ...] = field(default=(), repr=False)

    def probabilities(self, features: Iterable[Feature]) -> Mapping[str, float]:
        """How likely each kind is, all together 1."""
        places, amounts = hashed(features)
        scores = self.priors + amounts @ self.weights[places]
        odds = np.exp(scores - scores.max())
        return dict(zip(self.kinds, (odds / odds.sum()).tolist(), strict=True))


def hashed(features: Iterable[Feature]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The places and weights of features."""
    pairs = list(features)
    places = np.array([crc32(name.encode()) % BUCKETS for name, _ in pairs], np.int64)
    return places, np.array([weight for _, weight in pairs], np.float32)


@cache
def embedded_head() -> FieldHead:
    """The shipped head; raises ModelUnavailable where its files are absent or not whole."""
    return load_head(ModelRef(source="embedded", name="lethe-fields"))


def load_head(model: ModelRef) -> FieldHead:
    """A head of ``lethe models train-fields``; raises ModelUnavailable where its files are not whole."""
    # Not by way of torch: patterns and rules alone do not need it.
    from safetensors.numpy import load_file

    with readable_files(model, "fields") as (file, card):
        stored = load_file(file)
        weights, priors = (stored[name].astype(np.float32) for name in ("weights", "priors"))
        return FieldHead(tuple(card["kinds"]), weights, priors, tuple(card["learned"].split("|")))


def weights_of(head: FieldHead) -> "Mapping[str, Tensor]":
    """The weights by name, as ``write_trained`` takes them."""
    import torch

    return {"weights": torch.from_numpy(head.weights), "priors": torch.from_numpy(head.priors)}


def most_likely(probabilities: Mapping[str, float]) -> tuple[str, float]:
    """The likeliest kind and how likely it is."""
    return max(probabilities.items(), key=lambda pair: pair[1])
