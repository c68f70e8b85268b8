"""A text encoder without a model: words hashed into directions, so that shared words are similarity."""

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from models.vectors import Vectors


class HashingEncoder:
    """Bags of words as unit vectors; needs no weights and no time."""

    name = "hashed words"
    dim = 512
    max_tokens = 10_000

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """The words."""
        return [word.span() for word in re.finditer(r"\w+", text)]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, 512)."""
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()) or [""]:
                vectors[row, crc32(word.encode("utf-8", "replace")) % self.dim] += 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
