"""How long a search takes beside one by vectors alone, in a large collection on disk.

``python -m benchmarks.search_time DATA`` sanitizes dialogues and mails, stores as many copies of them as
make the passages asked for, and asks each question by vectors alone and by vectors and words, in turn. Both
times include encoding the question, and the store remembers how common words are, as it does while nothing is
written. Copies save hours of encoding, and make it an approximation: an index has as many vectors as with
texts that all differ, but a word has no fewer entries than there are copies, and the best passages are copies
of each other. It writes ``benchmarks/results/search_time.json``.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import numpy as np
import torch

from app.compose import system_of
from app.settings.load import load_settings
from benchmarks.searching import CHOSEN_DOCUMENTS, FOLDERS, SEED, printed
from eval.corpora.corpus import Corpus, Selection
from eval.corpora.loaders import load
from eval.experiment import kept_in_memory
from eval.measures.uncertainty import paired_ratio
from eval.provenance import commit_here, provenance_of
from eval.targets import reading_once
from ingest.documents import Arrival, SanitizedDocument
from ingest.protocols import Encoder
from ingest.scoring.scale import EMBEDDED_SCALE
from retrieval.collection import Collection, locked
from retrieval.passages import Writer, cut
from retrieval.retriever import HybridRetriever
from retrieval.search import DENSE, HYBRID
from retrieval.system import System

RESULT = Path(__file__).parent / "results" / "search_time.json"
DOCUMENTS, ASKED, WARM_UP, K = 800, 200, 5, 5
"""Of each corpus: the documents that are copied, and the questions; of all questions the warm-up."""
BATCH = 64


def texts(data: Path) -> list[Corpus]:
    """The documents that are copied, and the questions."""
    chosen = Selection(SEED, DOCUMENTS, ASKED)
    return [load(name, data / FOLDERS[name], chosen) for name in CHOSEN_DOCUMENTS]


def filled(collection: Collection, documents: Sequence[SanitizedDocument], system: System, least: int) -> int:
    """Store copies of the documents until there are at least ``least`` passages; returns the copies."""
    writer, encoder = Writer(collection.store), reading_once(system.encoder)
    copies = 0
    while collection.store.count_passages() < least:
        copies += 1
        for first in range(0, len(documents), BATCH):
            batch = cut(documents[first : first + BATCH], encoder, system.passage_tokens, system.search)
            names = [f"{copies}/{each.document.doc_id}" for each in batch]
            arrivals = [Arrival(name, name.encode()) for name in names]
            writer.keep(list(zip(arrivals, batch, strict=True)))
        printed("passages", collection.store.count_passages(), least)
    return copies


def seconds(collection: Collection, encoder: Encoder, questions: Sequence[str]) -> dict[str, list[float]]:
    """For each way of searching the seconds of each question, warm-up left out; the ways take turns."""
    index = collection.load_index()
    ways = {
        "dense": HybridRetriever(encoder, index, collection.store, DENSE),
        "hybrid": HybridRetriever(encoder, index, collection.store, HYBRID),
    }
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number, question in enumerate(questions):
        order = list(ways) if number % 2 else list(reversed(ways))
        for way in order:
            started = time.perf_counter()
            ways[way].retrieve([question], K)
            taken[way].append(time.perf_counter() - started)
    return {way: each[WARM_UP:] for way, each in taken.items()}


def main() -> None:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description="Seconds of a search, with words and without.")
    parser.add_argument("data", type=Path, help="the folder of the public corpora")
    parser.add_argument("--passages", type=int, default=100_000, help="how many there are at least")
    given = parser.parse_args()
    commit = commit_here()
    system = system_of(load_settings({}))
    corpora = texts(given.data)
    documents = list(chain.from_iterable(each.documents for each in corpora))
    questions = [question.text for each in corpora for question in each.questions]
    with ExitStack() as stack:
        kept = kept_in_memory("trip", documents, system, stack, printed)
    with tempfile.TemporaryDirectory() as folder, locked(Path(folder)):
        manifest = system.manifest(EMBEDDED_SCALE, keeps_ids=True)
        with Collection.create(Path(folder), manifest) as collection:
            copies = filled(collection, kept.documents, system, given.passages)
            passages = collection.store.count_passages()
            taken = seconds(collection, system.encoder, questions)
    hybrid, dense = taken["hybrid"], taken["dense"]
    result = {
        "provenance": provenance_of(system, {}, commit).model_dump(mode="json"),
        "seed": SEED,
        "passages": passages,
        "copies": copies,
        "questions": len(hybrid),
        "threads": torch.get_num_threads(),
        "milliseconds": {
            way: {str(q): round(1e3 * float(np.quantile(each, q)), 2) for q in (0.5, 0.9, 0.99)}
            for way, each in taken.items()
        },
        "ratio": asdict(paired_ratio(hybrid, dense)),
        "median_ratio": round(float(np.median(np.divide(hybrid, dense))), 3),
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
