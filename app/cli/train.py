"""``lethe distill``, and ``lethe models train-... | export-detector``."""

import argparse
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.console import message, result
from models.catalog import ModelRef, reference
from models.errors import ConfigurationError

if TYPE_CHECKING:
    from models.training.detector import Recipe
    from models.training.optimizing import Progress


def _check_training_is_here() -> None:
    if find_spec("models.training") is None:
        raise ConfigurationError(
            "Training is not part of the installed package: run this in a checkout of the project, after "
            "pip install -e '.[cpu,train]'."
        )


def train_detector(arguments: argparse.Namespace) -> int:
    """Train a detector on a folder of corpora."""
    _check_training_is_here()
    from models.training.commands import PHASES, make_detector

    start = _start(arguments.start) if arguments.start else None
    recipes = {
        name: _asked_for(arguments, each) for name, each in PHASES.items() if name == "needs" or not start
    }
    output = Path(arguments.output)
    card = make_detector(Path(arguments.data), output, recipes, arguments.leave_out or (), _report, start)
    steps = sum(each.steps for each in recipes.values())
    result({"model": card["name"], "folder": str(output), "seconds": card["seconds"], "steps": steps})
    message(f'use it with LETHE_DETECTOR__MODEL=\'{{"source": "path", "name": "{output}"}}\'')
    return 0


def _start(name: str) -> ModelRef:
    """A trained model by a folder, or by the word embedded."""
    return ModelRef() if name == "embedded" else reference(Path(name))


def _asked_for(arguments: argparse.Namespace, recipe: "Recipe") -> "Recipe":
    """The recipe as the options change it; the second training keeps its proportion to the first."""
    from models.training.detector import Recipe

    shipped = Recipe()
    longer = 1.0 if arguments.steps is None else arguments.steps / shipped.steps
    faster = 1.0 if arguments.rate is None else arguments.rate / shipped.layer_rate
    seed = shipped.seed if arguments.seed is None else arguments.seed
    return replace(
        recipe,
        seed=recipe.seed - shipped.seed + seed,
        steps=max(1, round(recipe.steps * longer)),
        layer_rate=recipe.layer_rate * faster,
        head_rate=recipe.head_rate * faster,
    )


def train_risk(arguments: argparse.Namespace) -> int:
    """Train a privacy-risk model on the shipped snippets and, where given, on a user's own."""
    _check_training_is_here()
    from ingest.labels import LABELS
    from models.training.commands import make_risk, make_transformer_risk
    from models.training.risk import MORE, RiskRecipe
    from models.training.transformer_risk import TransformerRecipe

    seed = {} if arguments.seed is None else {"seed": arguments.seed}
    data = Path(arguments.data) if arguments.data else None
    labels = Path(arguments.labels) if arguments.labels else None
    output = Path(arguments.output)
    stand_ins = {name: label.descriptor for name, label in LABELS.items()}
    if arguments.encoder and arguments.start:
        raise ConfigurationError("--start continues the small model: leave it or --encoder out.")
    if arguments.encoder:
        encoder, longer = reference(arguments.encoder), TransformerRecipe(**seed)
        card = make_transformer_risk(encoder, data, labels, output, stand_ins, longer, _report)
    else:
        start = _start(arguments.start) if arguments.start else None
        recipe = replace(MORE if start else RiskRecipe(), **seed)
        card = make_risk(data, labels, output, stand_ins, recipe, _report, start)
    result({"model": card["name"], "folder": str(output), "seconds": card["seconds"]})
    message(f'use it with LETHE_RISK__MODEL=\'{{"source": "path", "name": "{output}"}}\'')
    return 0


def train_judge(arguments: argparse.Namespace) -> int:
    """Train a claim-support model on claims that rules make from a folder of corpora."""
    _check_training_is_here()
    from app.cli.given import settings_of
    from app.compose import detector_of
    from eval.attacks.claim_pairs import claim_pairs
    from ingest.language.sentences import split_sentences
    from models.training.commands import make_judge
    from models.training.judge import JudgeRecipe

    recipe = JudgeRecipe() if arguments.seed is None else JudgeRecipe(seed=arguments.seed)
    output = Path(arguments.output)
    pairs = claim_pairs(Path(arguments.data), detector_of(settings_of(arguments)), recipe.seed)
    card = make_judge([(pair, split_sentences(pair.text)) for pair in pairs], output, recipe, _report)
    result({"model": card["name"], "folder": str(output), "seconds": card["seconds"], "pairs": len(pairs)})
    return 0


