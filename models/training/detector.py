"""Training the embedded detector: a GLiNER bi-encoder on MiniLM whose label encoder stays as released."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.bert import LAYERS, WIDTH, embed, padded, run_layers
from models.detector_parts import SHAPES
from models.gliner_forward import HIDDEN, WIDEST, label_vectors, span_logits
from models.label_means import LabelMeans
from models.minilm import released
from models.training.examples import Example
from models.training.mixture import FINISHING_SHARES, SHARES, Mixture
from models.training.optimizing import Progress, Rates, ahead, optimizer_of, take_step
from models.training.phrases import PHRASES
from models.training.rows import Row, row_of
from models.training.targets import asked_tensor, targets_of
from models.word_forward import word_logits

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]

FIRST_SPAN_LOGIT, FIRST_WORD_LOGIT = -6.0, -3.0
"""Nearly every span and most words are nothing: the first scores say so.

Otherwise the first steps would learn only that.
"""
OWN_NAME = 0.5
"""How often a label is asked by its own name where it has others."""
ABSENT_ASKED = 0.5
"""How often a label is asked of a batch that holds no mention of it; which costs as much as any."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the shipped detector is trained; together with the data it fixes the outcome."""

    seed: int = 20261120
    steps: int = 4400
    tokens: int = 2048
    """Word pieces of a step, with padding."""
    layer_rate: float = 1.5e-4
    head_rate: float = 1e-3
    warmup: float = 0.06
    """Share of the steps in which the rates rise; after that they fall to nothing, linearly."""
    weight_decay: float = 0.01
    dropout: float = 0.1
    spans_every: int = 4
    """In every so many steps the head for spans learns too."""
    pool: int = 8
    """So many steps' rows are sorted by length together, so that little is padded."""
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    """In what proportion tokens come from the corpora."""


FINISH = Recipe(
    seed=20261121,
    steps=1000,
    layer_rate=5e-5,
    head_rate=3.3e-4,
    dropout=0.25,
    shares=dict(FINISHING_SHARES),
)
"""A second, gentler training that begins where the first one ended."""


def train_detector(
    examples: Sequence[Example],
    recipe: Recipe,
    report: Callable[[Progress], None],
    every: int = 50,
    start: "Parameters | None" = None,
) -> "Parameters":
    """The trained weights by name, in fp32. The same examples and recipe give the same up to rounding.

    They begin at ``start``, or at MiniLM and a new head.
    """
    import torch

    torch.manual_seed(recipe.seed)
    model = released()
    parameters = new_parameters(model.weights) if start is None else _copied(start)
    rates = Rates(recipe.layer_rate, recipe.head_rate, recipe.warmup, recipe.weight_decay)
    optimizer = optimizer_of(parameters, rates)
    means = LabelMeans()
    chance = random.Random(recipe.seed)
    total, since = 0.0, 0
    batches = ahead(_steps(Mixture(examples, recipe.seed, recipe.shares), recipe), recipe.pool)
    for step, rows in enumerate(batches, start=1):
        labels = _labels(rows, chance)
        asked = means.of([_name(label, chance) for label in labels])
        with_spans = step % recipe.spans_every == 0
        loss = _loss({**model.weights, **parameters}, rows, asked, labels, recipe.dropout, with_spans)
        take_step(optimizer, loss, parameters, step, recipe.steps, rates)
        total, since = total + float(loss.detach()), since + 1
        if step % every == 0 or step == recipe.steps:
            report(Progress(step, recipe.steps, total / since))
            total, since = 0.0, 0
    return {name: parameter.detach() for name, parameter in parameters.items()}


def _copied(parameters: "Parameters") -> "Parameters":
    return {name: weight.clone().requires_grad_(True) for name, weight in parameters.items()}


