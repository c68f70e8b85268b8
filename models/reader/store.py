"""The reader's files: its input layer, its layers in 8 bits, its heads, and its card."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.catalog import ModelRef, check_embedded, embedded_model, folder_of
from models.errors import ModelUnavailable
from models.trained import in_8_bits, whole

if TYPE_CHECKING:
    from torch import Tensor

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
