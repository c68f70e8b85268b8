"""What the heads of the detector's network should say about a batch, as tensors of 0 and 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.gliner_forward import WIDEST
from models.training.rows import Row

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Targets:
    """``spans`` has the shape (rows, words, WIDEST, labels), the others (rows, words, labels).

    Entry (r, i, k, c) of ``spans`` is for words i to i + k of row r. A mention that is wider than a span may
    be is several spans that touch, but begins once.
    """

    spans: "Tensor" = field(repr=False)
    inside: "Tensor" = field(repr=False)
    begin: "Tensor" = field(repr=False)


def targets_of(rows: Sequence[Row], labels: Sequence[str], words: int) -> Targets:
    """The mentions of rows that are padded to ``words``; every label of a mention is among ``labels``."""
    import torch

    column = {label: number for number, label in enumerate(labels)}
    spans = torch.zeros(len(rows), words, WIDEST, len(labels))
    inside, begin = torch.zeros(2, len(rows), words, len(labels))
    for number, row in enumerate(rows):
        for first, more, label in row.targets:
            end, place = first + more + 1, column[label]
            begin[number, first, place] = 1
            inside[number, first:end, place] = 1
            for piece in range(first, end, WIDEST):
                spans[number, piece, min(WIDEST, end - piece) - 1, place] = 1
    return Targets(spans, inside, begin)


def asked_tensor(rows: Sequence[Row], labels: Sequence[str]) -> "Tensor":
    """Shape (rows, labels): 1 where it is known of a row that what is not marked is not there."""
    import torch

    column: Mapping[str, int] = {label: number for number, label in enumerate(labels)}
    asked = torch.zeros(len(rows), len(labels))
    for number, row in enumerate(rows):
        asked[number, [column[label] for label in row.asked if label in column]] = 1
    return asked
