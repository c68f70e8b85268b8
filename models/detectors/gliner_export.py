"""A detector of ours as a folder that the gliner library loads: ``GLiNER.from_pretrained(folder)``."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from models.catalog import MINILM_WEIGHTS
from models.detectors.network import HIDDEN, WIDEST
from models.encoders.minilm import checked_path, released
from models.errors import ConfigurationError
from models.local_files import quiet
from models.trained import Trained

if TYPE_CHECKING:
    from torch import Tensor

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
_BACKBONE = "backbone"
_TEXT, _LABELS = "token_rep_layer.bert_layer.model.", "token_rep_layer.labels_encoder.model."
_HEADS = {
    "projection.": "token_rep_layer.projection.",
    "labels_projection.": "token_rep_layer.labels_projection.",
    "start.": "span_rep_layer.span_rep_layer.project_start.",
    "end.": "span_rep_layer.span_rep_layer.project_end.",
    "out.": "span_rep_layer.span_rep_layer.out_project.",
    "prompt.": "prompt_rep_layer.",
}
"""The library's names for the parts of the head."""


def export_detector(trained: Trained, folder: Path) -> None:
    """Write the detector into ``folder``, with MiniLM's parts and the tokenizer; about 180 MB.

    Its gliner_config.json names the folder twice; if you move the folder, change these two lines.
    Raises ConfigurationError if the folder exists and is not empty, or is a file.
    """
    folder = folder.resolve()
    _check(folder)
    backbone = folder / _BACKBONE
    backbone.mkdir(parents=True, exist_ok=True)
    weights_path = checked_path(MINILM_WEIGHTS)
    for name in (*_TOKENIZER_FILES, "config.json"):
        copyfile(weights_path.with_name(name), backbone / name)
    with quiet():
        from gliner import GLiNER

        model = GLiNER.from_config(_settings(backbone), backbone_from_pretrained=False)
        model.model.load_state_dict(dict(_state(trained.weights)))
        model.save_pretrained(folder, safe_serialization=True)


def _check(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder} is a file: name a folder that the detector can be written into.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "gliner_config.json").is_file():
        raise ConfigurationError(f"{folder} holds other files: name an empty folder, or a new one.")


def _settings(backbone: Path) -> dict[str, Any]:
    encoder = json.loads((backbone / "config.json").read_text(encoding="utf-8"))
    return {
        "model_name": str(backbone),
        "encoder_config": dict(encoder),
        "labels_encoder": str(backbone),
        "labels_encoder_config": dict(encoder),
        "hidden_size": HIDDEN,
        "max_width": WIDEST,
        "max_len": 250,
        "dropout": 0.1,
        "num_rnn_layers": 0,
        "span_mode": "markerV0",
        "subtoken_pooling": "first",
        "words_splitter_type": "whitespace",
    }


def _state(trained: "Mapping[str, Tensor]") -> "Iterator[tuple[str, Tensor]]":
    """Every weight under the library's name for it."""
    base = released().weights
    for name, weight in base.items():
        if name == "embeddings.position_ids":  # the numbers from 0, which the library makes itself
            continue
        yield _TEXT + name, trained.get(name, weight)
        yield _LABELS + name, weight
    for name, weight in trained.items():
        for ours, theirs in _HEADS.items():
            if name.startswith(ours):
                yield theirs + name.removeprefix(ours), weight
