"""The claim-support model: does a text tell a claim fully, partly or not? A small head over frozen MiniLM."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.catalog import ModelRef
from models.encoders.bert import WIDTH, linear
from models.encoders.numbers import Numbers
from models.errors import ModelUnavailable
from models.judges.reading import FEATURES, TOKEN_FEATURES, Alignment, ClaimReader
from models.packs import packs
from models.trained import read_trained

if TYPE_CHECKING:
    from torch import Tensor, device

    from models.encoders.bert import Weights

INNER = 64
"""Width of both hidden layers."""
SHAPES = {
    "judge.states": (INNER, 4 * WIDTH),
    "judge.token": (INNER, TOKEN_FEATURES),
    "judge.gate": (1, INNER),
    "judge.pooled": (INNER, 3 * INNER),
    "judge.features": (INNER, FEATURES),
    "judge.direct": (1, FEATURES),
    "judge.out": (1, INNER),
}
"""Height and width of each of the head's matrices."""
VECTORS = ("judge.told", "judge.mean", "judge.spread", "judge.limits")
"""How much each word piece tells, mean and spread of the features, and what sets the two limits."""
PRODUCT = 20.0
"""The factor of products of unit states, which are small."""
_AT_ONCE = 128


class ClaimSupport:
    """The probability of each level for claims and the parts of their texts. Safe to use from threads."""

    def __init__(
        self, name: str, weights: "Weights", device: str = "cpu", numbers: Numbers = "float32"
    ) -> None:
        self.name = name
        self._weights = {part: weight.to(device) for part, weight in weights.items()}
        self._reader = ClaimReader(weights["judge.told"].cpu().numpy(), device, numbers)

    def levels(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[list[float] | None]:
        """The probabilities of levels 1, 2 and 3 of each pair; None where either has no word piece."""
        import torch

        found: list[list[float] | None] = []
        for pack in packs(self._reader.alignments(pairs), _AT_ONCE):
            read = [each for each in pack if each is not None]
            with torch.inference_mode():
                rows = iter(probabilities(self._weights, read).tolist() if read else ())
            found += [None if each is None else next(rows) for each in pack]
        return found


def load_judge(model: ModelRef, device: str = "cpu", numbers: Numbers = "float32") -> ClaimSupport:
    """A claim-support model that ``lethe models train-judge`` made; its encoder multiplies in ``numbers``.

    Raises ModelUnavailable where its files are not there or not whole.
    """
    trained = read_trained(model, "judge")
    if absent := [
        part for part in (*SHAPES, *VECTORS) if not {part, f"{part}.weight"} & set(trained.weights)
    ]:
        raise ModelUnavailable(
            f"The judge {trained.name} has no weights named {absent[0]}:",
            "train it again with 'lethe models train-judge'.",
        )
    return ClaimSupport(trained.name, trained.weights, device, numbers)


def probabilities(weights: "Weights", read: Sequence[Alignment], dropout: float = 0.0) -> "Tensor":
    """Shape (alignments, 3)."""
    import torch

    below = torch.sigmoid(cumulative(weights, read, dropout))
    return torch.stack([below[:, 0], below[:, 1] - below[:, 0], 1 - below[:, 1]], dim=1)


def cumulative(weights: "Weights", read: Sequence[Alignment], dropout: float = 0.0) -> "Tensor":
    """The log odds of level 1, and of level 1 or 2, of shape (alignments, 2): McCullagh (1980)."""
    import torch
    from torch.nn import functional

    limits = weights["judge.limits"]
    both = torch.stack([limits[0], limits[0] + functional.softplus(limits[1])])
    return both - _unsupported(weights, read, dropout)[:, None]


def _unsupported(weights: "Weights", read: Sequence[Alignment], dropout: float) -> "Tensor":
    """How far each claim is from being told, of shape (alignments,)."""
    import torch
    from torch.nn import functional

    def dropped(states: "Tensor") -> "Tensor":
        return functional.dropout(states, dropout) if dropout else states

    device = weights["judge.limits"].device
    features = torch.from_numpy(np.stack([each.features for each in read])).float().to(device)
    features = (features - weights["judge.mean"]) / weights["judge.spread"]
    own, aligned, tokens = (
        _padded([getattr(each, part) for each in read], device) for part in ("own", "aligned", "tokens")
    )
    told = _padded([each.weights[:, None] for each in read], device)[:, :, 0]
    real = told > 0
    states = torch.cat([own, aligned, (own - aligned).abs(), own * aligned * PRODUCT], dim=2)
    inner = linear(weights, "judge.states", dropped(states)) + linear(weights, "judge.token", tokens)
    inner = functional.gelu(inner)
    gate = linear(weights, "judge.gate", inner)[:, :, 0].masked_fill(~real, -1e4).softmax(1)
    share = told / told.sum(1, keepdim=True)
    pooled = torch.cat(
        [
            (inner * gate[:, :, None]).sum(1),
            (inner * share[:, :, None]).sum(1),
            inner.masked_fill(~real[:, :, None], -1e4).amax(1),
        ],
        dim=1,
    )
    whole = linear(weights, "judge.features", features) + linear(weights, "judge.pooled", dropped(pooled))
    out = linear(weights, "judge.out", dropped(functional.gelu(whole)))
    return (out + linear(weights, "judge.direct", features))[:, 0]


def _padded(arrays: Sequence[NDArray[np.floating]], device: "device | str") -> "Tensor":
    import torch

    longest = max(len(each) for each in arrays)
    whole = np.zeros((len(arrays), longest, arrays[0].shape[1]), np.float32)
    for row, each in enumerate(arrays):
        whole[row, : len(each)] = each
    return torch.from_numpy(whole).to(device)
