"""What both trainings share: the optimizer, how its rates rise and fall, and where a training stands."""

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import AdamW


T = TypeVar("T")


def ahead(items: Iterator[T], number: int) -> Iterator[T]:
    """The items in their order, of which up to ``number`` are made in another thread while one is in use.

    Texts are cut in one thread, and a training step leaves room beside it.
    """
    with ThreadPoolExecutor(max_workers=1) as worker:
        waiting = deque(worker.submit(next, items, _END) for _ in range(number))
        while not isinstance(item := waiting.popleft().result(), _End):
            waiting.append(worker.submit(next, items, _END))
            yield item


class _End:
    """Behind the last item."""


_END = _End()


@dataclass(frozen=True, slots=True)
class Progress:
    """Where training stands: the mean loss since the last report."""

    step: int
    steps: int
    loss: float


@dataclass(frozen=True, slots=True)
class Rates:
    """The highest learning rates of MiniLM's layers and of the new head, and how they are reached.

    ``warmup`` is the share of the steps in which the rates rise; after it they fall to nothing, linearly.
    """

    layers: float
    head: float
    warmup: float
    weight_decay: float


def optimizer_of(parameters: "Mapping[str, Tensor]", rates: Rates) -> "AdamW":
    """AdamW over both parts; biases and norms do not decay (Loshchilov and Hutter 2019)."""
    from torch.optim import AdamW

    def group(in_layers: bool, decays: bool) -> dict[str, object]:
        chosen = [
            weight
            for name, weight in parameters.items()
            if name.startswith("encoder.") == in_layers and (weight.dim() > 1) == decays
        ]
        peak = rates.layers if in_layers else rates.head
        return {"params": chosen, "peak": peak, "weight_decay": rates.weight_decay if decays else 0.0}

    groups = [group(in_layers, decays) for in_layers in (True, False) for decays in (True, False)]
    return AdamW(groups, betas=(0.9, 0.98), eps=1e-6)


def take_step(
    optimizer: "AdamW",
    loss: "Tensor",
    parameters: "Mapping[str, Tensor]",
    step: int,
    steps: int,
    rates: Rates,
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
