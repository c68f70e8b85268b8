"""How fast one process stores what others have sanitized: the ceiling of an ingest on many machines.

``python -m benchmarks.sink [DOCUMENTS]`` sanitizes the demo corpus, then stores so many copies of its
documents, 20,000 without an argument, under ids and digests of their own. As an ingest on Ray it unpacks
blocks, asks for the standing of each batch, keeps it, and makes the index in the end. Nothing is sanitized
while the clock runs. It writes ``benchmarks/results/sink.json``.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from app.compose import system_of
from app.demo import corpus_path
from app.ingesting import limits_of, pipeline
from app.settings.load import Settings, load_settings
from eval.provenance import commit_here, provenance_here
from ingest.documents import Arrival, Document
from ingest.errors import SanitizationError
from ingest.keys import content_key, source_of
from ingest.on_ray.stages import objects_of, table_of
from ingest.pipeline import Arriving, Begin, Incoming, already, batches
from ingest.read.sources import read_documents
from ingest.scoring.scale import EMBEDDED_SCALE
from retrieval.collection import Collection
from retrieval.passages import Writer
from retrieval.store.database import CutDocument
from retrieval.system import System

RESULT = Path(__file__).parent / "results" / "sink.json"
DOCUMENTS = 20_000
KEY = b"k" * 32

Arrived = Arriving[CutDocument | SanitizationError]


def blocks(system: System, settings: Settings) -> list[Any]:
    """Sanitized documents as they come from a cluster."""
    readings = read_documents([str(corpus_path())])
    documents = [reading.item for reading in readings if isinstance(reading.item, Document)]
    prepare = replace(system, scale=EMBEDDED_SCALE).preparing()
    made = []
    for batch in batches(documents, limits_of(settings)):
        arrived = [
            Arriving(Incoming(Arrival("", b""), "place", "", len(document.text), outcome), 0)
            for document, outcome in zip(batch, prepare(batch), strict=True)
        ]
        made.append(table_of(arrived))
    return made


def copies(made: Sequence[Any], count: int) -> Iterator[Arrived]:
    """So many documents, each with an id, a digest and a file of its own."""
    endless = (each for block in cycle(made) for each in objects_of(block))
    for number, each in enumerate(islice(endless, count)):
        doc_id = f"doc-{number:016x}"
        arrival = Arrival(doc_id, content_key(doc_id, KEY), source_of(f"/corpus/{number}.txt", KEY))
        yield Arriving(replace(each.item, arrival=arrival), 0)


def stored(system: System, settings: Settings, made: Sequence[Any], count: int) -> dict[str, Any]:
    """Seconds and bytes of storing them, and what of the seconds is the index."""
    begin: Begin[CutDocument | SanitizationError, CutDocument] = already
    with tempfile.TemporaryDirectory() as folder:
        manifest = system.manifest(EMBEDDED_SCALE, keeps_ids=False)
        with Collection.create(Path(folder), manifest) as collection:
            started, processor = time.perf_counter(), time.process_time()
            tally = pipeline(begin, settings).run(copies(made, count), Writer(collection.store))
            seconds, processor = time.perf_counter() - started, time.process_time() - processor
            collection.publish()
            index_seconds = time.perf_counter() - started - seconds
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    assert tally.kept == count
    return {
        "documents": tally.kept,
        "passages": tally.passages,
        "characters": tally.characters,
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "index_seconds": round(index_seconds, 2),
        "documents_per_second": round(count / seconds),
        "megabytes_of_text_per_second": round(tally.characters / seconds / 1e6, 2),
        "megabytes_stored": round(size / 1e6),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure, write and print."""
    count = int(arguments[0]) if arguments else DOCUMENTS
    commit = commit_here()
    settings = load_settings({"threads": 1})
    system = system_of(settings)
    made = blocks(system, settings)
    unpacking = time.perf_counter()
    unpacked = sum(len(objects_of(block)) for block in made)
    unpacking = time.perf_counter() - unpacking
    report = {
        "provenance": provenance_here({}, commit).model_dump(),
        **stored(system, settings, made, count),
        "unpacking_documents_per_second": round(unpacked / unpacking),
        "kilobytes_per_document_in_transit": round(sum(block.nbytes for block in made) / unpacked / 1000, 1),
    }
    RESULT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1:])
