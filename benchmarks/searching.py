"""How often a question's own document comes first, by sanitizing method and by way of searching.

``python -m benchmarks.searching DATA`` measures dialogues that are asked for by the openings of their notes,
and mails that are asked for by their subjects, and writes ``benchmarks/results/searching.json.gz`` with the
rank for every question. Documents of the part that the defaults of ``retrieval.search`` were chosen on are
left out; ``--chosen-on`` measures that part, with a grid of weights, into ``searching_chosen.json.gz``.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.compose import system_of
from app.settings.load import load_settings
from benchmarks.kept import write_packed
from eval.corpora.corpus import Corpus, Question, Selection
from eval.corpora.loaders import load
from eval.experiment import SanitizedCorpus, indexed, kept_in_memory
from eval.measures.uncertainty import mean_of, paired_ratio, share_of
from eval.prepared import prepared
from eval.progress import Progress
from eval.provenance import commit_here, provenance_of
from eval.studies.marks.methods import FURTHER_DRAWS, systems
from eval.targets import reading_once
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Encoder, Sanitizer
from models.vectors import Vectors
from retrieval.search import DENSE, HYBRID, PLAIN, Search
from retrieval.system import System

RESULTS = Path(__file__).parent / "results"
SEED, CHOSEN_SEED = 2, 1
DOCUMENTS, CHOSEN_DOCUMENTS = 320, {"mts_dialog": 340, "aeslc": 260}
FOLDERS = {"mts_dialog": "mts_dialog", "aeslc": "noncommercial/aeslc"}
DEPTH = 10
ONE_VECTOR = "one vector a document"
WAYS = {
    "bare passages": PLAIN,
    "without descriptors": replace(PLAIN, left_out=True),
    "and with the document": DENSE,
    "words first": replace(HYBRID, words=1e3),
    "hybrid with descriptors": replace(HYBRID, left_out=False),
    "hybrid": HYBRID,
}
TWO_VIEWS = "hybrid, question sanitized too"
GRID = {
    f"words {words:g}, document {document:g}": Search(words, document)
    for words in (0.25, 0.5, 0.75, 1.0)
    for document in (0.0, 0.5, 1.0)
}


@dataclass(frozen=True, slots=True)
class TwoViews:
    """``encoder`` with the mean vector of a question and of its sanitized form."""

    encoder: Encoder
    sanitized: Mapping[str, str] = field(repr=False)

    @property
    def name(self) -> str:
        """The name of the encoder, with the views."""
        return f"{self.encoder.name}, two views"

    @property
    def dim(self) -> int:
        """That of the encoder."""
        return self.encoder.dim

    @property
    def max_tokens(self) -> int:
        """That of the encoder."""
        return self.encoder.max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Those of the encoder."""
        return self.encoder.token_spans(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (n, dim)."""
        total = self.encoder.encode(texts)
        total = total + self.encoder.encode([self.sanitized.get(text, text) for text in texts])
        found: Vectors = total / np.linalg.norm(total, axis=1, keepdims=True)
        return found


def sanitized_questions(questions: Sequence[Question], sanitizer: Sanitizer) -> dict[str, str]:
    """The sanitized form of each question, as a remote model would read it."""
    outcomes = sanitizer.sanitize([Document(each.question_id, each.text) for each in questions])
    found = {}
    for question, outcome in zip(questions, outcomes, strict=True):
        if not isinstance(outcome, SanitizedDocument):
            raise outcome
        found[question.text] = outcome.text
    return found


def ranks(
    questions: Sequence[Question], kept: SanitizedCorpus, encoder: Encoder, system: System
) -> list[int]:
    """For each question the rank of its document from 1, by its best passage; 0 below ``DEPTH`` passages."""
    with ExitStack() as stack:
        retriever = indexed(kept.documents, encoder, system, stack)
        found = retriever.retrieve([each.text for each in questions], DEPTH)
    return [
        ids.index(question.about) + 1 if question.about in ids else 0
        for question, passages in zip(questions, found, strict=True)
        for ids in [list(dict.fromkeys(each.passage.doc_id for each in passages))]
    ]


def ranks_of_documents(questions: Sequence[Question], kept: SanitizedCorpus, encoder: Encoder) -> list[int]:
    """The same with one vector for each document, of as much of it as the encoder reads."""
    rows = encoder.encode([each.text for each in kept.documents])
    place = {each.doc_id: number for number, each in enumerate(kept.documents)}
    similar = encoder.encode([each.text for each in questions]) @ rows.T
    return [
        1 + int((row > row[place[question.about]]).sum()) if question.about in place else 0
        for question, row in zip(questions, similar, strict=True)
    ]


def measured(
    system: System, corpus: Corpus, ways: Mapping[str, Search], progress: Progress
) -> Iterator[tuple[str, dict[str, list[int]]]]:
    """The ranks by way of searching, for each method."""
    ready = prepared(system, replace(corpus, gold=None), progress)
    encoder = reading_once(system.encoder)
    asked = [question for question in corpus.questions if question.about]
    sanitizer = replace(system, scale=ready.scale).sanitizer()
    views = TwoViews(encoder, sanitized_questions(asked, sanitizer))
    once = {name: each for name, each in systems(ready, SEED).items() if name not in FURTHER_DRAWS}
    for name, each in once.items():
        with ExitStack() as stack:
            kept = kept_in_memory(name, corpus.documents, each, stack, progress)
        found = {ONE_VECTOR: ranks_of_documents(asked, kept, encoder)}
        for way, search in ways.items():
            found[way] = ranks(asked, kept, encoder, replace(system, search=search))
        found[TWO_VIEWS] = ranks(asked, kept, views, system)
        yield name, found


def first(found: Sequence[int]) -> Any:
    """The share of questions whose document comes first, with Wilson's interval."""
    return share_of(sum(rank == 1 for rank in found), len(found))


def summary(rows: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[str, Any]:
    """Shares found first, mean reciprocal ranks, and paired ratios to one vector of the original document."""
    base = [float(rank == 1) for rank in rows["origin"][ONE_VECTOR]]
    return {
        method: {
            way: {
                "first": asdict(first(found)),
                "reciprocal_rank": asdict(mean_of([1 / rank if rank else 0.0 for rank in found])),
                "of_one_unsanitized_vector": asdict(paired_ratio([float(r == 1) for r in found], base)),
            }
            for way, found in ways.items()
        }
        for method, ways in rows.items()
    }


def corpora(data: Path, chosen_on: bool) -> Iterator[Corpus]:
    """The corpora: the part that the defaults were chosen on, or what is left without it."""
    for name, folder in FOLDERS.items():
        split = ("train" if chosen_on else "test") if name == "mts_dialog" else None
        most = CHOSEN_DOCUMENTS[name]
        chosen = Selection(CHOSEN_SEED, most_documents=most, most_questions=most, split=split)
        if chosen_on:
            yield load(name, data / folder, chosen)
            continue
        seen = set() if split else {each.doc_id for each in load(name, data / folder, chosen).documents}
        most = DOCUMENTS + len(seen)
        corpus = load(
            name, data / folder, Selection(SEED, most_documents=most, most_questions=most, split=split)
        )
        documents = [each for each in corpus.documents if each.doc_id not in seen][:DOCUMENTS]
        ids = {each.doc_id for each in documents}
        yield replace(
            corpus,
            documents=documents,
            questions=[each for each in corpus.questions if each.about in ids],
        )


def printed(phase: str, done: int, total: int | None) -> None:
    """Progress on standard error."""
    print(f"{phase}: {done} of {total}", file=sys.stderr, flush=True)


def main() -> None:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description="Own document first, by method and by way of searching.")
    parser.add_argument("data", type=Path, help="the folder of the public corpora")
    parser.add_argument("--chosen-on", action="store_true", help="the part that the weights were chosen on")
    given = parser.parse_args()
    system, commit = system_of(load_settings({})), commit_here()
    result: dict[str, Any] = {}
    ways = WAYS | GRID if given.chosen_on else WAYS
    for corpus in corpora(given.data, given.chosen_on):
        rows = dict(measured(system, corpus, ways, printed))
        asked = [each.question_id for each in corpus.questions if each.about]
        result[corpus.name] = {
            "documents": len(corpus.documents),
            "questions": len(asked),
            "split": corpus.split,
            "summary": summary(rows),
            "ranks": {"questions": asked, **rows},
        }
    made = provenance_of(system, {"search": str(HYBRID)}, commit).model_dump(mode="json")
    name = "searching_chosen" if given.chosen_on else "searching"
    content = {"provenance": made, "seed": SEED, "corpora": result}
    write_packed(RESULTS / f"{name}.json.gz", json.dumps(content))


if __name__ == "__main__":
    main()
