"""How long a search takes as a collection grows, beside FAISS alone on the same vectors.

``python -m benchmarks.search_scale DATA --passages 10000`` fills a collection on disk, asks the questions of
the public corpora, and puts the figures of this size into ``benchmarks/results/search_scale.json``. What is
there of other sizes stays.

The first passages are those of real dialogues and mails, cut and encoded. All others are copies in which a
share of the words is another of the corpus's words, drawn as often as it occurs there: so all texts differ,
and each word stands in the share of passages that it stands in there. Encoding a million of them would take
hours. A copy's vector is the real one, moved along the difference of two other real vectors, so far that the
mean cosine is that of some copies which are encoded. So vectors stay among the directions that real ones
take.

Ways take turns with each question. FAISS alone is asked for as many vectors as the store asks for, in the
same index and with the question's vector given. The store is asked with the vector given too, and with the
encoder's time, and remembers how common words are, as it does while nothing is written.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from app.compose import encoder_of
from app.settings.load import load_settings
from benchmarks.searching import CHOSEN_DOCUMENTS, FOLDERS, SEED, printed
from eval.corpora.corpus import Selection
from eval.corpora.loaders import load
from eval.measures.uncertainty import paired_ratio
from eval.provenance import commit_here, provenance_here
from ingest.deciding.policy import Policy
from ingest.documents import Arrival, Risk, SanitizedDocument
from ingest.protocols import Encoder
from ingest.scoring.scale import EMBEDDED_SCALE
from models.vectors import Vectors
from retrieval.collection import Collection, add_vectors, locked, noted
from retrieval.index.faiss import FaissIndex
from retrieval.manifest import Manifest
from retrieval.passages import cut
from retrieval.retriever import HybridRetriever
from retrieval.search import DENSE, HYBRID, NEAREST
from retrieval.store.database import Cut, CutDocument

RESULT = Path(__file__).parent / "results" / "search_scale.json"
DOCUMENTS, ASKED, WARM_UP, K = 800, 150, 5, 5
"""Of each corpus: the documents that are copied, and the questions; of all questions the warm-up."""
PASSAGE_TOKENS, BATCH, COMPARED = 128, 64, 300
SWAPPED = 0.25
"""The share of a copy's words that are others."""


# -- texts and vectors -------------------------------------------------------------------------------------


class Copies:
    """Documents that differ from the real ones and from each other, without end."""

    def __init__(self, real: Sequence[CutDocument], encoder: Encoder) -> None:
        self._real = real
        self._vectors = np.concatenate([each.vectors for each in real])
        self._generator = np.random.default_rng(SEED)
        self._words = [word for each in real for passage in each.passages for word in passage.text.split()]
        self.cosine = self._cosine_of_copies(encoder)
        self._length = self._fitted()

    def batch(self, documents: Sequence[CutDocument]) -> list[CutDocument]:
        """A copy of each."""
        moved = self._moved(np.concatenate([each.vectors for each in documents]), self._length)
        ends = np.cumsum([len(each.passages) for each in documents])
        return [
            _copy(each.document, [self._changed(passage) for passage in each.passages], rows)
            for each, rows in zip(documents, np.split(moved, ends[:-1]), strict=True)
        ]

    def _changed(self, passage: Cut) -> Cut:
        words = passage.text.split()
        swapped = np.flatnonzero(self._generator.random(len(words)) < SWAPPED)
        others = self._generator.integers(0, len(self._words), len(swapped))
        for place, other in zip(swapped.tolist(), others.tolist(), strict=True):
            words[place] = self._words[other]
        text = " ".join(words)
        return Cut(passage.span, text, text)

    def _moved(self, vectors: Vectors, length: float) -> Vectors:
        one, other = self._generator.integers(0, len(self._vectors), (2, len(vectors)))
        moved = vectors + length * (self._vectors[one] - self._vectors[other])
        norms = np.linalg.norm(vectors, axis=1) / np.linalg.norm(moved, axis=1)
        of_the_same_norm: Vectors = (moved * norms[:, None]).astype(np.float32)
        return of_the_same_norm

    def _cosine_of_copies(self, encoder: Encoder) -> float:
        """The mean cosine of some passages and their copies, both encoded."""
        passages = [passage for each in self._real for passage in each.passages]
        chosen = [passages[i] for i in self._generator.integers(0, len(passages), COMPARED)]
        before = encoder.encode([each.text for each in chosen])
        after = encoder.encode([self._changed(each).text for each in chosen])
        return float((before * after).sum(1).mean())

    def _fitted(self) -> float:
        low, high = 0.0, 4.0
        for _ in range(30):
            middle = (low + high) / 2
            moved = self._moved(self._vectors, middle)
            cosines = (moved * self._vectors).sum(1) / (np.linalg.norm(self._vectors, axis=1) ** 2)
            low, high = (middle, high) if cosines.mean() > self.cosine else (low, middle)
        return low


