"""Whether a word lies inside a mention of a label, and whether one begins there: heads beside GLiNER's.

They share the word and label vectors of ``models.gliner_forward``. A span is right or wrong as a whole and
is one of very many; a word is right in every mention that holds it. What begins is asked so that mentions
which touch stay apart.
"""

from typing import TYPE_CHECKING

from models.bert import linear
from models.gliner_forward import two_layers

if TYPE_CHECKING:
    from torch import Tensor

    from models.bert import Weights


def word_logits(
    weights: "Weights", states: "Tensor", labels: "Tensor", dropout: float = 0.0
) -> "tuple[Tensor, Tensor]":
    """Inside and beginning, each of shape (rows, words, labels).

    The arguments are those of ``models.gliner_forward.span_logits``.
    """
    words = linear(weights, "projection", states)
    inside = two_layers(weights, "inside", words, dropout) @ labels.T
    return inside, two_layers(weights, "begin", words, dropout) @ labels.T
