"""How much a word says about who is meant: boosted trees over how it is written and where it stands.

Two ensembles. One was learned in a game: texts whose names are gone are linked to the public texts of the
same people, and it predicts what a word adds to finding the right one among the nearest others. The other
predicts how rarely a word stands in the text of anybody else. Neither knows any word; rarity is the surprisal
of a word's pieces under the vocabulary of the encoder, which was counted on text of a hundred languages.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.catalog import ModelRef, check_embedded, embedded_model, folder_of
from models.encoders.e5 import splitter_of
from models.encoders.words import UNK, Splitter
from models.reader.network import ENCODER
from models.trained import readable_files

Floats = NDArray[np.float32]
UNKNOWN = -15.0
"""The logarithm of the probability of a piece that the vocabulary lacks."""
_METASPACE = "\u2581"
_ARRAYS = ("feature", "threshold", "left", "right", "value")


@dataclass(frozen=True, slots=True)
class Trees:
    """An ensemble: a row goes left where its feature is at most the threshold, and leaves add up.

    All arrays have shape (trees, nodes). A leaf is its own child.
    """

    start: float
    feature: NDArray[np.int16] = field(repr=False)
    threshold: Floats = field(repr=False)
    left: NDArray[np.int16] = field(repr=False)
    right: NDArray[np.int16] = field(repr=False)
    value: Floats = field(repr=False)

    def of(self, rows: Floats) -> Floats:
        """The prediction for each row of shape (rows, features)."""
        trees, everywhere = np.arange(len(self.feature))[:, None], np.arange(len(rows))[None, :]
        at = np.zeros((len(trees), len(rows)), np.int16)
        while True:
            go_left = rows[everywhere, self.feature[trees, at]] <= self.threshold[trees, at]
            below = np.where(go_left, self.left[trees, at], self.right[trees, at])
            if np.array_equal(below, at):
                found: Floats = self.value[trees, at].sum(axis=0) + np.float32(self.start)
                return found
            at = below


@dataclass(frozen=True, slots=True)
class BitsModel:
    """``features`` are the names of the columns that it reads."""

    name: str
    features: tuple[str, ...]
    linking: Trees
    narrowing: Trees

    def bits(self, rows: Floats) -> tuple[Floats, Floats]:
        """For each word the bits that it is expected to add to a link, and those by which it narrows down.

        ``rows`` has shape (words, features); both results are in bits and at least 0.
        """
        linking, narrowing = (np.maximum(each.of(rows), 0) for each in (self.linking, self.narrowing))
        return linking, narrowing


@cache
def embedded_bits() -> BitsModel:
    """The shipped model; raises ModelUnavailable where its files are absent or not whole."""
    return load_bits(ModelRef(source="embedded", name="lethe-bits"))


def load_bits(model: ModelRef) -> BitsModel:
    """A model of ``lethe models train-bits``; raises ModelUnavailable where its files are not whole."""
    from safetensors.numpy import load_file

    with readable_files(model, "bits") as (file, card):
        stored = load_file(file)
        parts = [
            Trees(card["start"][part], *(stored[f"{part}.{array}"] for array in _ARRAYS))
            for part in ("linking", "narrowing")
        ]
        return BitsModel(str(card["name"]), tuple(card["features"]), *parts)


def arrays_of(model: BitsModel) -> Mapping[str, NDArray[Any]]:
    """The arrays by name, as ``load_bits`` reads them."""
    parts = {"linking": model.linking, "narrowing": model.narrowing}
    return {f"{part}.{array}": getattr(trees, array) for part, trees in parts.items() for array in _ARRAYS}


def surprisals(words: Sequence[str]) -> Mapping[str, float]:
    """-log2 of the probability of each word's pieces, in small letters or with a capital, in bits."""
    splitter, scores = _vocabulary()
    spelled = [each.translate(splitter.normalized) for word in words for each in (word, word.capitalize())]
    encodings = splitter.tokenizer.encode_batch(
        [_METASPACE + each.replace(" ", "") for each in spelled], add_special_tokens=False
    )
    totals = [
        sum(scores[piece] if piece != UNK else UNKNOWN for piece in each.ids) or UNKNOWN for each in encodings
    ]
    pairs = zip(words, totals[::2], totals[1::2], strict=True)
    return {word: -max(small, capital) / math.log(2) for word, small, capital in pairs}


@cache
def _vocabulary() -> tuple[Splitter, Sequence[float]]:
    """The reader's vocabulary, and the logarithm of each piece's probability."""
    from safetensors import safe_open

    check_embedded(embedded_model("lethe-reader", "detector"))
    path = folder_of(ModelRef(), "detector") / ENCODER
    with safe_open(path, framework="np") as stored:
        weights = {name: stored.get_tensor(name) for name in ("pieces", "scores", "normalized")}
    return splitter_of(weights), weights["scores"].tolist()
