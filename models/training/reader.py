"""Training the reader: one pass over a trunk of multilingual-e5-small, and the losses of all heads together.

It needs torch and numpy alone, so that rows which were made elsewhere can be learned from where a GPU is.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from models.encoders.bert import by_onednn, linear, mean_state
from models.encoders.e5 import WordVectors
from models.encoders.words import GAPS, PAD, SHAPES, UNK
from models.reader.network import (
    SHAPES_OF,
    TABLES,
    first_states,
    hazards,
    label_logits,
    link_logits,
    of_words,
    read,
    span_means,
    told,
)
from models.training.optimizing import Progress
from models.training.reader_rows import ANY_MUST, ANY_TAG, MUST_SETS, SOURCES, UNKNOWN, tag_sets

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    Weights = dict[str, Tensor]

Arrays = Mapping[str, NDArray[Any]]
_LAYER = "encoder.layer."
_INPUT = ("positions", "norm.weight", "norm.bias")
EVEN = 16
"""Rows are padded to a multiple of this, for which attention is computed fast."""
LOWEST_RATE = 0.2
"""The rate of the input layer, and the least of a layer, as a share of the top layer's."""
HARMLESS = 0.05
"""Scores up to this are learned as no hazard."""


@dataclass(frozen=True, slots=True)
class ReaderRecipe:
    """Hyperparameters of the reader; with the rows they determine it up to rounding."""

    seed: int = 20261128
    layers: int = 12
    steps: int = 4000
    tokens: int = 16_384
    """Pieces a step, with padding."""
    layer_rate: float = 2e-4
    head_rate: float = 1e-3
    lowest: float = 0.7
    """Each layer below the top learns this times as fast as the one above it, down to a fifth."""
    warmup: float = 0.05
    weight_decay: float = 0.02
    dropout: float = 0.1
    hidden: float = 0.06
    """Probability that a piece of a name is hidden from the model."""
    frozen: int = 0
    """So many of the lowest layers, and what is below them, stay as they are."""
    mean_of: float = 0.998
    """Decay of the running mean of the weights, which is what is kept."""
    labels: int = 40
    """Labels that a step asks for, at most."""
    taught: float = 1.0
    """Weight of what a larger reader says, where there is one."""
    shares: Mapping[str, float] = field(
        default_factory=lambda: {
            **{"passages": 66, "needs": 10, "cases": 7, "posts": 1, "clinic": 3, "general": 2},
            **{"labels": 8, "scored": 3},
        }
    )
    """Proportions of pieces by source."""


def new_weights(
    encoder: "Mapping[str, Tensor]", layers: "Mapping[str, Tensor]", recipe: ReaderRecipe
) -> "Weights":
    """The input layer and layers of the encoder, and new heads."""
    import torch

    generator = torch.Generator().manual_seed(recipe.seed)
    made = {name: encoder[name].float() for name in _INPUT}
    made |= {
        name: weight.float() for name, weight in layers.items() if int(name.split(".")[2]) < recipe.layers
    }
    for name, (rows, columns) in SHAPES_OF.items():
        made[f"{name}.weight"] = torch.randn(rows, columns, generator=generator) * columns**-0.5 * 0.5
        made[f"{name}.bias"] = torch.zeros(rows)
    made |= {name: torch.zeros(shape) for name, shape in TABLES.items()}
    return made


class Table:
    """The rows of a file on a device; batches of them are gathered there."""

    def __init__(self, arrays: Arrays, device: str) -> None:
        import torch

        self.ends = {
            name[:-5]: ends
            for name, ends in arrays.items()
            if name.endswith(".ends") and name != "names.ends"
        }
        self.device = device
        self._flat = {
            name: torch.tensor(
                arrays[name].astype(np.int64) if arrays[name].dtype.kind in "ui" else arrays[name]
            )
            .to(torch.int32 if arrays[name].dtype.kind in "ui" else torch.float32)
            .to(device)
            for name in self.ends
        }
        self.lengths = np.diff(self.ends["ids"], prepend=0)
        self.source = arrays["source"]

    def padded(self, name: str, rows: NDArray[np.int64], fill: int) -> "Tensor":
        """Shape (rows, longest)."""
        import torch

        ends = self.ends[name][rows]
        starts = np.where(rows > 0, self.ends[name][rows - 1], 0)
        sizes = torch.tensor(ends - starts, device=self.device)
        longest = -(-int((ends - starts).max()) // EVEN) * EVEN
        places = torch.arange(longest, device=self.device)[None, :]
        real = places < sizes[:, None]
        index = torch.where(real, torch.tensor(starts, device=self.device)[:, None] + places, 0)
        return torch.where(real, self._flat[name][index].long(), fill)

    def listed(self, name: str, rows: NDArray[np.int64]) -> "tuple[Tensor, Tensor]":
        """What lies over the words of the rows, one after the other, and the row of each."""
        import torch

        ends = self.ends[name][rows]
        starts = np.where(rows > 0, self.ends[name][rows - 1], 0)
        sizes = ends - starts
        index = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)] or [np.arange(0)])
        owners = np.repeat(np.arange(len(rows)), sizes)
        return (
            self._flat[name][torch.tensor(index, device=self.device)],
            torch.tensor(owners, device=self.device),
        )