def _copy(document: SanitizedDocument, passages: Sequence[Cut], vectors: Vectors) -> CutDocument:
    """As it would be stored."""
    return CutDocument(document, passages, vectors)


def real_documents(
    data: Path, encoder: Encoder, most: int = DOCUMENTS
) -> tuple[list[CutDocument], list[str]]:
    """Up to ``most`` documents of each corpus, cut as they are, and their questions."""
    chosen = Selection(SEED, most, ASKED)
    corpora = [load(name, data / FOLDERS[name], chosen) for name in CHOSEN_DOCUMENTS]
    unchanged = [
        SanitizedDocument(each.doc_id, each.text, (), (), Risk(0.0, 0.0, "none"), "none", 0)
        for each in chain.from_iterable(corpus.documents for corpus in corpora)
    ]
    documents = []
    for first in range(0, len(unchanged), BATCH):
        documents += cut(unchanged[first : first + BATCH], encoder, PASSAGE_TOKENS, HYBRID)
    return documents, [question.text for corpus in corpora for question in corpus.questions]


def fill(collection: Collection, real: Sequence[CutDocument], copies: Copies, least: int) -> None:
    """Store the real documents, then copies, until there are ``least`` passages."""
    store, kept, number = collection.store, 0, 0
    job = store.start_job()
    while kept < least:
        number += 1
        for first in range(0, len(real), BATCH):
            some = real[first : first + BATCH]
            batch = some if number == 1 else copies.batch(some)
            names = [f"{number}/{each.document.doc_id}" for each in batch]
            store.write(job, [(Arrival(n, n.encode()), each) for n, each in zip(names, batch, strict=True)])
            kept += sum(len(each.passages) for each in batch)
            if kept >= least:
                break
        printed("passages", kept, least)


# -- measuring ---------------------------------------------------------------------------------------------


class Given:
    """An encoder that has encoded the questions already."""

    def __init__(self, encoder: Encoder, questions: Sequence[str]) -> None:
        self.name, self.dim, self.max_tokens = encoder.name, encoder.dim, encoder.max_tokens
        self.token_spans = encoder.token_spans
        self._rows = dict(zip(questions, encoder.encode(questions), strict=True))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The rows of these questions."""
        return np.stack([self._rows[text] for text in texts])


def timed(ways: Mapping[str, Callable[[str], object]], questions: Sequence[str]) -> dict[str, list[float]]:
    """For each way the seconds of each question, warm-up left out; the ways take turns."""
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number, question in enumerate(questions):
        for way in sorted(ways, reverse=number % 2 == 0):
            started = time.perf_counter()
            ways[way](question)
            taken[way].append(time.perf_counter() - started)
    return {way: each[WARM_UP:] for way, each in taken.items()}


def ways_of(
    collection: Collection, index: FaissIndex, encoder: Encoder, questions: Sequence[str]
) -> dict[str, Callable[[str], object]]:
    """FAISS alone, and the store by vectors and by both, with and without the encoder."""
    given = Given(encoder, questions)
    alone = vars(index)["_index"]

    def faiss(question: str) -> object:
        return alone.search(given.encode([question]), NEAREST)

    def store(by: Encoder, search: Any) -> Callable[[str], object]:
        retriever = HybridRetriever(by, index, collection.store, search)
        return lambda question: retriever.retrieve([question], K)

    return {
        "faiss": faiss,
        "dense": store(given, DENSE),
        "hybrid": store(given, HYBRID),
        "dense and encoder": store(encoder, DENSE),
        "hybrid and encoder": store(encoder, HYBRID),
    }


def figures(taken: Mapping[str, Sequence[float]], alone: Sequence[float]) -> dict[str, object]:
    """Quantiles in milliseconds, and how many times the seconds of FAISS alone."""
    return {
        way: {
            "milliseconds": {str(q): round(1e3 * float(np.quantile(each, q)), 2) for q in (0.5, 0.9, 0.99)},
            "mean": round(1e3 * float(np.mean(each)), 2),
            "times": asdict(paired_ratio(each, alone)),
        }
        for way, each in taken.items()
    }


def recall(exact: FaissIndex, grouped: FaissIndex, queries: Vectors, k: int) -> float:
    """The share of the ``k`` nearest that the second finds too; equal similarities count as found."""
    pairs = zip(exact.search(queries, k), grouped.search(queries, k), strict=True)
    shares = [
        sum(similarity >= wanted[-1][1] - 1e-6 for _, similarity in found) / len(wanted)
        for wanted, found in pairs
    ]
    return round(float(np.mean(shares)), 4)


def clocked(work: Callable[[], object]) -> tuple[Any, float]:
    """What it returns, and its seconds."""
    started = time.perf_counter()
    made = work()
    return made, round(time.perf_counter() - started, 1)


def memory() -> int:
    """Megabytes that this process has at present."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() >> 20


