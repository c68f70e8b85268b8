"""The answer reader: how well each sentence of a text answers a question, and whether it can stand alone.

Question and text are read together by multilingual-e5-small, whose upper four layers were taught for this;
the lower eight are those of the text encoder.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.catalog import ModelRef
from models.encoders.bert import WIDTH, batches, linear, run_layers
from models.encoders.e5 import LAYERS, Trunk, pieces_of, trunk
from models.encoders.numbers import Numbers, cast, fastest
from models.encoders.words import BOS, EOS, Words
from models.local_files import best_device
from models.trained import read_trained

if TYPE_CHECKING:
    from torch import Tensor

    from models.encoders.bert import Weights

LOWER = 8
"""Layers of the encoder that read before the taught ones."""
QUESTION, ROW = 60, 300
"""The most pieces of a question, and of a row: the question, then sentences of a text."""
INNER = 128
HEADS: Mapping[str, tuple[int, int]] = {
    "sentence.inner": (INNER, 3 * WIDTH),
    "sentence.out": (2, INNER),
    "none": (1, WIDTH),
}
"""Height and width of each head's matrix; its bias is as long as it is high."""
_BATCH_PIECES = 4096


class Judged(NamedTuple):
    """The log-odds that a sentence answers against that nothing in its row does, and that it needs a lead.

    A lead is the sentence before, where that holds who or what is meant.
    """

    answers: float
    led: float


@dataclass(frozen=True, slots=True)
class Row:
    """Pieces of a question and of sentences of a text; ``question`` is the end of the first.

    ``spans`` are those of the sentences among the pieces, ``numbers`` their numbers in the text.
    """

    pieces: Sequence[int] = field(repr=False)
    question: int
    spans: Sequence[tuple[int, int]]
    numbers: Sequence[int]


def rows_of(question: Words, text: Words, sentences: Sequence[tuple[int, int]]) -> Iterator[Row]:
    """The rows in which the sentences of a text, half-open and in order, are read with a question."""
    asked = [BOS, *pieces_of(question)[:QUESTION], EOS]
    starts = [start for start, _ in text.places]
    pieces, spans, numbers = list(asked), list[tuple[int, int]](), list[int]()
    for number, (start, end) in enumerate(sentences):
        words = text.pieces[bisect_left(starts, start) : bisect_left(starts, end)]
        said = [piece for word in words for piece in word][: ROW - len(asked) - 1]
        if not said:
            continue
        if len(pieces) + len(said) >= ROW:
            yield Row([*pieces, EOS], len(asked) - 1, spans, numbers)
            pieces, spans, numbers = list(asked), [], []
        spans.append((len(pieces), len(pieces) + len(said)))
        numbers.append(number)
        pieces += said
    if spans:
        yield Row([*pieces, EOS], len(asked) - 1, spans, numbers)


def logits(weights: "Weights", states: "Tensor", rows: Sequence[Row]) -> "list[tuple[Tensor, Tensor]]":
    """For each row the logits of its sentences, shape (sentences, 2), and that of none, shape (1,).

    ``states`` are those after the last layer, of shape (rows, pieces, 384).
    """
    import torch
    from torch.nn import functional

    sums = functional.pad(states.float().cumsum(1), (0, 0, 1, 0))
    found = []
    for place, row in enumerate(rows):
        starts, ends = torch.tensor(row.spans, device=states.device).T
        means = (sums[place, ends] - sums[place, starts]) / (ends - starts)[:, None]
        asked = (sums[place, row.question] - sums[place, 1]) / max(1, row.question - 1)
        seen = torch.cat([means, means * asked, (means - asked).abs()], dim=1)
        told = linear(weights, "sentence.out", functional.gelu(linear(weights, "sentence.inner", seen)))
        found.append((told, linear(weights, "none", states[place, :1].float())[0]))
    return found


def embedded_answers(device: str | None = None, numbers: Numbers | None = None) -> "AnswerReader":
    """The embedded answer reader, read and checked once; by default as fast as this machine can."""
    place = device or best_device()
    return _loaded(place, numbers or fastest(place))


@cache
def _loaded(device: str, numbers: Numbers) -> "AnswerReader":
    return AnswerReader(ModelRef(), device, numbers)


class AnswerReader:
    """Reads questions with texts. Safe to use from several threads."""

    def __init__(self, model: ModelRef, device: str = "cpu", numbers: Numbers = "float32") -> None:
        found = read_trained(model, "answers")
        self.name = found.name
        self._trunk: Trunk = trunk(device, numbers)
        weights = {name: each.to(device) for name, each in found.weights.items()}
        self._weights = cast(weights, numbers, range(LOWER, LAYERS))
        self._device = device

    def judged(
        self, question: str, texts: Sequence[str], sentences: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[Judged]]:
        """For each text what is judged of each of its sentences, given as half-open spans in order.

        A sentence without a word answers nothing. The judgement of a text does not depend on the others.
        """
        import torch

        asked, *read = self._trunk.splitter.words([question, *texts])
        rows = [
            (number, row)
            for number, (words, spans) in enumerate(zip(read, sentences, strict=True))
            for row in rows_of(asked, words, spans)
        ]
        found = [[Judged(-np.inf, -np.inf)] * len(spans) for spans in sentences]
        with torch.inference_mode():
            for some in batches([len(row.pieces) for _, row in rows], _BATCH_PIECES, self._device):
                states, real = self._trunk.states([rows[each][1].pieces for each in some], LOWER)
                states = run_layers(self._weights, states, real, range(LOWER, LAYERS))
                told = logits(self._weights, states, [rows[each][1] for each in some])
                for each, (of_row, none) in zip(some, told, strict=True):
                    number, row = rows[each]
                    for sentence, (answers, led) in zip(row.numbers, of_row.tolist(), strict=True):
                        found[number][sentence] = Judged(answers - float(none), led)
        return found
