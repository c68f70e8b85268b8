"""Training the embedded detector: a GLiNER bi-encoder on MiniLM with a frozen label encoder."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.corpora.examples import Example
from models.detectors.network import (
    HIDDEN,
    MUSTS,
    NEED,
    NEED_SIZES,
    SHAPES,
    WIDEST,
    label_vectors,
    need_logits,
    span_logits,
    word_logits,
)
from models.encoders.bert import WIDTH, embed, padded, run_layers
from models.encoders.minilm import LabelMeans, released
from models.training.labels import SHARES, names_of
from models.training.mixture import FINISHING_SHARES, Mixture
from models.training.optimizing import Progress, Rates, ahead, optimizer_of, packed, take_step, with_new_head
from models.training.rows import EITHER, NONE, Row, asked_tensor, row_of, targets_of

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]

FIRST_SPAN_LOGIT, FIRST_WORD_LOGIT = -6.0, -3.0
"""Initial bias of the logits: nearly all spans and most words are negative.

Without it the first steps would only learn that prior.
"""
OWN_NAME = 0.5
"""Probability of using a label's own name if it has others."""
NEED_WEIGHT = 2.0
"""Of the loss of what has to go, beside those of the words inside and at the beginnings of mentions."""
ABSENT_ASKED = 0.5
"""Probability of adding a label without mentions to a batch, as a negative."""


@dataclass(frozen=True, slots=True)
class Recipe(Rates):
    """Hyperparameters of the shipped detector; with the data they determine the result."""

    seed: int = 20261120
    steps: int = 4400
    tokens: int = 2048
    """Word pieces per step, including padding."""
    layer_rate: float = 1.5e-4
    head_rate: float = 1e-3
    warmup: float = 0.06
    spans_every: int = 4
    """The span head is trained every this many steps."""
    pool: int = 8
    """Number of steps whose rows are sorted by length together, to reduce padding."""
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    """Proportion of tokens per corpus."""


FINISH = Recipe(
    seed=20261121,
    steps=1000,
    layer_rate=5e-5,
    head_rate=3.3e-4,
    dropout=0.25,
    shares=dict(FINISHING_SHARES),
)
"""A second training with lower rates that continues the first one."""


NEEDS = Recipe(
    seed=20261122,
    steps=1100,
    layer_rate=7e-5,
    head_rate=1e-3,
    dropout=0.15,
    shares={**FINISHING_SHARES, "needs": 60},
)
"""A third training, in which what has to go is learned too."""


def train_detector(
    examples: Sequence[Example],
    recipe: Recipe,
    report: Callable[[Progress], None],
    every: int = 50,
    start: "Parameters | None" = None,
) -> "Parameters":
    """The trained weights by name, in fp32; reproducible up to rounding from examples and recipe.

    Training starts from ``start``, or from MiniLM and a new head.
    """
    import torch

    torch.manual_seed(recipe.seed)
    model = released()
    parameters = with_need(new_parameters(model.weights) if start is None else with_new_head(start, {}))
    optimizer = optimizer_of(parameters, recipe)
    means = LabelMeans()
    chance = random.Random(recipe.seed)
    total, since = 0.0, 0
    batches = ahead(_steps(Mixture(examples, recipe.seed, recipe.shares), recipe), recipe.pool)
    for step, rows in enumerate(batches, start=1):
        labels = _labels(rows, chance)
        asked = means.of([_name(label, chance) for label in labels])
        with_spans = step % recipe.spans_every == 0
        loss = _loss({**model.weights, **parameters}, rows, asked, labels, recipe.dropout, with_spans)
        take_step(optimizer, loss, parameters, step, recipe.steps, recipe)
        total, since = total + float(loss.detach()), since + 1
        if step % every == 0 or step == recipe.steps:
            report(Progress(step, recipe.steps, total / since))
            total, since = 0.0, 0
    return {name: parameter.detach() for name, parameter in parameters.items()}


def with_need(parameters: "Parameters") -> "Parameters":
    """The parameters with a new head of what has to go, if there is none."""
    if f"{NEED}.weight" in parameters:
        return parameters
    return {**parameters, **with_new_head({}, {NEED: (sum(NEED_SIZES), WIDTH)})}


def new_parameters(weights: "Mapping[str, Tensor]") -> "Parameters":
    """The trainable parameters: MiniLM's released layers, and a new head."""
    import torch

    layers = {name: weight for name, weight in weights.items() if name.startswith("encoder.layer.")}
    made = with_new_head(layers, SHAPES)
    with torch.no_grad():
        made["prompt.3.bias"].fill_(0.2)
        made["out.3.bias"].fill_(FIRST_SPAN_LOGIT / (0.2 * HIDDEN))
        for name in ("inside", "begin"):
            made[f"{name}.3.bias"].fill_(FIRST_WORD_LOGIT / (0.2 * HIDDEN))
    return made


