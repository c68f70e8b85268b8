"""How often a question's own document comes first, by sanitizing method and by way of searching.

``python -m benchmarks.searching DATA`` measures dialogues and visits that are asked for by the openings of
their notes, mails that are asked for by their subjects, and court cases by a sentence of theirs, and writes
``benchmarks/results/searching.json.gz`` with the rank for every question. Documents of the part that the
defaults of ``retrieval.search`` were chosen on are left out; ``--chosen-on``
measures that part, with a grid of weights, into ``searching_chosen.json.gz``. ``--corpus NAME`` measures one,
and keeps what the file has of the others.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.compose import system_of
from app.settings.load import load_settings
from benchmarks.kept import read, write_packed
from eval.corpora.corpus import Corpus, Question, Selection
from eval.corpora.loaders import SPLIT, load
from eval.corpora.seen import ACI, MTS, held_out
from eval.experiment import SanitizedCorpus, Shelf, indexed, kept_in_memory, stored
from eval.measures.uncertainty import mean_of, paired_ratio, share_of
from eval.prepared import prepared
from eval.progress import Progress
from eval.provenance import commit_here, provenance_of
from eval.studies.marks.methods import FURTHER_DRAWS, LETHE, ORIGIN, systems
from eval.targets import reading_once
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Encoder, OverEncoder, Sanitizer
from models.encoders.e5 import E5Small
from models.encoders.minilm import MiniLM
from models.encoders.numbers import fastest
from models.vectors import Vectors
from retrieval.search import HYBRID, PLAIN, Search
from retrieval.system import System

RESULTS = Path(__file__).parent / "results"
SEED, CHOSEN_SEED = 2, 1
AESLC = "aeslc"
MAILS, CHOSEN_DOCUMENTS = 320, {MTS: 340, AESLC: 260}
FOLDERS = {MTS: MTS, ACI: ACI, AESLC: f"noncommercial/{AESLC}", "tab": "tab"}
"""Of dialogues and visits the test splits are measured: defaults of the policy were chosen on the others."""
DEPTH = 10
ONE_VECTOR = f"one vector, MiniLM to {MiniLM.max_tokens} pieces"
ONE_E5 = f"one vector, e5 to {E5Small.max_tokens} pieces"
BASELINES = (ONE_VECTOR, ONE_E5, "hybrid")
"""What a user would do with unsanitized documents. Both encoders read as far as they were made for."""
WAYS = {"bare passages": PLAIN, "words first": replace(HYBRID, words=1e3), "hybrid": HYBRID}
WITH_E5 = "hybrid, e5"
TWO_VIEWS = "hybrid, question sanitized too"
GRID = {
    f"words {words:g}, document {document:g}": Search(words, document)
    for words in (0.25, 0.5, 0.75, 1.0)
    for document in (0.0, 0.5, 1.0)
}


@dataclass(frozen=True, slots=True)
class TwoViews(OverEncoder):
    """``encoder`` with the mean vector of a question and of its sanitized form."""

    sanitized: Mapping[str, str] = field(repr=False)

    @property
    def name(self) -> str:
        """The name of the encoder, with the views."""
        return f"{self.encoder.name}, two views"

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


@dataclass(frozen=True, slots=True)
class Found:
    """For each question the rank of its own document from 1, 0 if it is not found, and what comes first."""

    ranks: Sequence[int]
    firsts: Sequence[str] = field(repr=False)


def by_passages(
    questions: Sequence[Question], kept: SanitizedCorpus, encoder: Encoder, system: System
) -> Found:
    """Documents by their best passage, among the first ``DEPTH`` passages."""
    with ExitStack() as stack:
        store = stored(kept.documents, encoder, system, stack)
        retriever = indexed(Shelf(store, system.passage_tokens, system.search), encoder)
        found = retriever.retrieve([each.text for each in questions], DEPTH)
    ids = [list(dict.fromkeys(each.passage.doc_id for each in passages)) for passages in found]
    return Found(
        [
            those.index(question.about) + 1 if question.about in those else 0
            for question, those in zip(questions, ids, strict=True)
        ],
        [next(iter(those), "") for those in ids],
    )


def by_vector(
    questions: Sequence[Question],
    kept: SanitizedCorpus,
    encoder: Encoder,
    prefixes: tuple[str, str] = ("", ""),
) -> Found:
    """Documents by one vector for each, of as much of it as the encoder reads.

    ``prefixes`` go before questions and documents.
    """
    rows = encoder.encode([prefixes[1] + each.text for each in kept.documents])
    place = {each.doc_id: number for number, each in enumerate(kept.documents)}
    similar = encoder.encode([prefixes[0] + each.text for each in questions]) @ rows.T
    return Found(
        [
            1 + int((row > row[place[question.about]]).sum()) if question.about in place else 0
            for question, row in zip(questions, similar, strict=True)
        ],
        [kept.documents[int(row.argmax())].doc_id for row in similar],
    )


def measured(
    system: System, corpus: Corpus, ways: Mapping[str, Search], progress: Progress
) -> Iterator[tuple[str, dict[str, Found]]]:
    """What is found by way of searching, for each method; the unsanitized documents come first."""
    ready = prepared(system, replace(corpus, gold=None), progress)
    encoder, e5 = reading_once(system.encoder), reading_once(E5Small(numbers=fastest()))
    asked = [question for question in corpus.questions if question.about]
    sanitizer = replace(system, scale=ready.scale).sanitizer()
    views = TwoViews(encoder, sanitized_questions(asked, sanitizer))
    once = {name: each for name, each in systems(ready, SEED).items() if name not in FURTHER_DRAWS}
    for name, each in once.items():
        with ExitStack() as stack:
            kept = kept_in_memory(name, corpus.documents, each, stack, progress)
        found = {
            ONE_VECTOR: by_vector(asked, kept, encoder),
            ONE_E5: by_vector(asked, kept, e5, ("query: ", "passage: ")),
        }
        for way, search in ways.items():
            found[way] = by_passages(asked, kept, encoder, replace(system, search=search))
        found[WITH_E5] = by_passages(asked, kept, e5, system)
        found[TWO_VIEWS] = by_passages(asked, kept, views, system)
        yield name, found


def first(found: Sequence[int]) -> Any:
    """The share of questions whose document comes first, with Wilson's interval."""
    return share_of(sum(rank == 1 for rank in found), len(found))


