"""``python -m benchmarks.label_curve DATA``: how many scored snippets the privacy-risk model needs.

TRIP-RAG's label-size curve: models learn from 2 to 200 snippets, five draws of each size, and every one
orders the mentions of the same held-out snippets. A seed shuffles once, so that its larger draws hold its
smaller ones. A run that is in the results already is not done again, so the command can be stopped.
"""

import argparse
import hashlib
import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

from eval.detection.report import machine_and_versions
from eval.risk.comparing import spearman, value_of
from eval.risk.judged import judged
from ingest.labels import LABELS
from ingest.learned_risk import LearnedRisk
from ingest.protocols import RiskModel
from models.errors import ConfigurationError, LetheError
from models.risk_model import EmbeddedRisk
from models.training.risk import RiskRecipe, train_risk
from models.training.risk_command import scored
from models.training.rubric import Snippet, held_out, shipped_snippets

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "label_curve.json"
PLOT = ROOT / "docs" / "label_curve.svg"

SIZES = (2, 4, 8, 16, 32, 64, 128, 200)
SEEDS = (1, 2, 3, 4, 5)
STEPS_OF_TWO, STEPS_A_DOUBLING, MOST_STEPS = 30, 10, 60
"""Few snippets are learned by heart after few steps: 30 for two of them, 10 more for each doubling."""

Trainer = Callable[[Sequence[Snippet], RiskRecipe], RiskModel]
"""Makes a model from some snippets."""