def batches_of(table: Table, recipe: ReaderRecipe) -> Iterator[NDArray[np.int64]]:
    """Endless batches of row numbers, of similar length within a batch."""
    chance = np.random.default_rng(recipe.seed)
    weights = np.zeros(len(table.lengths))
    for name, share in recipe.shares.items():
        of_source = table.source == SOURCES[name].number
        if of_source.any():
            weights[of_source] = share / table.lengths[of_source].sum()
    weights /= weights.sum()
    mean = float((weights * table.lengths).sum())
    while True:
        rows = chance.choice(len(weights), size=max(64, int(24 * recipe.tokens / mean)), p=weights)
        rows = rows[np.argsort(table.lengths[rows], kind="stable")]
        made, start = [], 0
        while start < len(rows):
            stop = start + 1
            while stop < len(rows) and table.lengths[rows[stop]] * (stop + 1 - start) <= recipe.tokens:
                stop += 1
            made.append(rows[start:stop])
            start = stop
        chance.shuffle(made)
        yield from made[:-1] if len(made) > 1 else made


def states_of(
    weights: "Mapping[str, Tensor]",
    vectors: WordVectors,
    table: Table,
    rows: NDArray[np.int64],
    layers: int,
    dropout: float = 0.0,
    hidden: "Callable[[Tensor], Tensor] | None" = None,
) -> "tuple[Tensor, Tensor, Tensor, Tensor]":
    """The states of pieces and of words, and which of them are real."""
    import torch

    ids = table.padded("ids", rows, PAD)
    real = ids != PAD
    if hidden is not None:
        ids = hidden(ids)
    gaps = table.padded("gaps", rows, 255).clamp(max=len(GAPS))
    shapes = table.padded("shapes", rows, 255).clamp(max=len(SHAPES))
    states = first_states(weights, vectors.of(ids), gaps, shapes)
    if dropout:
        states = torch.nn.functional.dropout(states, dropout)
    states = read(weights, states, real, layers, dropout)
    firsts = table.padded("firsts", rows, 0)
    return states, real, of_words(states, firsts), firsts > 0


