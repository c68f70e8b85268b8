"""Which form of a question finds its document in a sanitized index: raw, sanitized, or the mean of both.

``python -m benchmarks.question_views PATH --corpus NAME`` sanitizes a corpus with questions under the policy
of the settings and asks each question in three forms; the figures are added to
``benchmarks/results/question_views.json``.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from app.compose import system_of
from app.settings.load import load_settings
from eval.corpora.corpus import Corpus, Question, Selection
from eval.corpora.loaders import load
from eval.experiment import indexed, kept_in_memory
from eval.measures.uncertainty import mean_of, share_of
from eval.prepared import prepared
from eval.progress import no_progress
from eval.targets import reading_once
from ingest.documents import Document, SanitizedDocument
from ingest.protocols import Encoder, Sanitizer
from models.vectors import Vectors
from retrieval.protocols import Retriever
from retrieval.system import System

RESULTS = Path(__file__).parent / "results" / "question_views.json"
View = Literal["raw", "sanitized", "mean"]
DEPTHS = (1, 5)


@dataclass(frozen=True, slots=True)
class ViewEncoder:
    """``encoder`` with questions in one view; ``sanitized`` maps each question to its sanitized form."""

    encoder: Encoder
    view: View
    sanitized: Mapping[str, str] = field(repr=False)

    @property
    def name(self) -> str:
        """The name of the encoder, with the view."""
        return f"{self.encoder.name}, {self.view} questions"

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
        raw = self.encoder.encode(texts)
        if self.view == "raw":
            return raw
        sanitized = self.encoder.encode([self.sanitized.get(text, text) for text in texts])
        total = sanitized if self.view == "sanitized" else raw + sanitized
        found: Vectors = total / np.linalg.norm(total, axis=1, keepdims=True)
        return found


def figures(system: System, bench: Corpus) -> dict[str, Any]:
    """Recall of the document that each question is about, by view and depth, with 95% intervals."""
    asked = [question for question in bench.questions if question.about]
    ready = prepared(system, replace(bench, gold=None))
    sanitized = views(asked, replace(system, scale=ready.scale).sanitizer())
    encoder, tokens = reading_once(system.encoder), system.passage_tokens
    places: dict[View, list[int]] = {}
    with ExitStack() as stack:
        kept = kept_in_memory("views", bench.documents, ready.system, stack, no_progress)
        for view in get_args(View):
            by_view = ViewEncoder(encoder, view, sanitized)
            places[view] = found_at(asked, indexed(kept.documents, by_view, tokens, stack))
    return {
        "documents": kept.kept,
        "questions": len(asked),
        "questions_changed": sum(text != other for text, other in sanitized.items()),
        "split": bench.split,
        "policy": system.policy.name,
        "recall": {
            view: {str(k): asdict(recall(found, k)) for k in DEPTHS} for view, found in places.items()
        },
        "against_raw": {
            view: {str(k): asdict(gain(found, places["raw"], k)) for k in DEPTHS}
            for view, found in places.items()
            if view != "raw"
        },
    }


def views(questions: Sequence[Question], sanitizer: Sanitizer) -> dict[str, str]:
    """The sanitized form of each question, as a remote model would read it."""
    outcomes = sanitizer.sanitize([Document(each.question_id, each.text) for each in questions])
    found = {}
    for question, outcome in zip(questions, outcomes, strict=True):
        if not isinstance(outcome, SanitizedDocument):
            raise outcome
        found[question.text] = outcome.text
    return found


def found_at(questions: Sequence[Question], retriever: Retriever) -> list[int]:
    """The rank of each question's document from 1; 0 if it is not found."""
    places = []
    for question, passages in zip(
        questions, retriever.retrieve([each.text for each in questions], max(DEPTHS)), strict=True
    ):
        doc_ids = [each.passage.doc_id for each in passages]
        places.append(doc_ids.index(question.about) + 1 if question.about in doc_ids else 0)
    return places


def recall(places: Sequence[int], k: int) -> Any:
    """Recall at ``k`` with Wilson's interval."""
    return share_of(sum(0 < place <= k for place in places), len(places))


def gain(places: Sequence[int], others: Sequence[int], k: int) -> Any:
    """The mean paired difference by question, with its bootstrap interval."""
    pairs = zip(places, others, strict=True)
    return mean_of([float(0 < one <= k) - float(0 < other <= k) for one, other in pairs])


def main() -> None:
    """Measure one corpus and write its figures."""
    parser = argparse.ArgumentParser(description="Recall by the raw question, the sanitized one, and both.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--split")
    parser.add_argument("--documents", type=int)
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    selection = Selection(most_documents=given.documents, most_questions=given.questions, split=given.split)
    result = figures(system_of(load_settings({})), load(given.corpus, given.path, selection))
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(known | {given.corpus: result}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