def _steps(mixture: Mixture, recipe: Recipe) -> Iterator[list[Row]]:
    """The rows of each step, of similar length within a step."""
    chance = random.Random(recipe.seed + 1)
    made = 0
    while made < recipe.steps:
        rows: list[Row] = []
        while sum(len(row.ids) for row in rows) < recipe.pool * recipe.tokens:
            row = row_of(mixture.draw(), released(), chance)
            if row.firsts:
                rows.append(row)
        rows.sort(key=lambda row: len(row.ids))
        batches = list(packed(rows, lambda row: len(row.ids), recipe.tokens))
        chance.shuffle(batches)
        for batch in batches[: recipe.steps - made]:
            made += 1
            yield batch


def _loss(
    weights: "Mapping[str, Tensor]",
    rows: Sequence[Row],
    means: "Tensor",
    labels: Sequence[str],
    dropout: float,
    with_spans: bool,
) -> "Tensor":
    """Binary cross-entropy over words inside mentions and at their beginning, and optionally over spans.

    No gradients flow from the span head into the shared layers (docs/decisions.md).
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
    if any(row.needs is not None for row in rows):
        loss = loss + NEED_WEIGHT * _need_loss(need_logits(weights, _dropped(of_words, dropout)), rows)
    if not with_spans:
        return loss
    shared = {name: weights[name].detach() for name in ("projection.weight", "projection.bias")}
    with torch.autocast("cpu", torch.bfloat16):
        spans = span_logits({**weights, **shared}, of_words.detach(), vectors.detach(), dropout)
    ends = functional.pad(words, (0, 0, 0, WIDEST - 1)).unfold(1, WIDEST, 1).transpose(2, 3)
    return loss + _cross_entropy(spans, targets.spans, ends)


def _dropped(states: "Tensor", dropout: float) -> "Tensor":
    from torch.nn import functional

    return functional.dropout(states, dropout) if dropout else states


def _need_loss(logits: "Sequence[Tensor]", rows: Sequence[Row]) -> "Tensor":
    """The mean over the words of the rows with needs: beginnings and musts, and of marks kind and class."""
    import torch
    from torch.nn import functional

    chosen = [number for number, row in enumerate(rows) if row.needs is not None]
    targets = torch.tensor([need for number in chosen for need in rows[number].needs or ()])
    begin, must, kind, identifier = (
        torch.cat([each[number, : len(rows[number].firsts)] for number in chosen]).float() for each in logits
    )
    begins, musts, kinds, identifiers = targets.unbind(1)
    known = functional.log_softmax(must, dim=1)
    either = torch.logsumexp(known[:, :2], dim=1)
    exact = known.gather(1, musts.clamp(max=MUSTS - 1)[:, None])[:, 0]
    musts_loss = -torch.where(musts == EITHER, either, exact).mean()
    begins_loss = functional.binary_cross_entropy_with_logits(begin[:, 0], begins.float())
    loss = musts_loss + begins_loss
    for found, wanted in ((kind, kinds), (identifier, identifiers)):
        if bool((wanted != NONE).any()):
            # Per word, like the others.
            loss = loss + functional.cross_entropy(found, wanted, ignore_index=NONE, reduction="sum") / len(
                begins
            )
    return loss


def _cross_entropy(logits: "Tensor", targets: "Tensor", asked: "Tensor") -> "Tensor":
    """Normalized per positive, so that a mention weighs the same in any amount of context.

    A mention counts even if its label is not in ``asked``: only its absence is unknown.
    """
    import torch
    from torch.nn import functional

    losses = functional.binary_cross_entropy_with_logits(logits.float(), targets, reduction="none")
    return (losses * torch.maximum(asked, targets)).sum() / max(1.0, float(targets.sum()))


def _labels(rows: Sequence[Row], chance: random.Random) -> list[str]:
    """All labels in the rows, and some labels surely absent from them."""
    held = {label for row in rows for _, _, label in row.targets}
    absent = sorted({label for row in rows for label in row.asked} - held)
    return sorted([*held, *(label for label in absent if chance.random() < ABSENT_ASKED)])


def _name(label: str, chance: random.Random) -> str:
    _, *others = names_of(label)
    return label if not others or chance.random() < OWN_NAME else chance.choice(others)