class Losses:
    """The losses of all heads over a batch."""

    def __init__(self, arrays: Arrays, table: Table, vectors: WordVectors) -> None:
        import torch

        self._table, self._vectors = table, vectors
        self._sets = torch.tensor(tag_sets(), device=table.device)
        self._must_sets = torch.tensor(MUST_SETS, device=table.device)
        self._names = [
            arrays["names.ids"][start:end]
            for start, end in zip([0, *arrays["names.ends"][:-1]], arrays["names.ends"], strict=True)
        ]
        self._names_of: dict[int, list[int]] = {}
        for place, label in enumerate(arrays["names.of"].tolist()):
            self._names_of.setdefault(label, []).append(place)
        self._chance = random.Random(7)

    def of(
        self,
        weights: "Mapping[str, Tensor]",
        rows: NDArray[np.int64],
        recipe: ReaderRecipe,
        hide: "Callable[[Tensor], Tensor] | None",
        teacher: "tuple[Mapping[str, Tensor], int] | None" = None,
    ) -> "Tensor":
        """The weighted sum of the heads' losses."""
        import torch
        from torch.nn import functional

        table = self._table
        states, real, words, is_word = states_of(
            weights, self._vectors, table, rows, recipe.layers, recipe.dropout, hide
        )
        dropped = functional.dropout(words, recipe.dropout)
        tags, musts, classes = (each.float() for each in told(weights, dropped))
        losses: dict[str, Tensor] = {}
        wanted = table.padded("tags", rows, ANY_TAG)
        allowed = self._sets[wanted]
        losses["tags"] = _of_sets(tags, allowed, is_word)
        wanted_musts = table.padded("musts", rows, ANY_MUST)
        losses["musts"] = 0.7 * _of_sets(musts, self._must_sets[wanted_musts], is_word)
        wanted_classes = table.padded("classes", rows, UNKNOWN)
        of_class = (wanted_classes < UNKNOWN) & is_word
        if bool(of_class.any()):
            losses["classes"] = 0.2 * functional.cross_entropy(classes[of_class], wanted_classes[of_class])
        if teacher is not None:
            with torch.no_grad():
                _, _, known, _ = states_of(teacher[0], self._vectors, table, rows, teacher[1])
                theirs = [each.float() for each in told(teacher[0], known)]
            told_by = (table.padded("source", rows, 0)[:, :1] < SOURCES["labels"].number) & is_word
            for mine, other, weight in ((tags, theirs[0], 1.0), (musts, theirs[1], 0.7)):
                apart = functional.kl_div(
                    mine.log_softmax(-1)[told_by],
                    other.log_softmax(-1)[told_by],
                    log_target=True,
                    reduction="none",
                ).sum(-1)
                name = "taught tags" if mine is tags else "taught musts"
                losses[name] = recipe.taught * weight * apart.mean()
        spans, owners = table.listed("spans", rows)
        pairs, of_pair = table.listed("pairs", rows)
        if len(pairs):
            means = linear(
                weights, "link.own", span_means(words, owners, spans[:, 0].long(), spans[:, 1].long())
            )
            counts = torch.bincount(owners, minlength=len(rows)).cumsum(0)
            before = torch.nn.functional.pad(counts, (1, 0))[of_pair]
            one, other = (means[before + pairs[:, side].long()] for side in (0, 1))
            logits = link_logits(weights, one, other, pairs[:, 3:])
            losses["links"] = 0.3 * functional.binary_cross_entropy_with_logits(logits.float(), pairs[:, 2])
        scored, of_scored = table.listed("scored", rows)
        if len(scored):
            mentions = span_means(words, of_scored, scored[:, 0].long(), scored[:, 1].long())
            found = hazards(weights, mentions, mean_state(states, real)[of_scored]).float().clamp(1e-4, 20.0)
            targets = ((scored[:, 2] - HARMLESS) / (1 - HARMLESS)).clamp(0.0, 0.99)
            each = -targets * torch.log(-torch.expm1(-found)) + (1 - targets) * found
            losses["hazards"] = 0.3 * (each * scored[:, 3]).sum() / scored[:, 3].sum().clamp(min=1e-3)
        asked, of_asked = table.listed("asked", rows)
        if len(asked):
            losses["labels"] = self._labels(weights, rows, words, is_word, asked, of_asked, recipe)
        return torch.stack([each.float() for each in losses.values()]).sum()

    def _labels(
        self,
        weights: "Mapping[str, Tensor]",
        rows: NDArray[np.int64],
        words: "Tensor",
        is_word: "Tensor",
        asked: "Tensor",
        of_asked: "Tensor",
        recipe: ReaderRecipe,
    ) -> "Tensor":
        import torch
        from torch.nn import functional

        marks, of_mark = self._table.listed("labels", rows)
        held = sorted(set(marks[:, 2].long().tolist()))
        others = sorted(set(asked.long().tolist()) - set(held))
        labels = self._chance.sample(held, min(len(held), recipe.labels))
        labels += self._chance.sample(others, min(len(others), max(0, recipe.labels - len(labels))))
        column = torch.full((max([*held, *others]) + 1,), -1, device=words.device)
        column[torch.tensor(labels, device=words.device)] = torch.arange(len(labels), device=words.device)
        names = self.names(
            weights, [self._chance.choice(self._names_of[label]) for label in labels], recipe.layers
        )
        chosen, place = torch.unique(of_asked, return_inverse=True)
        inside, begins = (each.float() for each in label_logits(weights, words[chosen], names))
        known = torch.zeros(len(chosen), len(labels), dtype=torch.bool, device=words.device)
        columns = column[asked.long()]
        known[place[columns >= 0], columns[columns >= 0]] = True
        row_of = torch.full((len(rows),), -1, device=words.device)
        row_of[chosen] = torch.arange(len(chosen), device=words.device)
        wanted_inside, wanted_begins = torch.zeros(2, *inside.shape, device=words.device)
        columns, owners = column[marks[:, 2].long()], row_of[of_mark]
        kept = (columns >= 0) & (owners >= 0)
        marks, columns, owners = marks[kept].long(), columns[kept], owners[kept]
        wanted_begins[owners, marks[:, 0], columns] = 1
        widths = marks[:, 1] - marks[:, 0]
        number = torch.arange(len(widths), device=words.device).repeat_interleave(widths)
        offset = torch.arange(len(number), device=words.device) - (widths.cumsum(0) - widths)[number]
        wanted_inside[owners[number], marks[number, 0] + offset, columns[number]] = 1
        mask = (known[:, None, :] | (wanted_inside > 0)) & is_word[chosen][:, :, None]
        loss = words.new_zeros((), dtype=torch.float32)
        for found, wanted in ((inside, wanted_inside), (begins, wanted_begins)):
            each = functional.binary_cross_entropy_with_logits(found, wanted, reduction="none") * mask
            loss = loss + each.sum() / wanted.sum().clamp(min=1.0)
        return 0.15 * loss

    def names(self, weights: "Mapping[str, Tensor]", places: Sequence[int], layers: int) -> "Tensor":
        """The mean states of names, shape (names, 384)."""
        import torch

        longest = max(len(self._names[place]) for place in places)
        ids = np.full((len(places), longest), PAD, dtype=np.int64)
        for row, place in enumerate(places):
            ids[row, : len(self._names[place])] = self._names[place]
        pieces = torch.tensor(ids, device=self._table.device)
        real = pieces != PAD
        nothing = torch.full_like(pieces, len(GAPS)), torch.full_like(pieces, len(SHAPES))
        states = first_states(weights, self._vectors.of(pieces), *nothing)
        return mean_state(read(weights, states, real, layers), real)


