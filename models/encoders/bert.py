"""The layers of BERT (Devlin and others 2019, section 3) over given weights, with torch alone.

The forward pass is written out because importing the libraries that hold it takes three to five times as long
as everything else that answering a question needs, and because the models here share their lower parts. It
serves training as well: gradients flow through it. Tests hold it to transformers.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

from models.progress import report

if TYPE_CHECKING:
    from torch import Tensor, device

    Weights = Mapping[str, Tensor]

WIDTH = 384
"""Length of a token's vector."""
LAYERS = 6
UNK, CLS, SEP = 100, 101, 102
"""Word pieces with a meaning of their own: unknown, and the marks at both ends."""
_HEADS = 12
ON_GPU = 16
"""How many times the tokens of a batch a GPU takes; an estimate, no GPU was measured."""
_KEYS = 16
"""In half the bits, keys come in multiples of this: torch adds up the last few in another order, so a text
would be read otherwise in a batch of longer ones, and some decisions would depend on its neighbours."""
PROJECTIONS, TOGETHER = ("query", "key", "value"), "query_key_value"
"""The maps of the states before attention, and their name where they are one."""


def padded(tokens: Sequence[Sequence[int]], device: "device | str" = "cpu") -> "tuple[Tensor, Tensor]":
    """Ids of shape (rows, longest) on a device, and of the same shape which of them are real."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    ids = pad_sequence([torch.tensor(of_row, dtype=torch.long) for of_row in tokens], batch_first=True)
    real = torch.arange(ids.shape[1]) < torch.tensor([[len(of_row)] for of_row in tokens])
    return ids.to(device), real.to(device)


def embed(weights: "Weights", ids: "Tensor") -> "Tensor":
    """What goes into the first layer, shape (rows, tokens, 384)."""
    states = weights["embeddings.word_embeddings.weight"][ids]
    states = states + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    states = states + weights["embeddings.token_type_embeddings.weight"][0]
    return norm(weights, "embeddings.LayerNorm", states)


def run_layers(
    weights: "Weights",
    states: "Tensor",
    real: "Tensor",
    layers: Sequence[int] = range(LAYERS),
    dropout: float = 0.0,
) -> "Tensor":
    """The states after some layers, of the same shape; undefined where ``real`` is false."""
    import torch
    from torch.nn import functional

    maps = (weights[f"encoder.layer.{number}.output.dense.weight"] for number in layers)
    if any(each.dtype == torch.bfloat16 for each in maps):
        real = functional.pad(real, (0, -states.shape[1] % _KEYS))
    # Rows of one length need no mask, and attention is faster without one.
    mask = None if bool(real.all()) else real[:, None, None, :]
    for number in layers:
        states = _layer(weights, states, mask, f"encoder.layer.{number}", dropout)
    return states


def mean_state(states: "Tensor", real: "Tensor") -> "Tensor":
    """The mean over the real tokens, shape (rows, 384)."""
    weight = real[:, :, None].to(states.dtype)
    return (states * weight).sum(1) / weight.sum(1)


def _layer(
    weights: "Weights", states: "Tensor", mask: "Tensor | None", name: str, dropout: float
) -> "Tensor":
    from torch.nn import functional

    rows, length, width = states.shape

    def dropped(states: "Tensor") -> "Tensor":
        return functional.dropout(states, dropout) if dropout else states

    def heads(part: str) -> "Tensor":
        projected = linear(weights, f"{name}.attention.self.{part}", states)
        return projected.view(rows, length, -1, _HEADS, width // _HEADS).permute(2, 0, 3, 1, 4)

    if f"{name}.attention.self.{TOGETHER}.weight" in weights:
        query, key, value = heads(TOGETHER)
    else:
        query, key, value = (heads(part)[0] for part in PROJECTIONS)
    if mask is not None and (missing := mask.shape[-1] - length):
        key, value = (functional.pad(each, (0, 0, 0, missing)) for each in (key, value))
    attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    attended = attended.transpose(1, 2).reshape(rows, length, width)
    attended = linear(weights, f"{name}.attention.output.dense", attended)
    states = norm(weights, f"{name}.attention.output.LayerNorm", states + dropped(attended))
    inner = linear(weights, f"{name}.intermediate.dense", states, "gelu")
    outer = linear(weights, f"{name}.output.dense", inner)
    return norm(weights, f"{name}.output.LayerNorm", states + dropped(outer))


def linear(
    weights: "Weights", name: str, states: "Tensor", then: Literal["none", "gelu"] = "none"
) -> "Tensor":
    """The affine map ``name``, and what follows it."""
    import torch
    from torch.nn import functional

    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    training = torch.is_grad_enabled() or torch.is_autocast_enabled("cpu")
    if training or states.device.type != "cpu" or not by_onednn(half=weight.dtype == torch.bfloat16):
        mapped = functional.linear(states.to(weight.dtype), weight, bias)
        return functional.gelu(mapped) if then == "gelu" else mapped
    rows = states.shape[:-1].numel()
    # oneDNN writes a program for every number of rows that it meets and keeps a thousand of them: each takes
    # half a megabyte, and a third of the time of a small batch.
    step = 8 if rows <= 128 else 16 if rows <= 512 else 64
    whole = states.new_empty((-(-rows // step) * step, states.shape[-1]), dtype=weight.dtype)
    whole[:rows] = states.reshape(rows, -1)
    whole[rows:] = 0
    # oneDNN in single precision: as exact as the library that torch takes for this, and twice as fast on AMD
    mapped = torch.ops.mkldnn._linear_pointwise(whole, weight, bias, then, [], "none")
    return cast("Tensor", mapped)[:rows].view(*states.shape[:-1], -1)


def by_onednn(*, half: bool) -> bool:
    """Whether oneDNN maps states in single precision, or in ``half`` the bits, on this processor."""
    import torch

    if not torch.backends.mkldnn.is_available():
        return False
    return not half or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def norm(weights: "Weights", name: str, states: "Tensor") -> "Tensor":
    """The layer normalization ``name`` over the last dimension."""
    from torch.nn import functional

    weight = weights[f"{name}.weight"]
    return functional.layer_norm(states, weight.shape, weight, weights[f"{name}.bias"], eps=1e-12)


def batches(lengths: Sequence[int], most_tokens: int, device: str = "cpu") -> Iterator[list[int]]:
    """Row numbers in batches of similar length, so that little is padded; every row once.

    A batch has at most ``most_tokens`` tokens with padding, on a GPU ``ON_GPU`` times as many, or one row.
    """
    most_tokens *= 1 if device == "cpu" else ON_GPU
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and lengths[order[stop]] * (stop + 1 - start) <= most_tokens:
            # A batch ends where padding would make up an eighth of it.
            if lengths[order[stop]] > math.ceil(lengths[order[start]] * 1.15):
                break
            stop += 1
        yield order[start:stop]
        report(sum(lengths[row] for row in order[start:stop]))
        start = stop
