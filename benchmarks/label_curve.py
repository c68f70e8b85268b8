"""``python -m benchmarks.label_curve DATA --encoder FOLDER``: how many scored snippets a model of risk needs.

TRIP-RAG's label-size curve: a transformer is fine-tuned on 2 to 200 snippets, five draws of each size, and
evaluated on the mentions of the same held-out snippets. Each seed shuffles once, so its draws are nested.
Runs in the results are not repeated, so the command can be interrupted.
"""

import argparse
import hashlib
import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from eval.measures.agreement import spearman, value_of
from eval.reports.render import INSTALL, draw, standalone
from eval.reports.schema import Plot, Point, Series
from eval.studies.detection.study import machine_and_versions
from eval.studies.risk import judged
from ingest.labels import LABELS
from ingest.protocols import RiskModel
from ingest.scoring.learned_risk import LearnedRisk
from models.catalog import ModelRef, reference
from models.corpora.rubric import Snippet, held_out, shipped_snippets
from models.errors import ConfigurationError, LetheError
from models.risk import TransformerRisk, read_encoder
from models.training.transformer_risk import TransformerRecipe, fine_tune, scored

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "label_curve.json"
PLOT = ROOT / "docs" / "label_curve.svg"

SIZES = (2, 4, 8, 16, 32, 64, 128, 200)
SEEDS = (1, 2, 3, 4, 5)
STEPS_OF_TWO, STEPS_A_DOUBLING, MOST_STEPS = 30, 10, 60
"""Few snippets are overfitted after few steps: 30 for two snippets, 10 more for each doubling.

More than the most are done where the recipe's own epochs take more.
"""
IN_A_BATCH = 16
"""About so many snippets fill a batch."""

Trainer = Callable[[Sequence[Snippet], TransformerRecipe], RiskModel]
"""Trains a model on some snippets."""


