"""Fine-tuning a transformer as a privacy-risk model on scored snippets, as TRIP-RAG did DeBERTa-v3-base."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from models.encoders.bert import batches
from models.errors import ConfigurationError
from models.risk.protocol import LabeledText
from models.risk.transformer import Job, Reader, TransformerRisk, head_shapes, jobs_in, mention_hazards
from models.training.optimizing import Progress, Rates, optimizer_of, take_step
from models.training.scored import ScoredText, hazard_loss, varied

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]

REPORT_EVERY = 20
"""Steps between two reports."""


@dataclass(frozen=True, slots=True)
class TransformerRecipe(Rates):
    """Hyperparameters of fine-tuning; the transformer keeps its own dropout."""

    seed: int = 20261120
    epochs: int = 10
    patience: int = 3
    """Epochs without a lower loss on the development part after which training ends."""
    tokens: int = 2048
    """In a batch, padding included."""
    layer_rate: float = 3e-5
    head_rate: float = 1e-3
    masked: float = 0.5
    """Probability of masking mentions in a text, and the highest probability per entity."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a model's scores with the gold scores, over all mentions of some texts."""

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
    texts: Sequence[LabeledText] = field(repr=False)


def fine_tune(
    reader: Reader,
    texts: Sequence[ScoredText],
    development: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    report: Callable[[Progress], None],
) -> "Parameters":
    """Train the whole transformer in place, and return a new head; both with the best epoch's weights.

    The best epoch has the lowest loss on ``development``, which is held out. ``stand_ins`` has the
    replacement for each label. Raises ConfigurationError if either part has no mention.
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
    """A freshly initialized head for a transformer."""
    import torch

    made: Parameters = {}
    for name, shape in head_shapes(reader.network).items():
        bound = 1 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.0
        weight = torch.empty(shape).uniform_(-bound, bound)
        made[name] = weight.to(reader.network.device).requires_grad_(True)
    return made


def agreement(model: TransformerRisk, texts: Sequence[ScoredText]) -> Agreement:
    """Agreement of a model on ``texts``, which need at least one mention."""
    import torch

    hazards = [hazard for of_text in model.hazards([text.marked for text in texts]) for hazard in of_text]
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


def _epochs(
    reader: Reader,
    head: "Parameters",
    texts: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    chance: random.Random,
    report: Callable[[Progress], None],
) -> Iterator[None]:
    """Train, yielding after each epoch with the transformer in evaluation mode."""
    encoder = {f"encoder.{name}": weight for name, weight in reader.network.named_parameters()}
    parameters = {**encoder, **head}
    optimizer = optimizer_of(parameters, recipe)
    # The number of batches per epoch depends slightly on the masked mentions.
    steps = recipe.epochs * len(list(_batches(reader, texts, stand_ins, recipe, random.Random(0))))
    step, losses = 0, list[float]()
    while step < steps:
        reader.network.train()
        for batch in _batches(reader, texts, stand_ins, recipe, chance):
            step += 1
            hazards = mention_hazards(reader, head, batch.jobs, batch.texts, recipe.dropout)
            loss = hazard_loss(hazards, batch.scores, batch.weights)
            take_step(optimizer, loss, parameters, step, steps, recipe)
            losses.append(float(loss.detach()))
            if step % REPORT_EVERY == 0 or step == steps:
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
    """Every text once, in batches of similar length; in some, mentions are masked at random."""
    masked = varied(texts, stand_ins, recipe.masked, chance)
    marked = [text.marked for text in masked]
    jobs = list(jobs_in(reader, marked))
    chance.shuffle(jobs)
    # Lengths in steps of 16, within which the order stays at random.
    rows = list(batches([math.ceil(len(job.ids) / 16) * 16 for job in jobs], recipe.tokens))
    chance.shuffle(rows)
    for chosen in ([jobs[row] for row in of_batch] for of_batch in rows):
        mentions = [(masked[job.text], number) for job in chosen for number, _, _ in job.mentions]
        scores = [text.scores[number] for text, number in mentions]
        yield _Batch(chosen, scores, [text.weight for text, _ in mentions], marked)


def _copy(reader: Reader, head: "Parameters") -> "tuple[Parameters, Parameters]":
    """All weights as they are now, in the processor's memory."""
    network = {name: weight.detach().cpu().clone() for name, weight in reader.network.state_dict().items()}
    return network, {name: weight.detach().cpu().clone() for name, weight in head.items()}


def _ranks(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[float]:
    """Ranks from 1 on; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: list[float] = (np.cumsum(counts) - (counts - 1) / 2)[which].tolist()
    return ranks
