"""Shared by all trainings: the optimizer, the learning-rate schedule, and progress."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import AdamW

    Parameters = Mapping[str, Tensor]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Progress:
    """Training progress; ``loss`` is the mean since the last report."""

    step: int
    steps: int
    loss: float


@dataclass(frozen=True, slots=True)
class Rates:
    """The peak learning rates of the released layers and of the new head, and their schedule.

    ``warmup`` is the share of steps with rising rates; then they fall linearly to zero. ``dropout`` is the
    head's.
    """

    layer_rate: float
    head_rate: float
    warmup: float = 0.1
    weight_decay: float = 0.01
    dropout: float = 0.1


def with_new_head(kept: "Parameters", shapes: Mapping[str, tuple[int, int]]) -> "dict[str, Tensor]":
    """Copies of the kept weights, and new head weights of these shapes."""
    import torch

    made = {name: weight.clone() for name, weight in kept.items()}
    for name, (height, width) in shapes.items():
        bound = 1 / math.sqrt(width)
        made[f"{name}.weight"] = torch.empty(height, width).uniform_(-bound, bound)
        made[f"{name}.bias"] = torch.zeros(height)
    return {name: weight.requires_grad_(True) for name, weight in made.items()}


def packed(items: Iterable[T], length: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Neighboring items in batches of at most ``most`` with padding, or a single item."""
    batch, longest = list[T](), 0
    for item in items:
        longest = max(longest, length(item))
        if batch and longest * (len(batch) + 1) > most:
            yield batch
            batch, longest = [], length(item)
        batch.append(item)
    if batch:
        yield batch


def optimizer_of(parameters: "Parameters", rates: Rates) -> "AdamW":
    """AdamW over both parts; biases and norms do not decay (Loshchilov and Hutter 2019)."""
    from torch.optim import AdamW

    groups: list[dict[str, Any]] = [
        {"params": [], "peak": peak, "weight_decay": decay}
        for peak in (rates.layer_rate, rates.head_rate)
        for decay in (rates.weight_decay, 0.0)
    ]
    for name, weight in parameters.items():
        groups[2 * (not name.startswith("encoder.")) + (weight.dim() <= 1)]["params"].append(weight)
    return AdamW(groups, betas=(0.9, 0.98), eps=1e-6)


def take_step(
    optimizer: "AdamW", loss: "Tensor", parameters: "Parameters", step: int, steps: int, rates: Rates
) -> None:
    """Move the parameters against the gradient of the loss; ``step`` counts from 1 to ``steps``."""
    import torch

    rising = step / max(1.0, rates.warmup * steps)
    falling = (steps - step + 1) / (steps * (1 - rates.warmup) + 1)
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * min(rising, falling, 1.0)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
    optimizer.step()
