"""A histogram of what documents hold, released with differential privacy for each of them."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

import numpy as np

from ingest.synthesizing.accounting import Guarantee
from ingest.synthesizing.noise import discrete_gaussian

Key = TypeVar("Key", bound=tuple[int, ...])


def contribution(keys: Sequence[Key], guarantee: Guarantee, rng: Random) -> Sequence[Key]:
    """What one document counts for: its distinct ``keys``, or as many of them as it may, drawn at random."""
    return keys if len(keys) <= guarantee.per_document else rng.sample(keys, guarantee.per_document)


def released(counts: Mapping[Key, int], guarantee: Guarantee, rng: Random) -> dict[Key, int]:
    """The noisy counts that reach the threshold.

    ``counts`` says in how many documents' ``contribution`` each key is, and has no key of none. Keys come
    sorted, so that nothing but the released counts shows.
    """
    noise = discrete_gaussian(guarantee.variance, len(counts), rng)
    noisy = np.fromiter(counts.values(), np.int64, len(counts)) + noise
    found = zip(counts, noisy.tolist(), strict=True)
    return dict(sorted((key, count) for key, count in found if count >= guarantee.threshold))