def measured(folder: Path, data: Path, passages: int, encoder: Encoder) -> dict[str, object]:
    """All figures of one size."""
    real, questions = real_documents(data, encoder)
    copies = Copies(real, encoder)
    made = Manifest(
        "", encoder.name, encoder.dim, PASSAGE_TOKENS, "none", "none", Policy("redact"),
        EMBEDDED_SCALE, "0",
    )  # fmt: skip
    with locked(folder), Collection.create(folder, made) as collection:
        _, writing = clocked(lambda: fill(collection, real, copies, passages))
        _, publishing = clocked(collection.publish)
        published = noted(collection.store).get("lists")
        before = memory()
        loaded, loading = clocked(collection.load_index)
        used = memory() - before
        exact = FaissIndex(encoder.dim)
        add_vectors(collection.store, exact, after=0)
        if published:
            grouped, grouping, seconds = loaded, published, None
        else:
            grouped = FaissIndex(encoder.dim)
            add_vectors(collection.store, grouped, after=0)
            found, seconds = clocked(grouped.group)
            grouping = asdict(found)
        queries = encoder.encode(questions)
        ways = {
            f"{kind}: {way}": ask
            for kind, index in (("exact", exact), ("grouped", grouped))
            for way, ask in ways_of(collection, index, encoder, questions).items()
        }
        taken = timed({**ways, "encoder": lambda question: encoder.encode([question])}, questions)
        return {
            "passages": collection.store.count_passages(),
            "real": sum(len(each.passages) for each in real),
            "cosine of a copy": round(copies.cosine, 3),
            "questions": len(questions) - WARM_UP,
            "published": "grouped" if published else "exact",
            "seconds": {
                "writing": writing, "publishing": publishing, "loading": loading, "grouping": seconds,
            },
            "megabytes": {
                "database": (folder / "collection.db").stat().st_size >> 20,
                "index file": (folder / "vectors.faiss").stat().st_size >> 20,
                "loaded index": used,
                "most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
            },
            "grouping": grouping,
            "recall": {str(k): recall(exact, grouped, queries, k) for k in (10, NEAREST)},
            "exact": figures(*_of(taken, "exact")),
            "grouped": figures(*_of(taken, "grouped")),
            "encoder": figures({"encoder": taken["encoder"]}, taken["exact: faiss"])["encoder"],
        }  # fmt: skip


def _of(taken: Mapping[str, list[float]], kind: str) -> tuple[dict[str, list[float]], list[float]]:
    own = {way.partition(": ")[2]: each for way, each in taken.items() if way.startswith(f"{kind}:")}
    return own, own["faiss"]


def main() -> None:
    """Measure one size, and put its figures among the others."""
    import torch

    parser = argparse.ArgumentParser(description="Milliseconds of a search as the collection grows.")
    parser.add_argument("data", type=Path, help="the folder of the public corpora")
    parser.add_argument("--passages", type=int, default=10_000, help="how many there are at least")
    given = parser.parse_args()
    commit = commit_here()
    encoder = encoder_of(load_settings({}))
    with tempfile.TemporaryDirectory() as folder:
        size = measured(Path(folder), given.data, given.passages, encoder)
    told = {"encoder": encoder.name, "threads": str(torch.get_num_threads())}
    entry = {"provenance": provenance_here(told, commit).model_dump(mode="json"), "seed": SEED, **size}
    found: dict[str, object] = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    sizes = {**found, str(given.passages): entry}
    ordered = {name: sizes[name] for name in sorted(sizes, key=int)}
    RESULT.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(entry))


if __name__ == "__main__":
    main()
