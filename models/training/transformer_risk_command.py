"""Making a privacy-risk model of a transformer from scored snippets: read, train, measure, write."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.catalog import ModelRef, describe, folder_of
from models.errors import ConfigurationError
from models.local_files import quiet
from models.trained import write_trained
from models.training.identifier_signals import identifier_signals
from models.training.optimizing import Progress
from models.training.risk_command import FEWEST, scored
from models.training.rubric import BLOCK, Snippet, held_out, read_snippets, records_of, shipped_snippets
from models.training.transformer_risk import TransformerRecipe, agreement, fine_tune
from models.transformer_risk import Reader, TransformerRisk, read_encoder

if TYPE_CHECKING:
    from torch import Tensor

DEVELOPMENT = 10
"""Every tenth block of neighboring snippets tells when to stop, and is not trained on."""


def make_transformer_risk(
    encoder: ModelRef,
    data: Path | None,
    labels: Path | None,
    output: Path,
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    report: Callable[[Progress], None],
) -> dict[str, Any]:
    """Fine-tune ``encoder`` on the shipped snippets, or with them on a user's own; the model's card.

    ``data``, ``labels`` and ``stand_ins`` are those of the embedded model (``risk_command.make_risk``), and
    so is what is held out to be measured on. Raises ConfigurationError where a file does not do,
    ModelUnavailable where the transformer is not on this machine.
    """
    snippets, measured = held_out(shipped_snippets(data))
    own = read_snippets(labels) if labels is not None else []
    if labels is not None and len(own) < FEWEST:
        raise ConfigurationError(f"{labels} holds {len(own)} snippets: give at least {FEWEST}.")
    folder, name = folder_of(encoder, "risk"), Path(encoder.name).name
    if output.resolve() == folder.resolve():
        raise ConfigurationError(
            f"{output} holds the transformer itself: write the model into another folder."
        )
    reader = read_encoder(encoder, name)
    learned, development = split([*snippets, *own])
    texts = [scored(snippet) for snippet in learned]
    if data is not None:
        texts += identifier_signals(data, without=records_of([*measured, *development]))
    stops = [scored(snippet) for snippet in development]
    began = time.time()
    head = fine_tune(reader, texts, stops, stand_ins, recipe, report)
    model = TransformerRisk(name, reader, head)
    card = {
        "name": f"{name}-risk" if labels is None else f"{name}-risk+own",
        "kind": "transformer fine-tuned with a hazard head",
        **_origin(encoder, folder),
        "recipe": asdict(recipe),
        "snippets": dict(sorted(Counter(snippet.domain for snippet in learned).items())),
        "scored_mentions": sum(len(snippet.places) for snippet in learned),
        "further_mentions": sum(len(text.places) for text in texts if text.weight < 1),
        "development": asdict(agreement(model, stops)),
        "held_out": asdict(agreement(model, [scored(snippet) for snippet in measured])),
        "seconds": round(time.time() - began),
        "trained": time.strftime("%Y-%m-%d"),
    }
    write_transformer_risk(output, reader, head, card)
    return card


def _origin(encoder: ModelRef, folder: Path) -> dict[str, str | None]:
    """What a card says of the transformer that training began with; of a folder its name alone."""
    known = describe(encoder.name)
    pulled = encoder.source == "hub"
    return {
        "encoder": encoder.name if pulled else folder.name,
        "revision": folder.name if pulled else None,
        "licence": known.licence if known else "that of the transformer",
    }


def write_transformer_risk(
    folder: Path, reader: Reader, head: "Mapping[str, Tensor]", card: Mapping[str, Any]
) -> None:
    """Write the transformer as its library does, and head and card beside it; all weights in 16 bits."""
    halved = {name: weight.half() for name, weight in reader.network.state_dict().items()}
    with quiet():
        reader.network.save_pretrained(folder, state_dict=halved)
        reader.tokenizer.save_pretrained(folder)
    write_trained(folder, "risk", head, card)


def split(snippets: Sequence[Snippet]) -> tuple[list[Snippet], list[Snippet]]:
    """What is learned from, and every tenth block of five neighbors, which were written as contrasts.

    A record of which a passage is in the second part is not in the first.
    """
    last = [number // BLOCK % DEVELOPMENT == DEVELOPMENT - 1 for number in range(len(snippets))]
    development = [snippet for snippet, is_last in zip(snippets, last, strict=True) if is_last]
    records = records_of(development)
    learned = [
        snippet
        for snippet, is_last in zip(snippets, last, strict=True)
        if not is_last and snippet.record not in records
    ]
    return learned, development
