"""Training the embedded privacy-risk model on snippets scored under the rubric."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.encoders.minilm import LabelMeans, released
from models.errors import ConfigurationError
from models.risk.embedded import SHAPES, TRAINED_LAYERS, Job, jobs_of, mention_hazards
from models.training.optimizing import Progress, Rates, optimizer_of, packed, take_step, with_new_head
from models.training.scored import ScoredText, hazard_loss, varied

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class RiskRecipe(Rates):
    """Hyperparameters of the shipped privacy-risk model."""

    seed: int = 20261120
    epochs: int = 6
    least_steps: int = 60
    """Minimum number of steps: few snippets are repeated beyond ``epochs`` to reach it."""
    tokens: int = 1024
    layer_rate: float = 1e-4
    head_rate: float = 2e-3
    masked: float = 0.5
    """Probability of masking mentions in a text, and the highest probability per entity."""
    members: int = 3
    """Number of trainings from one start; the model is their mean (Wortsman et al. 2022, model soups)."""


MORE = RiskRecipe(epochs=3, head_rate=1e-3, members=2)
"""A second training that continues the first one, when many more snippets were scored."""


@dataclass(frozen=True, slots=True)
class _Item:
    """One window with its targets. Private."""

    job: Job = field(repr=False)
    labels: list[str] = field(repr=False)
    scores: list[float] = field(repr=False)
    weight: float


def train_risk(
    texts: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: RiskRecipe,
    report: Callable[[Progress], None],
    start: "Parameters | None" = None,
) -> "Parameters":
    """The trained weights by name. ``stand_ins`` has the replacement for each label.

    Training starts from ``start``, or from MiniLM and a new head. Raises ConfigurationError where no mention
    is scored.
    """
    import torch

    if not any(text.places for text in texts):
        raise ConfigurationError("No mention is scored, so there is nothing to learn: give scored snippets.")

    torch.manual_seed(recipe.seed)
    chance = random.Random(recipe.seed)
    start = new_parameters(released().weights) if start is None else with_new_head(start, {})
    per_epoch = len(_epoch(texts, stand_ins, recipe, random.Random(0)))
    steps = max(recipe.epochs * per_epoch, recipe.least_steps)
    mean = {name: torch.zeros_like(weight) for name, weight in start.items()}
    for member in range(recipe.members):

        def report_steps(step: int, loss: float, before: int = member * steps) -> None:
            report(Progress(before + step, recipe.members * steps, loss))

        weights = _member(
            start, lambda: _epoch(texts, stand_ins, recipe, chance), steps, recipe, report_steps
        )
        for name, weight in weights.items():
            mean[name] += weight / recipe.members
    return mean


def _member(
    start: "Parameters",
    epoch: Callable[[], list[list[_Item]]],
    steps: int,
    recipe: RiskRecipe,
    report: Callable[[int, float], None],
) -> "Parameters":
    """One training of ``steps`` steps; each call of ``epoch`` gives the batches in another order."""
    parameters = with_new_head({name: weight.detach() for name, weight in start.items()}, {})
    means = LabelMeans()
    optimizer = optimizer_of(parameters, recipe)
    step, total, since = 0, 0.0, 0
    while step < steps:
        for batch in epoch():
            step += 1
            loss = _loss({**released().weights, **parameters}, batch, means, recipe.dropout)
            take_step(optimizer, loss, parameters, step, steps, recipe)
            total, since = total + float(loss.detach()), since + 1
            if step == steps:
                break
        report(step, total / since)
        total, since = 0.0, 0
    return {name: parameter.detach() for name, parameter in parameters.items()}


def new_parameters(weights: "Mapping[str, Tensor]") -> "Parameters":
    """The trainable parameters: MiniLM's released upper layers, and a new head."""
    upper = tuple(f"encoder.layer.{number}." for number in TRAINED_LAYERS)
    return with_new_head({name: weight for name, weight in weights.items() if name.startswith(upper)}, SHAPES)


def _epoch(
    texts: Sequence[ScoredText], stand_ins: Mapping[str, str], recipe: RiskRecipe, chance: random.Random
) -> list[list[_Item]]:
    """Every text once, in batches of similar length; in some, mentions are masked at random."""
    items = [item for text in varied(texts, stand_ins, recipe.masked, chance) for item in _items(text)]
    chance.shuffle(items)
    items.sort(key=lambda item: len(item.job.ids) // 16)
    batches = list(packed(items, lambda item: len(item.job.ids), recipe.tokens))
    chance.shuffle(batches)
    return batches


def _items(text: ScoredText) -> Iterator[_Item]:
    encoding = released().tokenizer.encode(text.text, add_special_tokens=False)
    for job in jobs_of(0, text.places, encoding.ids, encoding.offsets):
        numbers = [number for number, _, _ in job.mentions]
        yield _Item(job, [text.labels[n] for n in numbers], [text.scores[n] for n in numbers], text.weight)


def _loss(
    weights: "Mapping[str, Tensor]", batch: Sequence[_Item], means: LabelMeans, dropout: float
) -> "Tensor":
    """Cross-entropy between 1 - exp(-H) and the scores, weighted by text, per mention."""
    import torch

    with torch.autocast("cpu", torch.bfloat16):
        found = mention_hazards(
            weights, [item.job for item in batch], [means.of(item.labels) for item in batch], dropout
        )
    scores = [score for item in batch for score in item.scores]
    return hazard_loss(torch.cat(found), scores, [item.weight for item in batch for _ in item.scores])
