"""The hazard head: how strongly each token of a marked mention exposes a person, in nats."""

from typing import TYPE_CHECKING

from models.bert import WIDTH, linear

if TYPE_CHECKING:
    from torch import Tensor

    from models.bert import Weights

INNER = 128
TRAINED_LAYERS = (2, 3, 4, 5)
"""The layers of MiniLM that are trained; those below stay as released."""


def token_hazards(
    weights: "Weights", states: "Tensor", labels: "Tensor", contexts: "Tensor", dropout: float = 0.0
) -> "Tensor":
    """Non-negative numbers of shape (tokens,), in nats.

    ``states`` are the tokens', ``labels`` the mean states of the names of the labels under which they are
    read, ``contexts`` the mean states of the windows in which they stand, all of shape (tokens, 384). A
    token that two mentions share is read under either label.
    """
    from torch.nn import functional

    inner = linear(weights, "risk.state", states) + linear(weights, "risk.label", labels)
    inner = inner + linear(weights, "risk.context", contexts)
    inner = functional.gelu(inner)
    if dropout:
        inner = functional.dropout(inner, dropout)
    return functional.softplus(linear(weights, "risk.out", inner))[:, 0]


SHAPES = {
    "risk.state": (INNER, WIDTH),
    "risk.label": (INNER, WIDTH),
    "risk.context": (INNER, WIDTH),
    "risk.out": (1, INNER),
}
"""Height and width of each of the head's matrices."""