def train_attributes(arguments: argparse.Namespace) -> int:
    """Train the heads of the attribute attack on texts of people who are known in part."""
    _check_training_is_here()
    from eval.attacks.attribute_learning import drawn, texts_to_learn
    from eval.attacks.attribute_truths import known_texts
    from models.encoders.minilm import MiniLM
    from models.training.attributes import NAMES, AttributeRecipe, invented_names
    from models.training.commands import make_attributes

    recipe = AttributeRecipe() if arguments.seed is None else AttributeRecipe(seed=arguments.seed)
    output = Path(arguments.output)
    known = drawn(known_texts(Path(arguments.data)), recipe.seed)
    message(f"reading {len(known):,} texts")
    texts = texts_to_learn(known, invented_names(NAMES, recipe.seed), MiniLM())
    card = make_attributes(texts, output, recipe, lambda name: message(f"fitted the head of {name}"))
    result(
        {
            "model": card["name"],
            "folder": str(output),
            "seconds": card["seconds"],
            "heads": list(card["values"]),
        }
    )
    return 0


def train_fields(arguments: argparse.Namespace) -> int:
    """Train the head that says what stands in a field, on invented records."""
    _check_training_is_here()
    from ingest.detection.field_words import features
    from models.training.commands import make_fields
    from models.training.fields import FieldRecipe

    recipe = FieldRecipe() if arguments.seed is None else FieldRecipe(seed=arguments.seed)
    output = Path(arguments.output)
    card = make_fields(features, output, recipe, message)
    result(
        {
            "model": card["name"],
            "folder": str(output),
            "seconds": card["seconds"],
            "right": card["names_not_learned"],
        }
    )
    return 0


def distill(arguments: argparse.Namespace) -> int:
    """Train an adapter of a language model on pairs of texts before and after IncogniText."""
    _check_training_is_here()
    from app.cli.console import current_phase_on, progress
    from ingest.private_files import check_new
    from ingest.protecting.pairs import conversation, read_pairs
    from models.training.lora import Conversation, LoraRecipe, train_lora, write_merged

    base, output = Path(arguments.model), Path(arguments.output)
    check_new(output, "--output")
    given = {name: getattr(arguments, name) for name in ("rank", "epochs", "rate", "seed")}
    recipe = LoraRecipe(**{name: value for name, value in given.items() if value is not None})
    pairs = [Conversation(each.author, conversation(each)) for each in read_pairs(Path(arguments.pairs))]
    message(
        f"{len(pairs):,} pairs hold raw texts, and an adapter may repeat what it learned: keep both private"
    )
    with progress("steps") as bar:
        reported = current_phase_on(bar)
        first = 0.0

        def shown(each: "Progress") -> None:
            nonlocal first
            if each.step == 1:
                first = time.monotonic()
            elif each.step == 2:
                minutes = max(1, round((time.monotonic() - first) * each.steps / 60))
                message(f"{each.steps:,} steps, about {minutes:,} min")
            reported("training", each.step, each.steps)

        card = train_lora(base, pairs, output, recipe, shown)
    result(
        {"folder": str(output), **{name: card[name] for name in ("pairs", "loss_before", "loss", "epoch")}}
    )
    if arguments.merge:
        message(f"merged: {write_merged(base, output)}. Convert it to GGUF with llama.cpp for --gguf")
    return 0


def export_detector(arguments: argparse.Namespace) -> int:
    """Write a detector as a folder that the gliner library loads."""
    from models.detectors.gliner_export import export_detector as export
    from models.detectors.network import read_detector

    own, output = arguments.model, Path(arguments.output)
    ref = ModelRef(source="path", name=own) if own else ModelRef(source="embedded", name="lethe-detector")
    trained = read_detector(ref)
    export(trained, output)
    result({"model": trained.name, "folder": str(output)})
    message(f'load it with GLiNER.from_pretrained("{output}")')
    message("choose a threshold on texts of your own: Lethe's are for its scores of words, not of spans")
    return 0


def _report(progress: "Progress") -> None:
    share = progress.step / progress.steps
    message(f"step {progress.step} of {progress.steps} ({share:.0%}), loss {progress.loss:.3f}")
