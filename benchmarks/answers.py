"""Do answers without a language model hold the answer? Questions over invented passages that were put aside.

``python -m benchmarks.answers`` sanitizes the English passages of the part ``aside`` with the system of the
settings, asks the questions of ``answer_questions.jsonl`` and writes ``benchmarks/results/answers.json``. The
questions were written by readers of sanitized passages, in other words than these have. By those of the part
``chosen`` the limits of the generator were chosen; those of the part ``apart`` only measure.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.compose import system_of
from app.settings.load import load_settings
from eval.experiment import kept_in_memory
from eval.measures.uncertainty import share_of
from eval.progress import no_progress
from eval.provenance import provenance_of
from ingest.documents import Document, SanitizedDocument
from ingest.language.sentences import quotable_spans
from ingest.spans import moved
from models.corpora.passages import passages
from models.training.answers import covers
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer
from retrieval.generators.extractive import quoted
from retrieval.system import System
from retrieval.writing import whole

HERE = Path(__file__).parent
QUESTIONS, RESULTS = HERE / "answer_questions.jsonl", HERE / "results" / "answers.json"
SEED = 0
"""Nothing here is drawn; the seed stands for that in the results."""


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question, the passage that answers it, and the places there of what answers, of which one is enough.

    ``document`` is None and ``answers`` is empty where nothing answers.
    """

    id: str
    part: str
    question: str = field(repr=False)
    document: str | None
    answers: Sequence[tuple[int, int]]


def questions_in(path: Path) -> list[GoldQuestion]:
    """The questions of a file.

    Raises:
        ValueError: An id stands twice, or a question has an answer without a document or the reverse.
    """
    found = [GoldQuestion(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    if len({each.id for each in found}) < len(found):
        raise ValueError(f"{path.name}: an id stands twice")
    for each in found:
        if (each.document is None) == bool(each.answers):
            raise ValueError(f"{path.name}, {each.id}: give answers and their document, or neither")
    return found


def gold_in(document: SanitizedDocument, answers: Sequence[tuple[int, int]]) -> list[str]:
    """The sentences of a sanitized document that lie at places of the original, as they are quoted."""
    edits = sorted(
        (decision.entity.span.start, decision.entity.span.end, *place)
        for decision, place in zip(document.decisions, document.places, strict=True)
    )
    found = []
    for start, end in answers:
        first, last = moved(start, edits, after=False), moved(end, edits, after=True)
        for one, other in quotable_spans(document.text):
            if covers((one, other), (first, last)):
                found.append(quoted(document.text, (one, other)))
    return found


def row_of(gold: GoldQuestion, answer: Answer, sentences: Sequence[str]) -> dict[str, Any]:
    """What became of a question; ``sentences`` are those that answer it."""
    cited = list(dict.fromkeys(citation.doc_id for citation in answer.citations))
    retrieved = list(dict.fromkeys(found.passage.doc_id for found in answer.passages))
    refused = answer.text == NO_ANSWER
    return {
        "id": gold.id,
        "part": gold.part,
        "question": gold.question,
        "document": gold.document,
        "gold": list(sentences),
        "answer": answer.text,
        "refused": refused,
        "retrieved": gold.document in retrieved,
        "cited": gold.document in cited,
        "only": cited == [gold.document],
        "holds": gold.document in cited and any(each in answer.text for each in sentences),
    }


def shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares of questions with Wilson's intervals; the last is of questions that nothing answers."""
    answered = [row for row in rows if row["document"] is not None]
    without = [row for row in rows if row["document"] is None]
    return {
        "right sentence": _share(row["holds"] for row in answered),
        "right document": _share(row["cited"] for row in answered),
        "no other document": _share(row["only"] for row in answered),
        "right document read": _share(row["retrieved"] for row in answered),
        "refused though answered": _share(row["refused"] for row in answered),
        "says so when there is none": _share(row["refused"] for row in without),
    }


def _share(hits: Iterable[bool]) -> dict[str, Any]:
    found = list(hits)
    return asdict(share_of(sum(found), len(found)))


def asked(system: System, questions: Sequence[GoldQuestion]) -> list[dict[str, Any]]:
    """Sanitize and index the passages in memory, and ask every question; one row each, in order."""
    documents = [Document(each.name, each.text) for each in passages("aside") if each.language == "English"]
    with ExitStack() as stack:
        kept = kept_in_memory("answers", documents, system, stack, no_progress)
        sanitized = {each.doc_id: each for each in kept.documents}
        found = kept.retriever(system.encoder).retrieve([each.question for each in questions], system.k)
        return [
            row_of(
                gold,
                whole(system.generator.write(gold.question, some)),
                gold_in(sanitized[gold.document], gold.answers) if gold.document in sanitized else [],
            )
            for gold, some in zip(questions, found, strict=True)
        ]


def main() -> None:
    """Ask all questions and write the report."""
    system = system_of(load_settings({}))
    rows = asked(system, questions_in(QUESTIONS))
    made = provenance_of(system, {"seed": str(SEED), "generator": system.generator.name, "k": str(system.k)})
    parts = {part: shares([row for row in rows if row["part"] == part]) for part in ("chosen", "apart")}
    report = {"provenance": made.model_dump(mode="json"), "shares": parts, "rows": rows}
    RESULTS.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(parts, indent=1))


if __name__ == "__main__":
    main()
