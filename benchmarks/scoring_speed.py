"""Characters per second of each scoring engine and of decisions with it, and the agreement of engines.

``python -m benchmarks.scoring_speed PATH ...`` reads documents as an ingest does and prints a line of JSON
for each path. ``exact`` and ``fast`` are compared under the settings of this machine, by default a trip.
"""

import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.stats import spearmanr

from app.compose import engine_of, system_of
from app.settings.load import load_settings
from eval.measures.uncertainty import share_of
from ingest.annotated import AnnotatedText
from ingest.deciding.policy import RESIDUAL
from ingest.documents import Action, Decision, Document
from ingest.read.sources import read_documents
from ingest.rendering.replace import apply
from ingest.sanitize import annotate
from ingest.scoring.raw import Distances, ScoringEngine
from ingest.scoring.scale import EMBEDDED_SCALE
from models.local_files import best_device
from retrieval.system import System

BATCH = 32
ENGINES = ("exact", "fast")
Done = TypeVar("Done")
QUANTILES = (0.5, 0.9, 0.95, 0.99)


def main(paths: Sequence[str]) -> None:
    """One line per path."""
    # Shared models are loaded once.
    first = system_of(load_settings({}))
    engines = [engine_of(load_settings({}), first.encoder, name) for name in ENGINES]
    systems = [
        replace(first, engine=each, exact=engines[0] if each.name == "fast" else None) for each in engines
    ]
    for path in paths:
        readings = read_documents([path])
        documents = [reading.item for reading in readings if isinstance(reading.item, Document)]
        print(json.dumps({"path": Path(path).name, **row(systems, documents)}))


def row(systems: Sequence[System], documents: Sequence[Document]) -> dict[str, Any]:
    """The figures of some documents."""
    characters = sum(len(document.text) for document in documents)
    for system in systems:
        # A warm-up batch, not counted.
        system.sanitizer().sanitize(documents[:2])
    seconds: dict[str, float] = {}
    detector = systems[0].detector
    texts = _timed(seconds, "detection", partial(annotate, detector, documents))
    measured, decided = [], []
    for name, system in zip(ENGINES, systems, strict=True):
        measured.append(_timed(seconds, f"{name} measuring", partial(_measure, system.engine, texts)))
        deciding = f"detection, risk and decisions with {name}"
        decided.append(_timed(seconds, deciding, partial(_decide, system, documents)))
    return {
        "documents": len(documents),
        "characters": characters,
        "linked_entities": sum(len(text.mentions()) for text in texts),
        "characters_per_second": {name: round(characters / each) for name, each in seconds.items()},
        "mentions_decided_alike": agreement(*decided),
        "distances": distances(*measured),
        "device": device_name(best_device()),
        "python": platform.python_version(),
    }


def agreement(exact: Sequence[Decision], fast: Sequence[Decision]) -> dict[str, Any]:
    """Shares of equal decisions with Wilson's intervals: all, and without those by residual risk."""
    alike = [one.action is other.action for one, other in zip(exact, fast, strict=True)]
    by_threshold = [
        same
        for same, one, other in zip(alike, exact, fast, strict=True)
        if RESIDUAL not in (one.reason, other.reason)
    ]
    return {
        "all": asdict(share_of(sum(alike), len(alike))),
        "not by residual risk": asdict(share_of(sum(by_threshold), len(by_threshold))),
        "kept": {
            name: sum(each.action is Action.KEEP for each in decisions)
            for name, decisions in zip(ENGINES, (exact, fast), strict=True)
        },
    }


def distances(exact: Sequence[Distances], fast: Sequence[Distances]) -> dict[str, Any]:
    """Rank correlation of both measurements, and quantiles of |fast - exact|, raw and on the scale."""
    pairs = list(zip(exact, fast, strict=True))
    both: dict[str, list[tuple[float, float]]] = {
        "divergence": [(one.divergence or 0.0, other.divergence or 0.0) for one, other in pairs],
        "distance": [(one.distance, other.distance) for one, other in pairs],
    }
    norms = {"divergence": EMBEDDED_SCALE.divergence, "distance": EMBEDDED_SCALE.distance}
    result: dict[str, Any] = {}
    for name, values in both.items():
        one, other = np.array(values).T
        normed = [abs(norms[name](a) - norms[name](b)) for a, b in values]
        result[name] = {
            "spearman": round(float(spearmanr(one, other).statistic), 4),
            "least squares factor": round(float(one @ other / (other @ other)), 3),
            "error quantiles": _quantiles(np.abs(one - other)),
            "error quantiles on the scale": _quantiles(normed),
        }
    return result


def device_name(device: str) -> str:
    """The name of the device."""
    if device == "cpu":
        return f"{platform.machine()} cpu"
    import torch

    return str(torch.cuda.get_device_name())


def _measure(engine: ScoringEngine, texts: Sequence[AnnotatedText]) -> list[Distances]:
    batches = (engine.measure(texts[first : first + BATCH]) for first in range(0, len(texts), BATCH))
    return [each for measured in chain.from_iterable(batches) for each in measured.values()]


def _decide(system: System, documents: Sequence[Document]) -> list[Decision]:
    """The decisions on all mentions, by the same steps as sanitizing."""
    method = system.method()
    decided: list[Decision] = []
    for first in range(0, len(documents), BATCH):
        texts = annotate(system.detector, documents[first : first + BATCH])
        done = method.decide(texts, system.risk.hazards(texts), apply)
        decided += chain.from_iterable(each.decisions for each in done)
    return decided


def _timed(seconds: dict[str, float], name: str, work: Callable[[], Done]) -> Done:
    started = time.perf_counter()
    done = work()
    seconds[name] = time.perf_counter() - started
    return done


def _quantiles(errors: Any) -> dict[str, float]:
    return {str(q): round(float(np.quantile(errors, q)), 4) for q in QUANTILES}


if __name__ == "__main__":
    main(sys.argv[1:])