def summary(rows: Mapping[str, Mapping[str, Found]]) -> dict[str, Any]:
    """Shares by method and way, ratios to ``BASELINES`` over unsanitized documents, and Recall@1 overlap."""
    original, ours = rows[ORIGIN], rows[LETHE]

    def hits(found: Found) -> list[float]:
        return [float(rank == 1) for rank in found.ranks]

    def overlap(found: Found, way: str) -> list[float]:
        return [float(one == other) for one, other in zip(found.firsts, original[way].firsts, strict=True)]

    return {
        method: {
            way: {
                "first": asdict(first(found.ranks)),
                "reciprocal_rank": asdict(mean_of([1 / rank if rank else 0.0 for rank in found.ranks])),
                "of_unsanitized": {
                    base: asdict(paired_ratio(hits(found), hits(original[base]))) for base in BASELINES
                },
                "overlap": asdict(mean_of(overlap(found, way))),
                "overlap_minus_trip": asdict(
                    mean_of(
                        [
                            one - other
                            for one, other in zip(overlap(found, way), overlap(ours[way], way), strict=True)
                        ]
                    )
                ),
            }
            for way, found in ways.items()
        }
        for method, ways in rows.items()
    }


def corpora(data: Path, chosen_on: bool, only: str | None = None) -> Iterator[Corpus]:
    """The corpora: the part that the defaults were chosen on, or what is left without it."""
    for name, folder in FOLDERS.items():
        if only not in (None, name):
            continue
        most = CHOSEN_DOCUMENTS.get(name)
        chosen = Selection(CHOSEN_SEED, most, most, split="train" if name == MTS else None)
        if chosen_on:
            if most is not None:
                yield load(name, data / folder, chosen)
        elif name == AESLC:
            seen = {each.doc_id for each in load(name, data / folder, chosen).documents}
            yield _without(
                load(name, data / folder, Selection(SEED, MAILS + len(seen), MAILS + len(seen))), seen
            )
        else:
            split = "test" if name in SPLIT else None
            yield held_out(data, load(name, data / folder, Selection(SEED, split=split)))


def _without(corpus: Corpus, seen: AbstractSet[str]) -> Corpus:
    """At most ``MAILS`` documents that are not among the seen ones, and the questions about them."""
    documents = [each for each in corpus.documents if each.doc_id not in seen][:MAILS]
    ids = {each.doc_id for each in documents}
    return replace(
        corpus, documents=documents, questions=[each for each in corpus.questions if each.about in ids]
    )


def printed(phase: str, done: int, total: int | None) -> None:
    """Progress on standard error."""
    print(f"{phase}: {done} of {total}", file=sys.stderr, flush=True)


def main() -> None:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description="Own document first, by method and by way of searching.")
    parser.add_argument("data", type=Path, help="the folder of the public corpora")
    parser.add_argument("--chosen-on", action="store_true", help="the part that the weights were chosen on")
    parser.add_argument("--corpus", choices=sorted(FOLDERS), help="measure one alone")
    given = parser.parse_args()
    system, commit = system_of(load_settings({})), commit_here()
    path = RESULTS / f"searching{'_chosen' if given.chosen_on else ''}.json.gz"
    result: dict[str, Any] = json.loads(read(path))["corpora"] if given.corpus else {}
    ways = WAYS | GRID if given.chosen_on else WAYS
    for corpus in corpora(given.data, given.chosen_on, given.corpus):
        made = provenance_of(system, {"search": str(HYBRID)}, commit).model_dump(mode="json")
        rows = dict(measured(system, corpus, ways, printed))
        asked = [each.question_id for each in corpus.questions if each.about]
        result[corpus.name] = {
            "documents": len(corpus.documents),
            "questions": len(asked),
            "split": corpus.split,
            "provenance": made,
            "summary": summary(rows),
            "ranks": {
                "questions": asked,
                **{
                    method: {way: found.ranks for way, found in each.items()} for method, each in rows.items()
                },
            },
        }
        seed = CHOSEN_SEED if given.chosen_on else SEED
        write_packed(path, json.dumps({"provenance": made, "seed": seed, "corpora": result}))


if __name__ == "__main__":
    main()
