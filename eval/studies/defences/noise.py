"""Noise in the vectors that a server stores, so that who reads them learns less of the texts.

The mechanism is the Gaussian one, calibrated exactly (Balle and Wang 2018). Unit vectors are at most 2 apart,
whatever the texts, so each vector is (epsilon, delta)-locally private by itself; those of one document, its
beginning, its passages and their units, add up. Questions are encoded plainly: they are the asker's.

Words are searched as they are, and say all that the noise hides: with noise, search is by vectors alone.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np

from eval.experiment import SanitizedCorpus, Shelf, add_documents, retrievers
from ingest.deciding.baselines.local_privacy import gaussian_noise
from ingest.protocols import Encoder, OverEncoder
from models.vectors import Vectors
from retrieval.search import DENSE
from retrieval.store.database import Store

FARTHEST = 2.0
"""The L2 sensitivity: opposite unit vectors."""
DELTA = 1e-5


@dataclass(frozen=True, slots=True)
class NoisyVectors(OverEncoder):
    """Unit vectors of ``encoder`` with Gaussian noise, scaled to length 1 again, which costs no privacy.

    The noise of a text depends on ``seed`` and the text alone, so that a run can be repeated; who protects
    texts draws it in secret.
    """

    epsilon: float
    seed: int = 0
    deviation: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "deviation", gaussian_noise(FARTHEST, self.epsilon, DELTA))

    @property
    def name(self) -> str:
        """The encoder and the budget of each vector."""
        return f"{self.encoder.name}, noise of epsilon {self.epsilon:g}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dim), rows of length 1."""
        vectors = self.encoder.encode(texts)
        noise = [self._drawn(text) for text in texts]
        noisy = vectors + self.deviation * np.array(noise).reshape(vectors.shape)
        unit: Vectors = (noisy / np.linalg.norm(noisy, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _drawn(self, text: str) -> Vectors:
        said = f"{self.seed}\n{text}".encode("utf-8", "surrogatepass")
        rng = np.random.default_rng(int.from_bytes(blake2b(said, digest_size=16).digest()))
        return rng.standard_normal(self.dim).astype(np.float32)


def by_vectors(
    kept: SanitizedCorpus, passage_tokens: int, epsilon: float | None, seed: int, stack: ExitStack
) -> SanitizedCorpus:
    """The same documents searched by vectors alone, with noise of ``epsilon`` in those that are stored."""
    made: dict[str, Shelf] = {}

    def stored(encoder: Encoder) -> Encoder:
        return encoder if epsilon is None else NoisyVectors(encoder, epsilon, seed)

    def shelf(encoder: Encoder) -> Shelf:
        if encoder.name not in made:
            store = Store(None)
            stack.callback(store.close)
            made[encoder.name] = Shelf(store, passage_tokens, DENSE, stored)
            add_documents(made[encoder.name], kept.documents, encoder)
        return made[encoder.name]

    return replace(kept, retriever=retrievers(shelf), shelf=shelf)
