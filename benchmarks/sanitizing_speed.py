"""Characters per second of ``lethe sanitize`` and of its text encoder alone, in one run.

``python -m benchmarks.sanitizing_speed [PATH ...]`` reads the demo corpus, or what is given, and prints a
line of JSON. The encoder reads every passage of the raw texts once: with torch's own affine maps in single
precision, which is what the ratio is of, and as it runs here. Seconds are of the processor, so that other
work on the machine counts little.
"""

import json
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from app.compose import system_of
from app.demo import corpus_path
from app.settings.load import load_settings
from ingest.documents import Document, SanitizedDocument
from ingest.pipeline import Limits, batches
from ingest.read.sources import read_documents
from retrieval.system import System

WARM_UP = 2
"""The number of warm-up documents."""


def main(paths: Sequence[str]) -> None:
    """One line for all paths together."""
    system = system_of(load_settings({"threads": 1}))
    readings = read_documents(paths or [str(corpus_path())])
    documents = [reading.item for reading in readings if isinstance(reading.item, Document)]
    print(json.dumps({"paths": [Path(path).name for path in paths] or ["demo"], **row(system, documents)}))


def row(system: System, documents: Sequence[Document]) -> dict[str, Any]:
    """The figures of some documents."""
    characters = sum(len(document.text) for document in documents)
    sanitizer, encoder = system.sanitizer(), system.encoder
    passages = [
        document.text[unit.start : unit.end]
        for document in documents
        for unit in system.engine.units(document.text)
    ]

    def sanitize() -> None:
        for batch in batches(documents, Limits()):
            assert all(isinstance(each, SanitizedDocument) for each in sanitizer.sanitize(batch))

    sanitizer.sanitize(documents[:WARM_UP])
    with _plain():
        plain = _rate(characters, lambda: encoder.encode(passages))
    rates = {
        "lethe sanitize": _rate(characters, sanitize),
        f"{encoder.name}, plain": plain,
        encoder.name: _rate(characters, lambda: encoder.encode(passages)),
    }
    return {
        "documents": len(documents),
        "characters": characters,
        "characters_per_second": rates,
        "ratio": round(rates["lethe sanitize"] / plain, 3),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


@contextmanager
def _plain() -> Iterator[None]:
    """Use torch's own affine maps instead of oneDNN."""
    before = torch.backends.mkldnn.is_available
    torch.backends.mkldnn.is_available = lambda: False
    try:
        yield
    finally:
        torch.backends.mkldnn.is_available = before


def _rate(characters: int, work: Callable[[], object]) -> int:
    started = time.process_time()
    work()
    return round(characters / (time.process_time() - started))


if __name__ == "__main__":
    main(sys.argv[1:])
