"""The head that says what stands in a field: multinomial logits over hashed words of its name and cells."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from models.catalog import ModelRef, check_embedded, embedded_model, folder_of
from models.errors import ModelUnavailable

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
    pairs = [(crc32(name.encode()) % BUCKETS, weight) for name, weight in features]
    return np.array([place for place, _ in pairs], np.int64), np.array(
        [each for _, each in pairs], np.float32
    )


@cache
def embedded_head() -> FieldHead:
    """The shipped head; raises ModelUnavailable where its files are absent or not whole."""
    return load_head(ModelRef(source="embedded", name="lethe-fields"))


def load_head(model: ModelRef) -> FieldHead:
    """A head of ``lethe models train-fields``; raises ModelUnavailable where its files are not whole."""
    # Not by way of torch: patterns and rules alone do not need it.
    from safetensors.numpy import load_file

    if model.source == "embedded":
        check_embedded(embedded_model(model.name, "fields"))
    folder = folder_of(model, "fields")
    try:
        card = json.loads((folder / "fields.json").read_text(encoding="utf-8"))
        kinds, learned = card["kinds"], card["learned"].split("|")
        stored = load_file(folder / "fields.safetensors")
        weights, priors = (stored[name].astype(np.float32) for name in ("weights", "priors"))
    except Exception as error:
        raise ModelUnavailable(
            f"The fields model in {folder} could not be read ({type(error).__name__}):",
            "it needs fields.safetensors and fields.json as 'lethe models train-fields' writes them.",
        ) from None
    return FieldHead(tuple(kinds), weights, priors, tuple(learned))


def weights_of(head: FieldHead) -> "Mapping[str, Tensor]":
    """The weights by name, as ``write_trained`` takes them."""
    import torch

    return {"weights": torch.from_numpy(head.weights), "priors": torch.from_numpy(head.priors)}


def most_likely(probabilities: Mapping[str, float]) -> tuple[str, float]:
    """The likeliest kind and how likely it is."""
    return max(probabilities.items(), key=lambda pair: pair[1])