def main(argv: Sequence[str] | None = None, trainer: Trainer | None = None) -> int:
    """Do the runs that are missing, each written as soon as it is done, and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the corpora that some snippets refer to")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--plot", type=Path, default=PLOT)
    parser.add_argument("--threads", type=int, default=1, help="threads of each training (default 1)")
    parser.add_argument("--commit", help="commit of the code, for the record")
    arguments = parser.parse_args(argv)
    try:
        if not arguments.data.is_dir():
            raise ConfigurationError(f"{arguments.data} is no folder: name the one that holds the corpora.")
        sides = held_out(shipped_snippets(arguments.data))
        report = _run_all(
            *sides, arguments.output, trainer or partial(trained, threads=arguments.threads), arguments.commit
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
    output: Path,
    trainer: Trainer,
    commit: str | None,
) -> dict[str, Any]:
    about = _about(training, measured)
    runs = _done(output, about)
    planned = [(size, seed) for size in SIZES if size <= len(training) for seed in SEEDS]
    report = _report(about, runs, commit)
    for number, (size, seed) in enumerate(planned, start=1):
        if (size, seed) in {(run["size"], run["seed"]) for run in runs}:
            continue
        runs.append(_run(training, measured, size, seed, trainer))
        report = _report(about, runs, commit)
        _write(output, report)
        told = "not defined" if runs[-1]["spearman"] is None else f"{runs[-1]['spearman']:.3f}"
        sys.stderr.write(
            f"label curve: run {number} of {len(planned)}, {size} snippets, seed {seed}: "
            f"Spearman {told}, {runs[-1]['seconds']} s\n"
        )
    return report


def _about(training: Sequence[Snippet], measured: Sequence[Snippet]) -> dict[str, Any]:
    """What must be the same for runs to stand in one curve."""
    digest = hashlib.sha256()
    for snippet in (*training, *measured):
        row = [snippet.id, snippet.text, snippet.places, snippet.labels, snippet.passes]
        digest.update(json.dumps(row).encode())
    return {
        "recipe": {**asdict(recipe_for(SIZES[-1], 0)), "seed": None, "least_steps": None},
        "steps": {"of_two": STEPS_OF_TWO, "a_doubling": STEPS_A_DOUBLING, "most": MOST_STEPS},
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
            f"{output} was made with other snippets or by another recipe: move it away to begin anew."
        )
    return runs


def recipe_for(size: int, seed: int) -> RiskRecipe:
    """The shipped recipe, with fewer steps where there are few snippets, and one training for each."""
    least = STEPS_OF_TWO + STEPS_A_DOUBLING * round(math.log2(size / 2))
    return replace(RiskRecipe(), seed=seed, least_steps=min(MOST_STEPS, least), members=1)


def drawn(training: Sequence[Snippet], size: int, seed: int) -> list[Snippet]:
    """The first ``size`` snippets of a shuffle that depends on the seed alone."""
    return random.Random(seed).sample(list(training), len(training))[:size]


def trained(snippets: Sequence[Snippet], recipe: RiskRecipe, threads: int) -> RiskModel:
    """A model that learned from these snippets and from nothing else."""
    import torch

    torch.set_num_threads(threads)
    stand_ins = {name: label.descriptor for name, label in LABELS.items()}
    weights = train_risk([scored(snippet) for snippet in snippets], stand_ins, recipe, lambda progress: None)
    return LearnedRisk(EmbeddedRisk("label curve", weights))


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
    """For each size the mean, lowest and highest Spearman of its runs, left out where none has one."""
    values: dict[int, list[float]] = {}
    for run in runs:
        if run["spearman"] is not None:
            values.setdefault(run["size"], []).append(run["spearman"])
    return [
        {"size": size, "mean": fmean(of), "low": min(of), "high": max(of), "runs": len(of)}
        for size, of in sorted(values.items())
    ]


def _write(output: Path, report: Mapping[str, Any]) -> None:
    """Whole or not at all: a run that was stopped must not cost those before it."""
    output.parent.mkdir(parents=True, exist_ok=True)
    new = output.with_suffix(".new")
    new.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    new.replace(output)


WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 616, 48, 308
STYLE = """
svg { --paper: #ffffff; --ink: #1c2024; --soft: #5b6470; --grid: #dfe2e6; --line: #0f766e; }
@media (prefers-color-scheme: dark) { svg {
  --paper: #1c2125; --ink: #e8eaed; --soft: #a0a9b4; --grid: #31383f; --line: #2cb5a5; } }
text { font: 12px system-ui, "Segoe UI", Roboto, sans-serif; fill: var(--soft); }
.title { font-size: 14px; font-weight: 600; fill: var(--ink); } .paper { fill: var(--paper); }
.grid { stroke: var(--grid); } .whisker { stroke: var(--ink); stroke-width: 1.5; fill: none; }
.line { stroke: var(--line); stroke-width: 2; fill: none; } .dot { fill: var(--line); }
"""


def plot(sizes: Sequence[Mapping[str, Any]]) -> str:
    """The curve as SVG: mean as dots, lowest and highest as whiskers, sizes on a logarithmic scale."""
    title = "Spearman with held-out scores, by number of snippets learned from"
    words = "; ".join(f"{row['size']}: {row['mean']:.3f}" for row in sizes) or "nothing measured"
    dots = [(_x(row["size"]), _y(row["mean"])) for row in sizes]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><desc>{escape(words)}</desc><style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="12"/>',
        f'<text class="title" x="{LEFT}" y="26">{escape(title)}</text>',
        *(_level(tenth / 5) for tenth in range(6)),
        *(_tick(size) for size in SIZES),
        f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in dots)}"/>',
        *(_whisker(row) for row in sizes),
        *(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in dots),
        f'<text x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">snippets</text></svg>',
    ]
    return "\n".join(parts) + "\n"


def _x(size: int) -> float:
    whole = math.log2(SIZES[-1] / SIZES[0])
    return LEFT + 16 + (RIGHT - LEFT - 32) * math.log2(size / SIZES[0]) / whole


def _y(value: float) -> float:
    """A correlation below zero is drawn as zero; the table has its figure."""
    return BOTTOM - (BOTTOM - TOP) * min(1.0, max(0.0, value))


def _level(value: float) -> str:
    y = _y(value)
    return (
        f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.1f}</text>'
    )


def _tick(size: int) -> str:
    return f'<text x="{_x(size):.1f}" y="{BOTTOM + 18}" text-anchor="middle">{size}</text>'


def _whisker(row: Mapping[str, Any]) -> str:
    x, low, high = _x(row["size"]), _y(row["low"]), _y(row["high"])
    return (
        f'<path class="whisker" d="M{x:.1f} {low:.1f}V{high:.1f}'
        f'M{x - 4:.1f} {low:.1f}H{x + 4:.1f}M{x - 4:.1f} {high:.1f}H{x + 4:.1f}"/>'
    )


if __name__ == "__main__":
    sys.exit(main())
