"""``lethe models train-detector | train-risk | export-detector``."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.console import message, result
from models.catalog import ModelRef

if TYPE_CHECKING:
    from models.training.optimizing import Progress


def train_detector(arguments: argparse.Namespace) -> int:
    """Train a detector on a folder of corpora."""
    from models.training.detector import Recipe
    from models.training.detector_command import make_detector

    recipe = Recipe()
    if arguments.steps is not None:
        recipe = replace(recipe, steps=arguments.steps)
    if arguments.seed is not None:
        recipe = replace(recipe, seed=arguments.seed)
    if arguments.rate is not None:
        head_rate = recipe.head_rate * arguments.rate / recipe.layer_rate
        recipe = replace(recipe, layer_rate=arguments.rate, head_rate=head_rate)
    output = Path(arguments.output)
    card = make_detector(Path(arguments.data), output, recipe, arguments.leave_out or (), _told)
    result({"model": card["name"], "folder": str(output), "seconds": card["seconds"], "steps": recipe.steps})
    message(f'use it with LETHE_DETECTOR__MODEL=\'{{"source": "path", "name": "{output}"}}\'')
    return 0


def train_risk(arguments: argparse.Namespace) -> int:
    """Train a privacy-risk model on the shipped snippets and, where given, on a user's own."""
    from ingest.labels import LABELS
    from models.training.risk import RiskRecipe
    from models.training.risk_command import make_risk

    recipe = RiskRecipe()
    if arguments.seed is not None:
        recipe = replace(recipe, seed=arguments.seed)
    output = Path(arguments.output)
    card = make_risk(
        Path(arguments.data) if arguments.data else None,
        Path(arguments.labels) if arguments.labels else None,
        output,
        {name: label.descriptor for name, label in LABELS.items()},
        recipe,
        _told,
    )
    result({"model": card["name"], "folder": str(output), "seconds": card["seconds"]})
    message(f'use it with LETHE_RISK__MODEL=\'{{"source": "path", "name": "{output}"}}\'')
    return 0


def export_detector(arguments: argparse.Namespace) -> int:
    """Write a detector as a folder that the gliner library loads."""
    from models.detector_parts import read_detector
    from models.gliner_export import export_detector as export

    own, output = arguments.model, Path(arguments.output)
    ref = ModelRef(source="path", name=own) if own else ModelRef(source="embedded", name="lethe-detector")
    trained = read_detector(ref)
    export(trained, output)
    result({"model": trained.name, "folder": str(output)})
    message(f'load it with GLiNER.from_pretrained("{output}")')
    message("choose a threshold on texts of your own: Lethe's are for its scores of words, not of spans")
    return 0


def _told(progress: "Progress") -> None:
    share = progress.step / progress.steps
    message(f"step {progress.step} of {progress.steps} ({share:.0%}), loss {progress.loss:.3f}")
