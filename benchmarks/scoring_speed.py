"""Characters a second of detection, exact scoring and the whole sanitizer, on this machine.

``python -m benchmarks.scoring_speed RECORDS.jsonl.gz ...`` reads records with ``text`` and prints JSON.
"""

import gzip
import json
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ingest.detect import HybridDetector
from ingest.documents import Document, SanitizedDocument
from ingest.policy import Policy
from ingest.risk_prior import RiskPrior
from ingest.sanitize import DecidingSanitizer, annotate
from ingest.sanitizers.trip import Trip
from ingest.scoring.exact import ExactEngine
from ingest.scoring.scale import EMBEDDED_SCALE
from models.local_files import best_device
from models.minilm import MiniLM

UNIT_TOKENS = 128
BATCH = 32


def main(paths: Sequence[str]) -> None:
    """One line per file."""
    device = best_device()
    encoder, risk, detector = MiniLM(device), RiskPrior(), HybridDetector()
    engine = ExactEngine(encoder, UNIT_TOKENS)
    sanitizer = DecidingSanitizer(detector, Trip(engine, risk, EMBEDDED_SCALE, Policy()), risk)
    for path in paths:
        documents = read(Path(path))
        characters = sum(len(document.text) for document in documents)
        sanitizer.sanitize(documents[:BATCH])  # the first batch warms caches up and is not counted
        seconds = {}
        started = time.perf_counter()
        texts = annotate(detector, documents)
        seconds["detection"] = time.perf_counter() - started
        started = time.perf_counter()
        for first in range(0, len(texts), BATCH):
            engine.measure(texts[first : first + BATCH])
        seconds["exact scoring"] = time.perf_counter() - started
        started = time.perf_counter()
        kept = 0
        for first in range(0, len(documents), BATCH):
            outcomes = sanitizer.sanitize(documents[first : first + BATCH])
            kept += sum(isinstance(outcome, SanitizedDocument) for outcome in outcomes)
        seconds["sanitizer"] = time.perf_counter() - started
        row = {
            "file": Path(path).name,
            "documents": len(documents),
            "sanitized": kept,
            "characters": characters,
            "linked_entities": sum(len(text.mentions()) for text in texts),
            "characters_per_second": {name: round(characters / each) for name, each in seconds.items()},
            "device": device_name(device),
            "python": platform.python_version(),
        }
        print(json.dumps(row))


def read(path: Path) -> list[Document]:
    """Records with a text."""
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    with opened as lines:
        return [Document(str(number), json.loads(line)["text"]) for number, line in enumerate(lines)]


def device_name(device: str) -> str:
    """What computed."""
    if device == "cpu":
        return f"{platform.machine()} cpu"
    import torch

    return str(torch.cuda.get_device_name())


if __name__ == "__main__":
    main(sys.argv[1:])