def new_parameters(weights: "Mapping[str, Tensor]") -> "Parameters":
    """What is trained: MiniLM's layers as released, and a new head."""
    import torch

    made = {name: weight.clone() for name, weight in weights.items() if name.startswith("encoder.layer.")}
    assert len({name.split(".")[2] for name in made}) == LAYERS
    for name, (height, width) in SHAPES.items():
        bound = 1 / math.sqrt(width)
        made[f"{name}.weight"] = torch.empty(height, width).uniform_(-bound, bound)
        made[f"{name}.bias"] = torch.zeros(height)
    made["prompt.3.bias"].fill_(0.2)
    made["out.3.bias"].fill_(FIRST_SPAN_LOGIT / (0.2 * HIDDEN))
    for name in ("inside", "begin"):
        made[f"{name}.3.bias"].fill_(FIRST_WORD_LOGIT / (0.2 * HIDDEN))
    for weight in made.values():
        weight.requires_grad_(True)
    return made


def _steps(mixture: Mixture, recipe: Recipe) -> Iterator[list[Row]]:
    """So many steps' rows, of like length within a step."""
    chance = random.Random(recipe.seed + 1)
    made = 0
    while made < recipe.steps:
        rows: list[Row] = []
        while sum(len(row.ids) for row in rows) < recipe.pool * recipe.tokens:
            row = row_of(mixture.draw(), released(), chance)
            if row.firsts:
                rows.append(row)
        batches = list(_packed(sorted(rows, key=lambda row: len(row.ids)), recipe.tokens))
        chance.shuffle(batches)
        for batch in batches[: recipe.steps - made]:
            made += 1
            yield batch


def _packed(rows: Sequence[Row], tokens: int) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        if batch and len(row.ids) * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _loss(
    weights: "Mapping[str, Tensor]",
    rows: Sequence[Row],
    means: "Tensor",
    labels: Sequence[str],
    dropout: float,
    with_spans: bool,
) -> "Tensor":
    """Binary cross-entropies over words in mentions and words that begin them, and over spans if asked.

    The head for spans only reads what the others learn, and moves nothing of it (docs/decisions.md).
    """
    import torch
    from torch.nn import functional

    ids, real = padded([row.ids for row in rows])
    firsts, is_word = padded([row.firsts for row in rows])
    with torch.autocast("cpu", torch.bfloat16):
        with torch.no_grad():
            states = embed(weights, ids)
        states = run_layers(weights, states, real, dropout=dropout)
        of_words = torch.gather(states, 1, firsts[:, :, None].expand(-1, -1, WIDTH))
        vectors = label_vectors(weights, means, dropout)
        inside, begin = word_logits(weights, of_words, vectors, dropout)
    targets = targets_of(rows, labels, is_word.shape[1])
    words = is_word[:, :, None] * asked_tensor(rows, labels)[:, None, :]
    loss = _cross_entropy(inside, targets.inside, words) + _cross_entropy(begin, targets.begin, words)
    if not with_spans:
        return loss
    shared = {name: weights[name].detach() for name in ("projection.weight", "projection.bias")}
    with torch.autocast("cpu", torch.bfloat16):
        spans = span_logits({**weights, **shared}, of_words.detach(), vectors.detach(), dropout)
    ends = functional.pad(words, (0, 0, 0, WIDEST - 1)).unfold(1, WIDEST, 1).transpose(2, 3)
    return loss + _cross_entropy(spans, targets.spans, ends)


def _cross_entropy(logits: "Tensor", targets: "Tensor", asked: "Tensor") -> "Tensor":
    """Per positive case, so that what is found weighs the same however much surrounds it.

    A mention counts even where its label was not asked: it is only the absence that is not known.
    """
    import torch
    from torch.nn import functional

    losses = functional.binary_cross_entropy_with_logits(logits.float(), targets, reduction="none")
    return (losses * torch.maximum(asked, targets)).sum() / max(1.0, float(targets.sum()))


def _labels(rows: Sequence[Row], chance: random.Random) -> list[str]:
    """Every label that the rows hold, and some of those that they certainly do not."""
    held = {label for row in rows for _, _, label in row.targets}
    absent = sorted({label for row in rows for label in row.asked} - held)
    return sorted([*held, *(label for label in absent if chance.random() < ABSENT_ASKED)])


def _name(label: str, chance: random.Random) -> str:
    others = PHRASES.get(label, ())
    return label if not others or chance.random() < OWN_NAME else chance.choice(others)
