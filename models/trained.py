"""Weights trained by this project's commands: the embedded ones, and a user's own in a folder.

A model is two files, ``<kind>.safetensors`` (16-bit numbers by name) and ``<kind>.json`` (its card: recipe,
data, and for a detector its thresholds). Frozen weights come from MiniLM.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from models.catalog import ModelRef, check_embedded, embedded_model, folder_of
from models.errors import ModelUnavailable

if TYPE_CHECKING:
    from torch import Tensor

Kind = Literal["detector", "risk", "judge", "attributes", "fields"]


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model: its name, its weights in fp32 by name, and its card."""

    name: str
    weights: "Mapping[str, Tensor]" = field(repr=False)
    card: Mapping[str, Any] = field(repr=False)


def read_trained(model: ModelRef, kind: Kind) -> Trained:
    """The model's weights and card; raises ModelUnavailable where they are absent or not whole."""
    if model.source == "embedded":
        check_embedded(embedded_model(model.name, kind))
    folder = folder_of(model, kind)
    try:
        from safetensors.torch import load_file

        card = json.loads((folder / f"{kind}.json").read_text(encoding="utf-8"))
        stored = load_file(folder / f"{kind}.safetensors")
        weights = {name: weight.float() for name, weight in stored.items()}
        return Trained(str(card["name"]), weights, card)
    except Exception as error:
        raise ModelUnavailable(
            f"The {kind} model in {folder} could not be read ({type(error).__name__}):",
            f"it needs {kind}.safetensors and {kind}.json as 'lethe models train-{kind}' writes them.",
        ) from None


def write_trained(folder: Path, kind: Kind, weights: "Mapping[str, Tensor]", card: Mapping[str, Any]) -> None:
    """Write a model into a folder, which is made where it is not there; the weights in 16 bits."""
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    halved = {name: weight.to(torch.float16).contiguous() for name, weight in sorted(weights.items())}
    save_file(halved, folder / f"{kind}.safetensors")
    text = json.dumps(card, indent=2, sort_keys=True, ensure_ascii=False)
    (folder / f"{kind}.json").write_text(text + "\n", encoding="utf-8")
