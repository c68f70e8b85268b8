"""``lethe distill``, and ``lethe models train-...``."""

import argparse
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.console import message, result
from models.catalog import reference
from models.errors import ConfigurationError

if TYPE_CHECKING:
    from models.training.optimizing import Progress


def _check_training_is_here() -> None:
    if find_spec("models.training") is None:
        raise ConfigurationError(
            "Training is not part of the installed package: run this in a checkout of the project, after "
            "pip install -e '.[cpu,train]'."
        )


def train_risk(arguments: argparse.Namespace) -> int:
    """Fine-tune a privacy-risk model on the shipped snippets and, where given, on a user's own."""
    _check_training_is_here()
    from ingest.labels import LABELS
    from models.training.commands import make_transformer_risk
    from models.training.transformer_risk import TransformerRecipe

    data = Path(arguments.data) if arguments.data else None
    labels = Path(arguments.labels) if arguments.labels else None
    output = Path(arguments.output)
    stand_ins = {name: label.descriptor for name, label in LABELS.items()}
    card = make_transformer_risk(
        reference(arguments.encoder),
        data,
        labels,
        output,
        stand_ins,
        TransformerRecipe(**_seed(arguments)),
        _report,
    )
    _show(card, output)
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

    recipe = JudgeRecipe(**_seed(arguments))
    output = Path(arguments.output)
    pairs = claim_pairs(Path(arguments.data), detector_of(settings_of(arguments)), recipe.seed)
    card = make_judge([(pair, split_sentences(pair.text)) for pair in pairs], output, recipe, _report)
    _show(card, output, pairs=len(pairs))
    return 0


def train_attributes(arguments: argparse.Namespace) -> int:
    """Train the heads of the attribute attack on texts of people who are known in part."""
    _check_training_is_here()
    from eval.attacks.attribute_truths import drawn, known_texts, texts_to_learn
    from models.encoders.minilm import MiniLM
    from models.training.attributes import NAMES, AttributeRecipe, invented_names
    from models.training.commands import make_attributes

    recipe = AttributeRecipe(**_seed(arguments))
    output = Path(arguments.output)
    known = drawn(known_texts(Path(arguments.data)), recipe.seed)
    message(f"reading {len(known):,} texts")
    texts = texts_to_learn(known, invented_names(NAMES, recipe.seed), MiniLM())
    card = make_attributes(texts, output, recipe, lambda name: message(f"fitted the head of {name}"))
    _show(card, output, heads=list(card["values"]))
    return 0


def train_fields(arguments: argparse.Namespace) -> int:
    """Train the head that says what stands in a field, on invented records."""
    _check_training_is_here()
    from ingest.detection.field_words import features
    from models.training.commands import make_fields
    from models.training.fields import FieldRecipe

    recipe = FieldRecipe(**_seed(arguments))
    output = Path(arguments.output)
    card = make_fields(features, output, recipe, message)
    _show(card, output, right=card["names_not_learned"])
    return 0


def train_wording(arguments: argparse.Namespace) -> int:
    """Train the wording head on the marked passages and on members of sorts."""
    from models.training.wording import make_wording

    output = Path(arguments.output)
    card = make_wording(output)
    _show(card, output, right=card["aside"])
    return 0


def train_answers(arguments: argparse.Namespace) -> int:
    """Teach the answer reader on questions over the marked passages."""
    _check_training_is_here()
    from app.marked import rendered
    from models.catalog import ModelRef
    from models.training.answers import AnswerRecipe, make_answers

    recipe = AnswerRecipe(**_seed(arguments))
    output = Path(arguments.output)
    start = ModelRef(source="path", name=arguments.start) if arguments.start else None
    card = make_answers(rendered, output, recipe, _report, start)
    _show(card, output, right=card["held_back"])
    return 0


def train_bits(arguments: argparse.Namespace) -> int:
    """Learn what links a text to public texts of the same person, in games over a folder of corpora."""
    from app.cli.given import settings_of
    from app.compose import detector_of
    from eval.studies.narrowing import Recipe, make_bits

    recipe = Recipe(**_seed(arguments))
    output = Path(arguments.output)
    card = make_bits(Path(arguments.data), detector_of(settings_of(arguments)), output, recipe, message)
    _show(card, output, words=card["words"])
    return 0


def train_reader(arguments: argparse.Namespace) -> int:
    """Train a reader on the marked passages and a folder of corpora."""
    _check_training_is_here()
    from ingest.labels import LABELS
    from models.catalog import ModelRef
    from models.reader.network import read_reader
    from models.training.reader_data import PHASES, make_reader

    if (arguments.encoder is None) == (arguments.start is None):
        raise ConfigurationError("Give --encoder to train a reader from the beginning, or --start to go on.")
    start = read_reader(ModelRef(source="path", name=arguments.start)) if arguments.start else None
    chosen = PHASES if start is None else PHASES[-1:]
    longer = 1.0 if arguments.steps is None else arguments.steps / sum(each.steps for each in chosen)
    other = 0 if arguments.seed is None else arguments.seed - PHASES[0].seed
    phases = [
        replace(each, steps=max(1, round(each.steps * longer)), seed=each.seed + other) for each in chosen
    ]
    stand_ins = {name: label.descriptor for name, label in LABELS.items()}
    output = Path(arguments.output)
    card = make_reader(
        start or Path(arguments.encoder), Path(arguments.data), output, stand_ins, _report, phases
    )
    _show(card, output)
    message(f'use it with LETHE_DETECTOR__MODEL=\'{{"source": "path", "name": "{output}"}}\'')
    return 0


def distill(arguments: argparse.Namespace) -> int:
    """Train an adapter of a language model on pairs of texts before and after IncogniText."""
    _check_training_is_here()
    from app.cli.console import current_phase_on, progress
    from ingest.private_files import check_new
    from ingest.protecting.incognitext import conversation, read_pairs
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


def _seed(arguments: argparse.Namespace) -> dict[str, Any]:
    return {} if arguments.seed is None else {"seed": arguments.seed}


def _show(card: Mapping[str, Any], output: Path, **more: object) -> None:
    result({"model": card["name"], "folder": str(output), "seconds": card["seconds"], **more})


def _report(progress: "Progress") -> None:
    share = progress.step / progress.steps
    message(f"step {progress.step} of {progress.steps} ({share:.0%}), loss {progress.loss:.3f}")
