"""The reader's network: layers of multilingual-e5-small, and heads over the words of a text.

One pass gives for each word how it belongs to an item, its class and what it needs; for two mentions whether
they are the same; for a label given as words where it applies; and for a mention its hazard.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.catalog import ModelRef, check_embedded, embedded_model, folder_of
from models.corpora.passages import KINDS
from models.encoders.bert import WIDTH, linear, norm, run_layers
from models.encoders.words import GAPS, SHAPES
from models.errors import ModelUnavailable
from models.trained import in_8_bits, whole

if TYPE_CHECKING:
    from torch import Tensor

    from models.encoders.bert import Weights


IDENTIFIERS = ("DIRECT", "QUASI", "SENSITIVE")
"""The classes of items: identify alone, with other facts, or would harm if they were tied to somebody."""
TAGS = 1 + 2 * len(KINDS)
"""Outside, and for each of ``KINDS`` the first word of an item, then the others."""
MUSTS = 4
"""Tells of nobody, may stay, should be generalized, has to be masked."""
SIZES = (TAGS, MUSTS, len(IDENTIFIERS))
LINK, LABEL = 96, 192
"""Lengths of the vectors by which mentions are joined, and words and labels compared."""
FEATURES = 10
"""What is known of two names as strings; see ``models.reader.linking``."""
SHAPES_OF: Mapping[str, tuple[int, int]] = {
    "tell": (sum(SIZES), WIDTH),
    "link.own": (LINK, WIDTH),
    "link.inner": (64, 2 * LINK + FEATURES),
    "link.out": (1, 64),
    "label.word": (LABEL, WIDTH),
    "label.name": (2 * LABEL, WIDTH),
    "hazard.state": (128, WIDTH),
    "hazard.context": (128, WIDTH),
    "hazard.out": (1, 128),
}
"""Height and width of each head's matrix; its bias is as long as it is high."""
TABLES: Mapping[str, tuple[int, int]] = {"gaps": (len(GAPS), WIDTH), "shapes": (len(SHAPES), WIDTH)}
"""What is added to the vectors of a word's pieces."""


def first_states(weights: "Weights", vectors: "Tensor", gaps: "Tensor", shapes: "Tensor") -> "Tensor":
    """What goes into the first layer, shape (rows, pieces, 384).

    ``vectors`` are those of the pieces, ``gaps`` and ``shapes`` those of their words; both have one number
    more for the signs at the ends of a row, to which nothing is added.
    """
    from torch.nn import functional

    added = sum(
        functional.embedding(numbers, functional.pad(weights[name], (0, 0, 0, 1)))
        for name, numbers in (("gaps", gaps), ("shapes", shapes))
    )
    states = vectors + weights["positions"][: vectors.shape[1]].to(vectors.dtype) + added
    return norm(weights, "norm", states)


def read(weights: "Weights", states: "Tensor", real: "Tensor", layers: int, dropout: float = 0.0) -> "Tensor":
    """The states after the last of the ``layers``."""
    return run_layers(weights, states, real, range(layers), dropout)


def of_words(states: "Tensor", firsts: "Tensor") -> "Tensor":
    """The states of each word's first piece, shape (rows, words, 384)."""
    import torch

    return torch.gather(states, 1, firsts[:, :, None].expand(-1, -1, states.shape[2]))


def told(weights: "Weights", words: "Tensor") -> "tuple[Tensor, Tensor, Tensor]":
    """Logits of tags, of need and of class over words, each of shape (rows, words, size)."""
    tags, musts, classes = linear(weights, "tell", words).split(SIZES, dim=-1)
    return tags, musts, classes


def span_means(words: "Tensor", rows: "Tensor", starts: "Tensor", ends: "Tensor") -> "Tensor":
    """The mean states of spans of words, half-open, shape (spans, 384)."""
    from torch.nn import functional

    sums = functional.pad(words.float().cumsum(1), (0, 0, 1, 0))
    return (sums[rows, ends] - sums[rows, starts]) / (ends - starts)[:, None]


def link_logits(weights: "Weights", one: "Tensor", other: "Tensor", features: "Tensor") -> "Tensor":
    """Whether two mentions are the same, shape (pairs,); the order of the two does not matter.

    ``one`` and ``other`` are their vectors (``linear(weights, "link.own", means)``), ``features`` of shape
    (pairs, FEATURES) what is known of them as strings.
    """
    import torch
    from torch.nn import functional

    seen = torch.cat([one * other, (one - other).abs(), features], dim=1)
    return linear(weights, "link.out", functional.gelu(linear(weights, "link.inner", seen)))[:, 0]


def label_logits(weights: "Weights", words: "Tensor", names: "Tensor") -> "tuple[Tensor, Tensor]":
    """Whether a word is in a mention of a label, and begins one: each of shape (rows, words, labels).

    ``names`` are the mean states of the labels' names, shape (labels, 384).
    """
    own = linear(weights, "label.word", words)
    inside, begins = linear(weights, "label.name", names).split(LABEL, dim=-1)
    return own @ inside.T / LABEL**0.5 - 3.0, own @ begins.T / LABEL**0.5 - 3.0


def hazards(weights: "Weights", mentions: "Tensor", contexts: "Tensor") -> "Tensor":
    """The hazard of each mention in nats, shape (mentions,).

    ``mentions`` and ``contexts`` are the mean states of the mentions and of their rows.
    """
    return hazards_of(
        weights, linear(weights, "hazard.state", mentions) + linear(weights, "hazard.context", contexts)
    )


def hazards_of(weights: "Weights", inner: "Tensor") -> "Tensor":
    """The hazards from the sums of what mentions and contexts give, shape (mentions, 128)."""
    from torch.nn import functional

    return functional.softplus(linear(weights, "hazard.out", functional.gelu(inner)))[:, 0]


ENCODER, READER, CARD = "encoder.safetensors", "reader.safetensors", "reader.json"


@dataclass(frozen=True, slots=True)
class Stored:
    """A reader: its name, its number of layers, its input layer and its weights by name."""

    name: str
    layers: int
    encoder: "Mapping[str, Tensor]" = field(repr=False)
    weights: "Mapping[str, Tensor]" = field(repr=False)


def read_reader(model: ModelRef) -> Stored:
    """The reader's files; raises ModelUnavailable where they are absent or not whole."""
    if model.source == "embedded":
        check_embedded(embedded_model(model.name, "detector"))
    folder = folder_of(model, "detector")
    try:
        from safetensors.torch import load_file

        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        weights = whole(load_file(folder / READER))
        return Stored(str(card["name"]), int(card["layers"]), load_file(folder / ENCODER), weights)
    except Exception as error:
        raise ModelUnavailable(
            f"The reader in {folder} could not be read ({type(error).__name__}):",
            f"it needs {ENCODER}, {READER} and {CARD} as they were written together.",
        ) from None


def write_reader(
    folder: Path, encoder: "Mapping[str, Tensor]", weights: "Mapping[str, Tensor]", card: Mapping[str, Any]
) -> None:
    """Write a reader into a folder, which is made where it is not there."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file(dict(encoder), folder / ENCODER)
    save_file(in_8_bits(weights), folder / READER)
    text = json.dumps(card, indent=2, sort_keys=True, ensure_ascii=False)
    (folder / CARD).write_text(text + "\n", encoding="utf-8")
