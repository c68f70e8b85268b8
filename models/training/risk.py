"""Training the embedded privacy-risk model on snippets scored under the rubric."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.errors import ConfigurationError
from models.label_means import LabelMeans
from models.minilm import released
from models.risk_forward import SHAPES, TRAINED_LAYERS
from models.risk_model import Job, jobs_of, mention_hazards
from models.training.optimizing import Progress, Rates, optimizer_of, take_step

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]

HARMLESS = 0.05
"""Scores up to this, the rubric's general terms, are learned as no hazard at all.

Otherwise a long text full of them would add up to one that exposes somebody.
"""


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A text, its marked mentions with their scores in [0, 1], and how much it counts. Private."""

    text: str = field(repr=False)
    places: tuple[tuple[int, int], ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    scores: tuple[float, ...] = field(repr=False)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RiskRecipe:
    """How the shipped privacy-risk model is trained."""

    seed: int = 20261120
    epochs: int = 6
    least_steps: int = 60
    """Few snippets are read more often than ``epochs`` times, up to so many steps."""
    tokens: int = 1024
    layer_rate: float = 1e-4
    head_rate: float = 2e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    dropout: float = 0.1
    masked: float = 0.5
    """How often some mentions of a text are taken out, and of each how likely."""
    members: int = 3
    """So many trainings from the same start, whose mean is the model (Wortsman et al. 2022, model soups)."""


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
) -> "Parameters":
    """The trained weights by name. ``stand_ins`` has for each label what is put in its place.

    Raises ConfigurationError where no mention is scored.
    """
    import torch

    if not any(text.places for text in texts):
        raise ConfigurationError("No mention is scored, so there is nothing to learn: give scored snippets.")

    torch.manual_seed(recipe.seed)
    chance = random.Random(recipe.seed)
    start = new_parameters(released().weights)
    per_epoch = sum(1 for _ in _epoch(texts, stand_ins, recipe, random.Random(0)))
    steps = max(recipe.epochs * per_epoch, recipe.least_steps)
    mean = {name: torch.zeros_like(weight) for name, weight in start.items()}
    for member in range(recipe.members):

        def told(step: int, loss: float, before: int = member * steps) -> None:
            report(Progress(before + step, recipe.members * steps, loss))

        weights = _member(start, lambda: _epoch(texts, stand_ins, recipe, chance), steps, recipe, told)
        for name, weight in weights.items():
            mean[name] += weight / recipe.members
    return mean


def _member(
    start: "Parameters",
    epoch: Callable[[], Iterator[list[_Item]]],
    steps: int,
    recipe: RiskRecipe,
    report: Callable[[int, float], None],
) -> "Parameters":
    """One training of so many steps; each call of ``epoch`` gives the batches in another order."""
    parameters = {name: weight.detach().clone().requires_grad_(True) for name, weight in start.items()}
    means = LabelMeans()
    rates = Rates(recipe.layer_rate, recipe.head_rate, recipe.warmup, recipe.weight_decay)
    optimizer = optimizer_of(parameters, rates)
    step, total, since = 0, 0.0, 0
    while step < steps:
        for batch in epoch():
            step += 1
            loss = _loss({**released().weights, **parameters}, batch, means, recipe.dropout)
            take_step(optimizer, loss, parameters, step, steps, rates)
            total, since = total + float(loss.detach()), since + 1
            if step == steps:
                break
        report(step, total / since)
        total, since = 0.0, 0
    return {name: parameter.detach() for name, parameter in parameters.items()}


def new_parameters(weights: "Mapping[str, Tensor]") -> "Parameters":
    """What is trained: the upper layers of MiniLM as released, and a new head."""
    import torch

    upper = tuple(f"encoder.layer.{number}." for number in TRAINED_LAYERS)
    made = {name: weight.clone() for name, weight in weights.items() if name.startswith(upper)}
    for name, (height, width) in SHAPES.items():
        bound = 1 / math.sqrt(width)
        made[f"{name}.weight"] = torch.empty(height, width).uniform_(-bound, bound)
        made[f"{name}.bias"] = torch.zeros(height)
    for weight in made.values():
        weight.requires_grad_(True)
    return made


def _epoch(
    texts: Sequence[ScoredText], stand_ins: Mapping[str, str], recipe: RiskRecipe, chance: random.Random
) -> Iterator[list[_Item]]:
    """Every text once, in batches of like length; of some the mentions are taken out at random."""
    items: list[_Item] = []
    for text in texts:
        if chance.random() < recipe.masked:
            text = with_some_taken_out(text, stand_ins, recipe.masked * chance.random(), chance)
        items += _items(text)
    chance.shuffle(items)
    items.sort(key=lambda item: len(item.job.ids) // 16)
    batches: list[list[_Item]] = []
    batch: list[_Item] = []
    for item in items:
        if batch and max(len(other.job.ids) for other in [*batch, item]) * (len(batch) + 1) > recipe.tokens:
            batches.append(batch)
            batch = []
        batch.append(item)
    if batch:
        batches.append(batch)
    chance.shuffle(batches)
    yield from batches


def with_some_taken_out(
    text: ScoredText, stand_ins: Mapping[str, str], share: float, chance: random.Random
) -> ScoredText:
    """The text with each thing it mentions replaced, wherever it stands, with probability ``share``.

    What stays keeps its score, so that the model learns what is left when something goes. Of
    things that do not overlap one always stays.
    """
    names = {text.text[start:end].casefold() for start, end in text.places}
    gone = {name for name in sorted(names) if chance.random() < share}
    if names and gone == names:
        gone.remove(chance.choice(sorted(names)))
    pieces: list[str] = []
    places, labels, scores = [], [], []
    at = length = 0
    for (start, end), label, score in sorted(zip(text.places, text.labels, text.scores, strict=True)):
        if start < at:
            continue
        name = text.text[start:end]
        word = stand_ins.get(label, f"a {label}") if name.casefold() in gone else name
        length += start - at
        pieces += [text.text[at:start], word]
        if name.casefold() not in gone:
            places.append((length, length + len(word)))
            labels.append(label)
            scores.append(score)
        length += len(word)
        at = end
    pieces.append(text.text[at:])
    return ScoredText("".join(pieces), tuple(places), tuple(labels), tuple(scores), text.weight)


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
    hazards = torch.cat(found).float().clamp(1e-4, 20.0)
    scores = torch.tensor([score for item in batch for score in item.scores])
    targets = ((scores - HARMLESS) / (1 - HARMLESS)).clamp(0.0, 0.99)
    counts = torch.tensor([item.weight for item in batch for _ in item.scores])
    losses = -targets * torch.log(-torch.expm1(-hazards)) + (1 - targets) * hazards
    return (losses * counts).sum() / counts.sum()
