"""Training the claim-support model on claims and texts whose levels are known or bounded."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.errors import ConfigurationError
from models.judges import LEVELS, SHAPES, Alignment, ClaimPair, ClaimReader, Floats, cumulative, probabilities
from models.training.optimizing import Progress, Rates, optimizer_of, packed, take_step, with_new_head

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]

SPREAD = 1e-3
"""Added to the spread of a feature, which may be constant."""
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class JudgeRecipe(Rates):
    """Hyperparameters of the shipped claim-support model. No released layer is trained."""

    seed: int = 20261124
    epochs: int = 8
    pairs: int = 64
    layer_rate: float = 0.0
    head_rate: float = 3e-3
    dropout: float = 0.2


Read = Sequence[tuple[ClaimPair, Alignment]]


def aligned(
    pairs: Sequence[tuple[ClaimPair, Sequence[str]]], told: Floats
) -> list[tuple[ClaimPair, Alignment]]:
    """Each pair, with the parts of its text, and its alignment in half precision; without empty ones."""
    found = ClaimReader(told).alignments([(pair.claim, parts) for pair, parts in pairs])
    made: list[tuple[ClaimPair, Alignment]] = []
    for (pair, _), each in zip(pairs, found, strict=True):
        if each is not None:
            own, aligned, tokens = (part.astype(np.float16) for part in (each.own, each.aligned, each.tokens))
            made.append((pair, Alignment(own, aligned, tokens, each.weights, each.features)))
    return made


def train_judge(
    read: Read, told: Floats, recipe: JudgeRecipe, report: Callable[[Progress], None]
) -> "Parameters":
    """The trained weights by name. Raises ConfigurationError where not every level is among the pairs."""
    import torch

    if {pair.low for pair, _ in read if pair.low == pair.high} != set(LEVELS):
        raise ConfigurationError("The pairs do not show all three levels: give more text of the corpora.")
    torch.manual_seed(recipe.seed)
    chance = random.Random(recipe.seed)
    features = np.stack([each.features for _, each in read])
    fixed = {
        "judge.told": torch.from_numpy(told),
        "judge.mean": torch.from_numpy(features.mean(axis=0)),
        "judge.spread": torch.from_numpy(features.std(axis=0) + SPREAD),
    }
    parameters = with_new_head({"judge.limits": torch.tensor([-1.0, 1.0])}, SHAPES)
    optimizer, weights = optimizer_of(parameters, recipe), _weights(read)
    steps, step = recipe.epochs * len(_epoch(read, recipe, random.Random(0))), 0
    for _ in range(recipe.epochs):
        total, batches = 0.0, _epoch(read, recipe, chance)
        for batch in batches:
            step += 1
            loss = _loss({**fixed, **parameters}, batch, weights, recipe.dropout)
            take_step(optimizer, loss, parameters, step, steps, recipe)
            total += float(loss.detach())
        report(Progress(step, steps, total / len(batches)))
    return {**fixed, **{name: parameter.detach() for name, parameter in parameters.items()}}


def _weights(read: Read) -> dict[tuple[int, int], float]:
    """The weight of each pair of bounds: known levels count alike together, bounded ones as they are."""
    counts = Counter((pair.low, pair.high) for pair, _ in read)
    share = len(read) / (len(LEVELS) + 0.5)
    return {bounds: share / count if bounds[0] == bounds[1] else 1.0 for bounds, count in counts.items()}


def _epoch(read: Read, recipe: JudgeRecipe, chance: random.Random) -> list[list[tuple[ClaimPair, Alignment]]]:
    """Every pair once, in batches of similar length."""
    items = chance.sample(list(read), len(read))
    items.sort(key=lambda item: len(item[1].own) // 6)
    batches = list(packed(items, lambda _: 1, recipe.pairs))
    chance.shuffle(batches)
    return batches


def _loss(
    weights: "Parameters", batch: Read, counted: dict[tuple[int, int], float], dropout: float
) -> "Tensor":
    """-log of the probability that the level lies within its bounds."""
    import torch

    below = torch.sigmoid(cumulative(weights, [each for _, each in batch], dropout))
    edges = torch.cat([torch.zeros(len(below), 1), below, torch.ones(len(below), 1)], dim=1)
    rows = torch.arange(len(batch))
    high = edges[rows, torch.tensor([pair.high for pair, _ in batch])]
    low = edges[rows, torch.tensor([pair.low - 1 for pair, _ in batch])]
    weight = torch.tensor([counted[pair.low, pair.high] for pair, _ in batch])
    return -(weight * torch.log((high - low).clamp_min(_ROUNDING))).mean()


def within_bounds(weights: "Parameters", read: Read) -> dict[str, float]:
    """The share of pairs whose likeliest level lies within their bounds, by how they were made."""
    import torch

    hits, counts = Counter[str](), Counter[str]()
    for batch in packed(read, lambda _: 1, 256):
        with torch.inference_mode():
            found = probabilities(weights, [each for _, each in batch]).argmax(1).tolist()
        for (pair, _), level in zip(batch, found, strict=True):
            counts[pair.kind] += 1
            hits[pair.kind] += pair.low <= LEVELS[level] <= pair.high
    return {kind: round(hits[kind] / counts[kind], 3) for kind in sorted(counts)}
