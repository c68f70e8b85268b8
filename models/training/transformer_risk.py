"""Fine-tuning a transformer as a privacy-risk model on scored snippets, as TRIP-RAG did DeBERTa-v3-base."""

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.bert import batches
from models.catalog import ModelRef, describe, folder_of
from models.errors import ConfigurationError
from models.local_files import quiet
from models.risk_model import Marked
from models.trained import write_trained
from models.training.identifier_signals import identifier_signals
from models.training.optimizing import Progress, Rates, optimizer_of, take_step
from models.training.risk import HARMLESS, ScoredText, with_some_taken_out
from models.training.risk_command import FEWEST, scored
from models.training.rubric import BLOCK, held_out, read_snippets, records_of, shipped_snippets
from models.transformer_risk import Reader, TransformerRisk, head_shapes, jobs_in, mention_hazards, read_encoder

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]

DEVELOPMENT = 10
"""Every so manieth block of snippets that are neighbors says when to stop, and is not trained on."""
TOLD_EVERY = 20
"""Steps between two reports."""


@dataclass(frozen=True, slots=True)
class TransformerRecipe:
    """How a transformer is fine-tuned; the rates are those of the transformer's layers and of the head."""

    seed: int = 20261120
    epochs: int = 10
    patience: int = 3
    """Epochs without a better loss on the development part after which training ends."""
    tokens: int = 2048
    """In a batch, padding included."""
    layer_rate: float = 3e-5
    head_rate: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    dropout: float = 0.1
    """Of the head; the transformer keeps its own."""
    masked: float = 0.5
    """How often some mentions of a text are taken out, and of each how likely."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a model's scores agree with those that were given, over all mentions of some texts."""

    mentions: int
    loss: float
    """Cross-entropy of a mention, weighted by its text, in nats."""
    mean_error: float
    spearman: float | None
    """None where one of both sides has no two different scores."""


def make_transformer_risk(
    encoder: ModelRef,
    data: Path | None,
    labels: Path | None,
    output: Path,
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    report: Callable[[Progress], None],
) -> dict[str, Any]:
    """Fine-tune ``encoder`` on the shipped snippets and a user's own in ``labels``; the model's card.

    ``data`` and ``stand_ins`` are as for the embedded model (``risk_command.make_risk``), and so is what is
    held out to be measured on. Raises ConfigurationError where a file does not do, ModelUnavailable where
    the transformer is not on this machine.
    """
    snippets, measured = held_out(shipped_snippets(data))
    own = read_snippets(labels) if labels is not None else []
    if labels is not None and len(own) < FEWEST:
        raise ConfigurationError(f"{labels} holds {len(own)} snippets: give at least {FEWEST}.")
    blocks = [(number // BLOCK, scored(snippet)) for number, snippet in enumerate([*snippets, *own])]
    development = [text for block, text in blocks if block % DEVELOPMENT == DEVELOPMENT - 1]
    texts = [text for block, text in blocks if block % DEVELOPMENT != DEVELOPMENT - 1]
    weak = identifier_signals(data, without=records_of(measured)) if data is not None else []
    name = Path(encoder.name).name
    began = time.time()
    reader, tokenizer = read_encoder(encoder, name)
    head = fine_tune(reader, [*texts, *weak], development, stand_ins, recipe, report)
    known = describe(encoder.name)
    card = {
        "name": f"{name}-risk" if labels is None else f"{name}-risk+own",
        "kind": "transformer fine-tuned with a hazard head",
        "encoder": {"name": name, "revision": folder_of(encoder, "risk").name if encoder.source == "hub" else None},
        "licence": known.licence if known else "not stated",
    }
    return card
