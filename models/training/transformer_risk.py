"""Fine-tuning a transformer as a privacy-risk model on scored snippets, as TRIP-RAG did DeBERTa-v3-base."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from models.bert import batches
from models.errors import ConfigurationError
from models.risk_model import Job, Marked
from models.training.optimizing import Progress, Rates, optimizer_of, take_step
from models.training.risk import HARMLESS, ScoredText, with_some_taken_out
from models.transformer_risk import Reader, TransformerRisk, head_shapes, jobs_in, mention_hazards

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]

TOLD_EVERY = 20
"""Steps between two reports."""


@dataclass(frozen=True, slots=True)
class TransformerRecipe:
    """How a transformer is fine-tuned."""

    seed: int = 20261120
    epochs: int = 10
    patience: int = 3
    """Epochs without a lower loss on the development part after which training ends."""
    tokens: int = 2048
    """In a batch, padding included."""
    layer_rate: float = 3e-5
    head_rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    dropout: float = 0.1
    """Of the head; the transformer keeps its own."""
    masked: float = 0.5
    """How often some mentions of a text are taken out, and of each how likely."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a model's scores agree with those that were given, over all mentions of some texts."""

    mentions: int
    loss: float
    """Cross-entropy of a mention, weighted by its text, in nats."""
    mean_error: float
    """Mean absolute difference of the scores, in [0, 1]."""
    spearman: float | None
    """Rank correlation; None where all scores of one side are the same."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """Windows with the targets of their mentions. Private."""

    jobs: list[Job] = field(repr=False)
    scores: list[float] = field(repr=False)
    weights: list[float] = field(repr=False)
    texts: Sequence[Marked] = field(repr=False)


def fine_tune(
    reader: Reader,
    texts: Sequence[ScoredText],
    development: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    report: Callable[[Progress], None],
) -> "Parameters":
    """Train the whole transformer, in its place, and a new head, which is returned; the best epoch's weights.

    The best epoch has the lowest loss on ``development``, which is not trained on. ``stand_ins`` has for each
    label what is put in its place. Raises ConfigurationError where one of both parts has no mention.
    """
    import torch

    if not all(any(text.places for text in part) for part in (texts, development)):
        raise ConfigurationError(
            "No mention is scored to learn from or to tell when to stop: give more scored snippets."
        )
    torch.manual_seed(recipe.seed)
    chance = random.Random(recipe.seed)
    head = new_head(reader)
    best, best_loss, since = _copy(reader, head), math.inf, 0
    for _ in _epochs(reader, head, texts, stand_ins, recipe, chance, report):
        loss = agreement(TransformerRisk("", reader, head), development).loss
        if loss < best_loss:
            best, best_loss, since = _copy(reader, head), loss, 0
        elif (since := since + 1) == recipe.patience:
            break
    reader.network.load_state_dict(best[0])
    return best[1]


def new_head(reader: Reader) -> "Parameters":
    """A head for a transformer as training begins."""
    import torch

    made: Parameters = {}
    for name, shape in head_shapes(reader.network).items():
        bound = 1 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.0
        weight = torch.empty(shape).uniform_(-bound, bound)
        made[name] = weight.to(reader.network.device).requires_grad_(True)
    return made


def agreement(model: TransformerRisk, texts: Sequence[ScoredText]) -> Agreement:
    """What a model makes of the mentions of ``texts``, of which one at least is needed."""
    import torch

    hazards = [hazard for of_text in model.hazards([_marked(text) for text in texts]) for hazard in of_text]
    scores = np.array([score for text in texts for score in text.scores])
    weights = [text.weight for text in texts for _ in text.scores]
    loss = hazard_loss(torch.tensor(hazards), scores.tolist(), weights)
    found = -np.expm1(-np.array(hazards))
    one, other = _ranks(found), _ranks(scores)
    same = len(set(one)) < 2 or len(set(other)) < 2
    return Agreement(
        mentions=len(hazards),
        loss=float(loss),
        mean_error=float(np.abs(found - scores).mean()),
        spearman=None if same else float(np.corrcoef(one, other)[0, 1]),
    )


def hazard_loss(hazards: "Tensor", scores: Sequence[float], weights: Sequence[float]) -> "Tensor":
    """Cross-entropy between 1 - exp(-H) and the scores; the embedded model learns by the same."""
    import torch

    hazards = hazards.float().clamp(1e-4, 20.0)
    given = torch.tensor(scores, dtype=torch.float32, device=hazards.device)
    counts = torch.tensor(weights, dtype=torch.float32, device=hazards.device)
    targets = ((given - HARMLESS) / (1 - HARMLESS)).clamp(0.0, 0.99)
    losses = -targets * torch.log(-torch.expm1(-hazards)) + (1 - targets) * hazards
    return (losses * counts).sum() / counts.sum()


def _epochs(
    reader: Reader,
    head: "Parameters",
    texts: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    chance: random.Random,
    report: Callable[[Progress], None],
) -> Iterator[None]:
    """Train, and stop after each epoch to be looked at; the transformer is ready to be asked then."""
    encoder = {f"encoder.{name}": weight for name, weight in reader.network.named_parameters()}
    parameters = {**encoder, **head}
    rates = Rates(recipe.layer_rate, recipe.head_rate, recipe.warmup, recipe.weight_decay)
    optimizer = optimizer_of(parameters, rates)
    # How many batches an epoch has depends a little on what is taken out.
    steps = recipe.epochs * len(list(_batches(reader, texts, stand_ins, recipe, random.Random(0))))
    step, losses = 0, list[float]()
    while step < steps:
        reader.network.train()
        for batch in _batches(reader, texts, stand_ins, recipe, chance):
            step += 1
            hazards = mention_hazards(reader, head, batch.jobs, batch.texts, recipe.dropout)
            loss = hazard_loss(hazards, batch.scores, batch.weights)
            take_step(optimizer, loss, parameters, step, steps, rates)
            losses.append(float(loss.detach()))
            if step % TOLD_EVERY == 0 or step == steps:
                report(Progress(step, steps, sum(losses) / len(losses)))
                losses.clear()
            if step == steps:
                break
        reader.network.eval()
        yield


def _batches(
    reader: Reader,
    texts: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    chance: random.Random,
) -> Iterator[_Batch]:
    """Every text once, in batches of like length; of some the mentions are taken out at random."""
    masked = [
        with_some_taken_out(text, stand_ins, recipe.masked * chance.random(), chance)
        if chance.random() < recipe.masked
        else text
        for text in texts
    ]
    marked = [_marked(text) for text in masked]
    jobs = list(jobs_in(reader, marked))
    chance.shuffle(jobs)
    # Lengths in steps of 16, within which the order stays at random.
    rows = list(batches([math.ceil(len(job.ids) / 16) * 16 for job in jobs], recipe.tokens))
    chance.shuffle(rows)
    for chosen in ([jobs[row] for row in of_batch] for of_batch in rows):
        mentions = [(masked[job.text], number) for job in chosen for number, _, _ in job.mentions]
        scores = [text.scores[number] for text, number in mentions]
        yield _Batch(chosen, scores, [text.weight for text, _ in mentions], marked)


def _marked(text: ScoredText) -> Marked:
    return Marked(text.text, text.places, text.labels)


def _copy(reader: Reader, head: "Parameters") -> "tuple[Parameters, Parameters]":
    """All weights as they are now, in the processor's memory."""
    network = {name: weight.detach().cpu().clone() for name, weight in reader.network.state_dict().items()}
    return network, {name: weight.detach().cpu().clone() for name, weight in head.items()}


def _ranks(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[float]:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: list[float] = (np.cumsum(counts) - (counts - 1) / 2)[which].tolist()
    return ranks
