"""Vectors that are kept for a while: many questions find the same sentences."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from ingest.protocols import Encoder
from models.vectors import Vectors

MOST = 10_000
"""How many vectors are kept: 15 MB of 384 numbers."""


class RememberedVectors:
    """Encodes texts that it has not met lately, by digest. Safe to share between threads.

    Whoever shares it must ``forget`` once a text is erased.
    """

    def __init__(self, encoder: Encoder, most: int = MOST) -> None:
        self._encoder = encoder
        self._most = most
        self._kept: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = threading.Lock()
        self._forgotten = 0

    @property
    def name(self) -> str:
        """The name of the encoder."""
        return self._encoder.name

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._encoder.dim

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads."""
        return self._encoder.max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token of the whole text."""
        return self._encoder.token_spans(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, dim); raises what the encoder raises."""
        keys = [_digest(text) for text in texts]
        with self._lock:
            since = self._forgotten
            known = {key: self._kept[key] for key in keys if key in self._kept}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            known |= zip(new, map(np.copy, self._encoder.encode([*new.values()])), strict=True)
        with self._lock:
            if since == self._forgotten:
                self._keep(known)
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.dim), np.float32)

    def _keep(self, vectors: Mapping[bytes, Vectors]) -> None:
        for key, vector in vectors.items():
            self._kept[key] = vector
            self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def forget(self) -> None:
        """Keep nothing, not even what is being encoded now."""
        with self._lock:
            self._forgotten += 1
            self._kept.clear()


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
