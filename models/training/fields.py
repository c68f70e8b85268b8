"""Training the head of fields: multinomial logits on invented records."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from models.fields.head import BUCKETS, Feature, FieldHead, hashed, most_likely
from models.training.synthetic.fields import FieldExample, kinds

FeaturesOf = Callable[[Sequence[str], Sequence[str], Sequence[str]], Iterable[Feature]]
"""The features of a field, from its path, the names beside it and its cells."""
HELD_BACK = 10
"""Every tenth name is learned last: until then it measures how names are read that were not learned."""


@dataclass(frozen=True, slots=True)
class FieldRecipe:
    """Hyperparameters of the shipped head; the penalty is on weights, at each step."""

    seed: int = 20261128
    records: int = 24_000
    epochs: int = 5
    batch: int = 128
    rate: float = 0.02
    penalty: float = 0.0005
    left_out: float = 0.15
    """The share of features that an example loses, anew in each epoch."""


def is_held_back(example: FieldExample) -> bool:
    """Whether the name that a field was made of is one of those that measure."""
    return bool(example.base) and crc32(example.base.encode()) % HELD_BACK == 0


def train_head(examples: Sequence[FieldExample], features_of: FeaturesOf, recipe: FieldRecipe) -> FieldHead:
    """The head of all examples; the same examples and recipe give the same head."""
    import torch

    names = kinds()
    read = [hashed(features_of(each.path, each.beside, each.cells)) for each in examples]
    truths = torch.tensor([names.index(each.kind) for each in examples])
    torch.manual_seed(recipe.seed)
    weights = torch.nn.EmbeddingBag(BUCKETS, len(names), mode="sum")
    torch.nn.init.zeros_(weights.weight)
    priors = torch.zeros(len(names), requires_grad=True)
    optimizer = torch.optim.AdamW(
        [weights.weight, priors], lr=recipe.rate, weight_decay=recipe.penalty / recipe.rate
    )
    steps = recipe.epochs * (1 + (len(read) - 1) // recipe.batch)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
    for _ in range(recipe.epochs):
        for batch in torch.randperm(len(read)).split(recipe.batch):
            rows = [_in_part(read[number], recipe.left_out) for number in batch.tolist()]
            places = torch.from_numpy(np.concatenate([row[0] for row in rows]))
            amounts = torch.from_numpy(np.concatenate([row[1] for row in rows]))
            starts = torch.from_numpy(np.cumsum([0, *(len(row[0]) for row in rows[:-1])]))
            scores = priors + weights(places, starts, per_sample_weights=amounts)
            loss = torch.nn.functional.cross_entropy(scores, truths[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return FieldHead(tuple(names), weights.weight.detach().numpy(), priors.detach().numpy())


def _in_part(
    row: tuple[NDArray[np.int64], NDArray[np.float32]], left_out: float
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    import torch

    kept = torch.rand(len(row[0])).numpy() >= left_out
    return row[0][kept], row[1][kept]


def right_share(
    head: FieldHead, examples: Sequence[FieldExample], features_of: FeaturesOf
) -> dict[str, float]:
    """The share of fields that are read rightly, of each kind that is among them and of "all"."""
    tried: dict[str, list[bool]] = {}
    for each in examples:
        kind, _ = most_likely(head.probabilities(features_of(each.path, each.beside, each.cells)))
        for name in (each.kind, "all"):
            tried.setdefault(name, []).append(kind == each.kind)
    return {name: round(sum(hits) / len(hits), 3) for name, hits in sorted(tried.items())}
