"""Weights trained by this project's commands: the embedded ones, and a user's own in a folder.

A model is two files, ``<kind>.safetensors`` (numbers of 16 bits by name, layers of an encoder in 8) and
``<kind>.json`` (its card: recipe and data).
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from models.catalog import ModelRef, Role, check_embedded, embedded_model, folder_of
from models.errors import ModelUnavailable

if TYPE_CHECKING:
    from torch import Tensor

_LAYERS, _SCALE = "encoder.layer.", ".scale"

Kind = Literal["detector", "risk", "judge", "attributes", "fields", "answers"]


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model: its name, its weights in fp32 by name, and its card."""

    name: str
    weights: "Mapping[str, Tensor]" = field(repr=False)
    card: Mapping[str, Any] = field(repr=False)


def read_trained(model: ModelRef, kind: Kind) -> Trained:
    """The model's weights and card; raises ModelUnavailable where they are absent or not whole."""
    with readable_files(model, kind) as (weights, card):
        from safetensors.torch import load_file

        return Trained(str(card["name"]), whole(load_file(weights)), card)


@contextmanager
def readable_files(model: ModelRef, kind: Role) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The file of a trained model's weights, and its card; an embedded model is checked first.

    Raises ModelUnavailable where a file is absent or not whole, or what reads them in the block fails.
    """
    if model.source == "embedded":
        check_embedded(embedded_model(model.name, kind))
    folder = folder_of(model, kind)
    try:
        card = json.loads((folder / f"{kind}.json").read_text(encoding="utf-8"))
        yield folder / f"{kind}.safetensors", card
    except Exception as error:
        raise ModelUnavailable(
            f"The {kind} model in {folder} could not be read ({type(error).__name__}):",
            f"it needs {kind}.safetensors and {kind}.json as 'lethe models train-{kind}' writes them.",
        ) from None


def write_trained(folder: Path, kind: Kind, weights: "Mapping[str, Tensor]", card: Mapping[str, Any]) -> None:
    """Write a model into a folder, which is made where it is not there."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file(in_8_bits(weights), folder / f"{kind}.safetensors")
    text = json.dumps(card, indent=2, sort_keys=True, ensure_ascii=False)
    (folder / f"{kind}.json").write_text(text + "\n", encoding="utf-8")


def in_8_bits(weights: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """The matrices of the layers in 8 bits with a scale for each row, all else in 16."""
    import torch

    made = {}
    for name, weight in sorted(weights.items()):
        if name.startswith(_LAYERS) and weight.ndim == 2:
            scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
            made[name] = (weight / scale[:, None]).round().to(torch.int8).contiguous()
            made[name + _SCALE] = scale.contiguous()
        else:
            made[name] = weight.half().contiguous()
    return made


def whole(stored: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """The weights of ``in_8_bits`` in single precision."""
    return {
        name: weight.float() * stored[name + _SCALE][:, None] if name + _SCALE in stored else weight.float()
        for name, weight in stored.items()
        if not name.endswith(_SCALE)
    }
