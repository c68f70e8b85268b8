"""``python -m benchmarks.leave_one_out DATA``: how recall drops on a corpus left out of training.

One detector is trained on all corpora, and one for each family of corpora on all others, with the same
recipe. Both are evaluated on the held-out part of the family; the figure is recall, any overlap, at each
detector's own balanced thresholds. The recipe has fewer steps than the shipped one and no second training,
so the figures show transfer and not the quality of the shipped detector. Runs in the results are not
repeated, so the command can be interrupted.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eval.studies.detection.report import machine_and_versions
from models.catalog import ModelRef
from models.corpora.examples import Example
from models.corpora.read import corpora_in, read_corpora
from models.detectors.embedded import load_detector
from models.training.commands import make_detector
from models.training.detector import Recipe
from models.training.optimizing import Progress

FAMILIES: Mapping[str, Sequence[str]] = {
    "court cases": ("tab", "spia_cases"),
    "online posts": ("spia_posts",),
    "mixed genres": ("gum",),
    "novels": ("litbank",),
    "defence reports": ("re3d",),
    "encyclopedia": ("wikigold", "crossner"),
    "web and e-mail": ("uner_ewt",),
    "tweets": ("wnut17", "broad_twitter"),
    "loan agreements": ("sec_filings",),
    "forms and requests": ("presidio_synth",),
}
"""Corpora of one kind form a family: leaving out one of two similar corpora has no effect."""
STEPS = 300
OUTPUT = Path("benchmarks/results/leave_one_out.json")


def main(argv: Sequence[str] | None = None) -> None:
    """Do the missing runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--commit", help="commit of the code, for the record")
    arguments = parser.parse_args(argv)
    recipe = replace(Recipe(), steps=arguments.steps)
    held_out = _held_out(arguments.data)
    report = _read(arguments.output, recipe)
    for name in ("", *FAMILIES):
        if name in report["runs"]:
            continue
        left_out = [c for c in FAMILIES.get(name, ()) if c in corpora_in(arguments.data)]
        if name and not left_out:
            continue
        report["provenance"] = machine_and_versions({}, arguments.commit).model_dump(mode="json")
        report["runs"][name] = _run(arguments.data, recipe, left_out, held_out, name)
        arguments.output.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _read(output: Path, recipe: Recipe) -> dict[str, Any]:
    if output.is_file():
        found: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        if found["recipe"] == asdict(recipe):
            return found
        sys.exit(f"{output} was made by another recipe: move it away, or ask for its number of steps.")
    return {"recipe": asdict(recipe), "runs": {}}


def _held_out(data: Path) -> dict[str, list[Example]]:
    found: dict[str, list[Example]] = {}
    for example in read_corpora(data, "held_out"):
        for name, corpora in FAMILIES.items():
            if example.corpus in corpora:
                found.setdefault(name, []).append(example)
    return found


def _run(
    data: Path, recipe: Recipe, left_out: Sequence[str], held_out: Mapping[str, Sequence[Example]], name: str
) -> dict[str, Any]:
    def report_step(progress: Progress) -> None:
        sys.stderr.write(f"without {name or 'nothing'}: {progress.step} of {progress.steps}\n")

    with TemporaryDirectory() as folder:
        make_detector(data, Path(folder), {"recipe": recipe}, left_out, report_step)
        asked = held_out if not name else {name: held_out[name]}
        return {family: recall(Path(folder), examples) for family, examples in asked.items()}


def recall(folder: Path, examples: Sequence[Example]) -> dict[str, int]:
    """The mentions with requested labels that overlap a span of their label, and their number."""
    labels = sorted({label for example in examples for label in example.asked})
    detector = load_detector(ModelRef(source="path", name=str(folder)), labels)
    found = detector.find([example.text for example in examples])
    met = total = 0
    for example, spans in zip(examples, found, strict=True):
        for mention in example.mentions:
            if mention.label not in example.asked:
                continue
            total += 1
            met += any(
                span.label == mention.label and span.start < mention.end and mention.start < span.end
                for span in spans
            )
    return {"met": met, "of": total, "texts": len(examples)}


if __name__ == "__main__":
    main()
