"""The detector's network: GLiNER's bi-encoder span model, and two heads over words beside it.

Both share the word and label vectors (Zaratiana and others 2024; Stepanov and others 2024).

The arithmetic over spans is that of the gliner library's ``BiEncoderSpanModel`` with span mode ``markerV0``,
and a test holds the scores to it. Two things are rearranged, since a text has many more spans than words: the
first layer over a span's two ends is a sum of one vector for its start and one for its end, so it is
computed once a word; and the second layer is folded into the label vectors.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from models.catalog import ModelRef
from models.encoders.bert import WIDTH, linear
from models.errors import ModelUnavailable
from models.trained import Trained, read_trained

if TYPE_CHECKING:
    from torch import Tensor

    from models.encoders.bert import Weights

WIDEST = 12
"""Maximum words per span."""
HIDDEN = 192
"""Length of a word's, a span's and a label's vector."""


HEADS = ("start", "end", "inside", "begin", "prompt")
"""Parts of two layers each: those of a span's ends, those of words, and that of labels."""
SHAPES: Mapping[str, tuple[int, int]] = {
    "projection": (HIDDEN, WIDTH),
    "labels_projection": (HIDDEN, WIDTH),
    **{f"{name}.0": (4 * HIDDEN, HIDDEN) for name in HEADS},
    **{f"{name}.3": (HIDDEN, 4 * HIDDEN) for name in HEADS},
    "out.0": (4 * HIDDEN, 2 * HIDDEN),
    "out.3": (HIDDEN, 4 * HIDDEN),
}
"""Height and width of each part's matrix; its bias is as long as it is high."""
KINDS = ("PERSON", "CODE", "CONTACT", "LOC", "ORG", "DATETIME", "AGE", "QUANTITY", "DEM", "HEALTH", "MISC")
"""What a mark can be of."""
IDENTIFIERS = ("DIRECT", "QUASI", "SENSITIVE")
"""Its class: identifies alone, identifies with other facts, or would harm if it were tied to a person."""
NEED = "need"
"""The head of what has to go, which a detector may lack."""
MUSTS = 4
"""Tells of nobody, may stay, should be generalized, has to be masked."""
NEED_SIZES = (1, MUSTS, len(KINDS), len(IDENTIFIERS))
"""The widths of its logits: begins a mark, must, kind, class."""


def read_detector(model: ModelRef) -> Trained:
    """The detector's weights and card; raises ModelUnavailable where they are absent, broken or another's."""
    trained = read_trained(model, "detector")
    for name, shape in SHAPES.items():
        weight = trained.weights.get(f"{name}.weight")
        if weight is None or tuple(weight.shape) != shape:
            raise ModelUnavailable(
                f"The detector model {trained.name} does not have the part {name} as this version reads it:",
                "train it again with 'lethe models train-detector'.",
            )
    return trained


def label_vectors(weights: "Weights", means: "Tensor", dropout: float = 0.0) -> "Tensor":
    """Shape (labels, HIDDEN), from the mean states of the labels' names, shape (labels, 384)."""
    return two_layers(weights, "prompt", linear(weights, "labels_projection", means), dropout)


def span_logits(weights: "Weights", states: "Tensor", labels: "Tensor", dropout: float = 0.0) -> "Tensor":
    """Shape (rows, words, WIDEST, labels): entry (r, i, k, c) is for words i to i + k of row r.

    ``states`` are those of each word's first token, shape (rows, words, 384); ``labels`` what
    ``label_vectors`` gave. Spans that reach behind the last word mean nothing.
    """
    import torch
    from torch.nn import functional

    words = linear(weights, "projection", states)
    starts = two_layers(weights, "start", words, dropout).relu()
    ends = two_layers(weights, "end", words, dropout).relu()
    matrix = weights["out.0.weight"]
    from_start = functional.linear(starts, matrix[:, :HIDDEN], weights["out.0.bias"])
    from_end = functional.linear(ends, matrix[:, HIDDEN:])
    behind = functional.pad(from_end, (0, 0, 0, WIDEST - 1)).unfold(1, WIDEST, 1)
    inner = (from_start[:, :, None, :] + behind.transpose(2, 3)).relu()
    # (W2 h + b2) . l = h . (W2' l) + b2 . l
    folded = labels @ weights["out.3.weight"]
    return torch.matmul(inner, folded.T) + labels @ weights["out.3.bias"]


def word_logits(
    weights: "Weights", states: "Tensor", labels: "Tensor", dropout: float = 0.0
) -> "tuple[Tensor, Tensor]":
    """Inside and beginning, each of shape (rows, words, labels).

    The arguments are those of ``span_logits``. A span is right or wrong as a whole and is one of very many;
    a word is right in every mention that holds it. Beginnings keep mentions apart that touch.
    """
    words = linear(weights, "projection", states)
    inside = two_layers(weights, "inside", words, dropout) @ labels.T
    return inside, two_layers(weights, "begin", words, dropout) @ labels.T


def need_logits(weights: "Weights", states: "Tensor") -> "tuple[Tensor, ...]":
    """Logits over words as in ``NEED_SIZES``, each of shape (rows, words, width).

    ``states`` are those of each word's first token, shape (rows, words, 384).
    """
    begins, musts, kinds, identifiers = linear(weights, NEED, states).split(NEED_SIZES, dim=-1)
    return begins, musts, kinds, identifiers


def two_layers(weights: "Weights", name: str, states: "Tensor", dropout: float) -> "Tensor":
    """Two layers of the head named ``name`` over ``states``, of which only the last axis matters."""
    from torch.nn import functional

    inner = linear(weights, f"{name}.0", states).relu()
    if dropout:
        inner = functional.dropout(inner, dropout)
    return linear(weights, f"{name}.3", inner)