def _of_sets(logits: "Tensor", allowed: "Tensor", is_word: "Tensor") -> "Tensor":
    """Minus the log probability of the allowed values; the mean over words to which not all are allowed."""
    import torch

    counted = is_word & ~allowed.all(-1)
    known = logits.log_softmax(-1).masked_fill(~allowed, -torch.inf)
    each = -torch.logsumexp(known, -1)
    return torch.where(counted, each, 0.0).sum() / counted.sum().clamp(min=1)


def train_reader(
    arrays: Arrays,
    encoder: "Mapping[str, Tensor]",
    start: "Weights",
    recipe: ReaderRecipe,
    report: Callable[[Progress], None],
    device: str = "cpu",
    teacher: "tuple[Mapping[str, Tensor], int] | None" = None,
    every: int = 200,
) -> "Weights":
    """The running mean of the weights, on the device.

    Training goes on from ``start``; a ``teacher``, weights and their number of layers, is listened to too.
    """
    import torch

    torch.manual_seed(recipe.seed)
    table = Table(arrays, device)
    losses = Losses(
        arrays, table, WordVectors(encoder["words.codes"].to(device), encoder["words.scales"].to(device))
    )
    weights = {name: weight.to(device).clone() for name, weight in start.items()}
    learned = {name: weight.requires_grad_() for name, weight in weights.items() if _is_learned(name, recipe)}
    mean = {name: weight.detach().clone() for name, weight in weights.items()}
    optimizer = _optimizer(learned, recipe, device)
    generator = torch.Generator(device).manual_seed(recipe.seed)

    def hide(ids: "Tensor") -> "Tensor":
        drawn = torch.rand(ids.shape, generator=generator, device=device)
        return torch.where((drawn < recipe.hidden) & (ids > UNK), UNK, ids)

    total = torch.zeros((), device=device)
    for step, rows in enumerate(islice(batches_of(table, recipe), recipe.steps), start=1):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device != "cpu" or by_onednn(half=True)):
            loss = losses.of(weights, rows, recipe, hide, teacher)
        _step(optimizer, loss, learned, step, recipe)
        with torch.no_grad():
            decay = min(recipe.mean_of, step / (step + 20))
            torch._foreach_lerp_(list(mean.values()), [each.detach() for each in weights.values()], 1 - decay)
        total += loss.detach()
        if step % every == 0 or step == recipe.steps:
            report(Progress(step, recipe.steps, float(total) / (step % every or every)))
            total.zero_()
    return {name: weight.detach() for name, weight in mean.items()}


def _is_learned(name: str, recipe: ReaderRecipe) -> bool:
    if name.startswith(_LAYER):
        return int(name.removeprefix(_LAYER).partition(".")[0]) >= recipe.frozen
    return not recipe.frozen or name not in (*_INPUT, *TABLES)


def _optimizer(weights: "Weights", recipe: ReaderRecipe, device: str) -> "Optimizer":
    import torch

    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, weight in weights.items():
        rate = recipe.head_rate
        if name.startswith(_LAYER):
            below = recipe.layers - 1 - int(name.removeprefix(_LAYER).partition(".")[0])
            rate = recipe.layer_rate * max(LOWEST_RATE, recipe.lowest ** (below * 6 / recipe.layers))
        elif name in _INPUT:
            rate = recipe.layer_rate * LOWEST_RATE
        groups.setdefault((rate, recipe.weight_decay if weight.ndim > 1 else 0.0), []).append(weight)
    return torch.optim.AdamW(
        [
            {"params": found, "lr": rate, "weight_decay": decay, "top": rate}
            for (rate, decay), found in groups.items()
        ],
        betas=(0.9, 0.98),
        fused=device != "cpu",
    )


def _step(
    optimizer: "Optimizer", loss: "Tensor", weights: "Weights", step: int, recipe: ReaderRecipe
) -> None:
    """One step at the rates of the schedule: rising, then falling to zero."""
    import torch

    rising = max(1, int(recipe.warmup * recipe.steps))
    scale = min(step / rising, (recipe.steps - step) / max(1, recipe.steps - rising))
    for group in optimizer.param_groups:
        group["lr"] = group["top"] * max(scale, 1e-3)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
    optimizer.step()