def main(argv: Sequence[str] | None = None, trainer: Trainer | None = None) -> int:
    """Do the missing runs, write each when done, and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the corpora that some snippets refer to")
    parser.add_argument(
        "--encoder",
        required=True,
        metavar="FOLDER|ID",
        help="the transformer, in a folder or pulled",
    )
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--plot", type=Path, default=PLOT)
    parser.add_argument("--threads", type=int, default=1, help="threads of each training (default 1)")
    parser.add_argument("--commit", help="commit of the code, for the record")
    arguments = parser.parse_args(argv)
    try:
        if not arguments.data.is_dir():
            raise ConfigurationError(f"{arguments.data} is no folder: name the one that holds the corpora.")
        encoder = reference(arguments.encoder)
        learned, measured = held_out(shipped_snippets(arguments.data))
        report = _run_all(
            learned,
            measured,
            _about(encoder, learned, measured),
            arguments.output,
            trainer or partial(trained, encoder=encoder, threads=arguments.threads),
            arguments.commit,
        )
    except LetheError as error:
        sys.stderr.write(f"label curve: {error}\n")
        return 1
    arguments.plot.write_text(plot(report["sizes"]), encoding="utf-8")
    sys.stderr.write(f"label curve: {arguments.output} and {arguments.plot}\n")
    return 0


def _run_all(
    training: Sequence[Snippet],
    measured: Sequence[Snippet],
    about: Mapping[str, Any],
    output: Path,
    trainer: Trainer,
    commit: str | None,
) -> dict[str, Any]:
    runs = _done(output, about)
    planned = [(size, seed) for size in SIZES if size <= len(training) for seed in SEEDS]
    report = _report(about, runs, commit)
    for number, (size, seed) in enumerate(planned, start=1):
        if (size, seed) in {(run["size"], run["seed"]) for run in runs}:
            continue
        runs.append(_run(training, measured, size, seed, trainer))
        report = _report(about, runs, commit)
        _write(output, report)
        rho = "not defined" if runs[-1]["spearman"] is None else f"{runs[-1]['spearman']:.3f}"
        sys.stderr.write(
            f"label curve: run {number} of {len(planned)}, {size} snippets, seed {seed}: "
            f"Spearman {rho}, {runs[-1]['seconds']} s\n"
        )
    return report


def _about(encoder: ModelRef, training: Sequence[Snippet], measured: Sequence[Snippet]) -> dict[str, Any]:
    """What must be equal for runs of one curve."""
    digest = hashlib.sha256()
    for snippet in (*training, *measured):
        row = [snippet.id, snippet.text, snippet.places, snippet.labels, snippet.passes]
        digest.update(json.dumps(row).encode())
    return {
        "encoder": encoder.name if encoder.source == "hub" else Path(encoder.name).name,
        "recipe": {**asdict(recipe_for(SIZES[-1], 0)), "seed": None},
        "epochs": {str(size): recipe_for(size, 0).epochs for size in SIZES},
        "training_snippets": len(training),
        "held_out_snippets": len(measured),
        "held_out_mentions": sum(len(snippet.places) for snippet in measured),
        "snippets_sha256": digest.hexdigest(),
    }


def _done(output: Path, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not output.is_file():
        return []
    try:
        found = json.loads(output.read_text(encoding="utf-8"))
        same, runs = found["about"] == about, list(found["runs"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigurationError(f"{output} is no result of this command: move it away.") from None
    if not same:
        raise ConfigurationError(
            f"{output} was made with other snippets, or by another recipe or encoder: "
            "move it away to begin anew."
        )
    return runs


def recipe_for(size: int, seed: int) -> TransformerRecipe:
    """The recipe of ``train-risk``, with fewer steps for few snippets, and no early stop."""
    steps = min(MOST_STEPS, STEPS_OF_TWO + STEPS_A_DOUBLING * round(math.log2(size / 2)))
    epochs = max(TransformerRecipe().epochs, round(steps / max(1.0, size / IN_A_BATCH)))
    return TransformerRecipe(seed=seed, epochs=epochs, patience=epochs)


def drawn(training: Sequence[Snippet], size: int, seed: int) -> list[Snippet]:
    """The first ``size`` snippets of a shuffle by the seed."""
    return random.Random(seed).sample(list(training), len(training))[:size]


def trained(
    snippets: Sequence[Snippet], recipe: TransformerRecipe, encoder: ModelRef, threads: int
) -> RiskModel:
    """A model fine-tuned on these snippets only: they are the development part, too.

    Raises:
        ModelUnavailable: The transformer is not on this machine.
    """
    import torch

    torch.set_num_threads(threads)
    stand_ins = {name: label.descriptor for name, label in LABELS.items()}
    reader, texts = read_encoder(encoder, Path(encoder.name).name), [scored(snippet) for snippet in snippets]
    head = fine_tune(reader, texts, texts, stand_ins, recipe, lambda progress: None)
    return LearnedRisk(TransformerRisk("label curve", reader, head))


def _run(
    training: Sequence[Snippet], measured: Sequence[Snippet], size: int, seed: int, trainer: Trainer
) -> dict[str, Any]:
    chosen = drawn(training, size, seed)
    began = time.time()
    found = judged("label curve", trainer(chosen, recipe_for(size, seed)), measured)
    golden = [snippet.scores for snippet in measured]
    return {
        "size": size,
        "seed": seed,
        "mentions": sum(len(snippet.places) for snippet in chosen),
        "spearman": value_of(spearman, list(zip(found, golden, strict=True))),
        "seconds": round(time.time() - began),
    }


def _report(
    about: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], commit: str | None
) -> dict[str, Any]:
    return {
        "provenance": machine_and_versions({}, commit).model_dump(mode="json"),
        "about": dict(about),
        "sizes": summary(runs),
        "runs": sorted(runs, key=lambda run: (run["size"], run["seed"])),
    }


def summary(runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The mean, lowest and highest Spearman for each size with a defined one."""
    values: dict[int, list[float]] = {}
    for run in runs:
        if run["spearman"] is not None:
            values.setdefault(run["size"], []).append(run["spearman"])
    return [
        {"size": size, "mean": fmean(of), "low": min(of), "high": max(of), "runs": len(of)}
        for size, of in sorted(values.items())
    ]


def _write(output: Path, report: Mapping[str, Any]) -> None:
    """Write atomically: an interruption must not lose earlier runs."""
    output.parent.mkdir(parents=True, exist_ok=True)
    new = output.with_suffix(".new")
    new.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    new.replace(output)


def plot(sizes: Sequence[Mapping[str, Any]]) -> str:
    """The curve as SVG: mean, lowest and highest of the runs, on a log scale of sizes.

    Raises:
        ConfigurationError: matplotlib is not installed.
    """
    words = "; ".join(f"{row['size']}: {row['mean']:.3f}" for row in sizes) or "nothing measured"
    points = (
        Point(number, max(0.0, row["mean"]), f"{row['size']} snippets", (row["low"], row["high"]))
        for number, row in enumerate(sizes)
    )
    title = "Spearman with held-out scores, by number of snippets learned from"
    drawn = draw(Plot("bars", title, words, (Series(title, tuple(points)),)))
    if drawn is None:
        raise ConfigurationError(INSTALL)
    return standalone(drawn)


if __name__ == "__main__":
    sys.exit(main())
