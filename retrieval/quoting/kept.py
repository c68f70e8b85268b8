"""Vectors of units as they are kept with their passage: a digest of each unit's text, then its vector.

The text stands in the passage and not here a second time. Whoever reads the passage together with others may
meet other units, where one goes on into the next passage: these have no vector here.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from models.vectors import Vectors

DIGEST_BYTES = 16

Known = Callable[[Sequence[int]], Mapping[bytes, Vectors]]
"""From the ids of passages to the vectors that are kept of their units, by digest."""


def digest_of(text: str) -> bytes:
    """What the vector of a unit is found by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def packed(units: Iterable[tuple[str, Vectors]]) -> bytes:
    """Texts with their vectors in one piece; in half precision, as those of passages."""
    return b"".join(digest_of(text) + vector.astype(np.float16).tobytes() for text, vector in units)


def unpacked(kept: bytes, dim: int) -> dict[bytes, Vectors]:
    """The vectors by digest."""
    rows = np.frombuffer(kept, dtype=np.uint8).reshape(-1, DIGEST_BYTES + 2 * dim)
    vectors = rows[:, DIGEST_BYTES:].copy().view(np.float16).astype(np.float32)
    return {row[:DIGEST_BYTES].tobytes(): vector for row, vector in zip(rows, vectors, strict=True)}
