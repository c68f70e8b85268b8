"""Do answers without a language model hold the answer? Questions about the bundled, invented demo corpus.

``python -m benchmarks.answers`` ingests the corpus with the system of the settings, asks the questions of
``answer_questions.jsonl`` and adds answers and shares to ``benchmarks/results/answers.json``. With
``--held-out`` it asks those of ``answer_questions_held_out.jsonl``, which nothing was fitted to but which
have been run after several changes; with ``--held-out-2`` those of ``answer_questions_held_out_2.jsonl``,
written later, before the changes that they measure. With ``--fit`` it asks the development questions without
a floor and prints floors, the best first.

Whether an answer holds the gold answer is judged by reading. ``answers_judged.jsonl`` keeps the judgements by
question and digest of the answer: a changed answer counts as not judged until somebody has read it. With
``--judged`` nothing is asked, and the results take in what was judged since.
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from app.compose import system_of
from app.demo.corpus import corpus_path
from app.settings.load import load_settings
from eval.corpora.corpus import Selection
from eval.corpora.loaders import load
from eval.experiment import kept_in_memory
from eval.measures.uncertainty import share_of
from eval.progress import no_progress
from eval.provenance import provenance_of
from ingest.documents import Document
from retrieval.citations import NO_ANSWER
from retrieval.documents import Answer
from retrieval.generators.extractive import ExtractiveGenerator
from retrieval.system import System
from retrieval.writing import whole

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "answers.json"
JUDGED = HERE / "results" / "answers_judged.jsonl"
SEED = 0
"""Nothing here is drawn; the seed stands for that in the results."""

FLOORS = [n / 100 for n in range(20, 66)]
"""What ``--fit`` tries."""

Split = Literal["development", "held out", "held out 2"]
FILES: Mapping[Split, Path] = {
    "development": HERE / "answer_questions.jsonl",
    "held out": HERE / "answer_questions_held_out.jsonl",
    "held out 2": HERE / "answer_questions_held_out_2.jsonl",
}


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question, its answer as it stands in the sanitized text, and the documents that hold it.

    ``answer`` is None and ``documents`` is empty where the corpus does not answer.
    """

    id: str
    question: str
    answer: str | None
    documents: Sequence[str]
    kind: str


def questions_in(path: Path) -> list[GoldQuestion]:
    """The questions of a file.

    Raises:
        ValueError: An id stands twice, or a question has an answer without documents or the reverse.
    """
    found = [GoldQuestion(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    if len({each.id for each in found}) < len(found):
        raise ValueError(f"{path.name}: an id stands twice")
    for each in found:
        if (each.answer is None) == bool(each.documents):
            raise ValueError(f"{path.name}, {each.id}: give an answer and its documents, or neither")
    return found


def digest_of(text: str) -> str:
    """16 hexadecimal digits."""
    return blake2b(text.encode(), digest_size=8).hexdigest()


def judgements(path: Path) -> dict[tuple[str, str], bool]:
    """Whether the answer with a digest holds the gold answer, by question id and digest."""
    if not path.exists():
        return {}
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {(row["id"], row["digest"]): bool(row["holds"]) for row in rows}


def row_of(
    gold: GoldQuestion, answer: Answer, judged: Mapping[tuple[str, str], bool] | None = None
) -> dict[str, Any]:
    """What became of a question; ``holds`` is None if nobody has judged this answer.

    A refusal holds nothing and needs no reader.
    """
    retrieved = list(dict.fromkeys(found.passage.doc_id for found in answer.passages))
    cited = list(dict.fromkeys(citation.doc_id for citation in answer.citations))
    refused, digest = answer.text == NO_ANSWER, digest_of(answer.text)
    holds = False if refused else (judged or {}).get((gold.id, digest))
    return {
        "id": gold.id,
        "kind": gold.kind,
        "question": gold.question,
        "gold": gold.answer,
        "documents": list(gold.documents),
        "retrieved": retrieved,
        "cited": cited,
        "gold_retrieved": bool({*gold.documents} & {*retrieved}),
        "gold_cited": bool({*gold.documents} & {*cited}),
        "refused": refused,
        "answer": answer.text,
        "digest": digest,
        "holds": None if gold.answer is None else holds,
    }


def shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares with Wilson's intervals.

    ``holds the answer`` counts judged answers only; ``retrieved`` and ``cited`` ask for any passage of a
    document that answers; the last counts refusals of what the corpus does not answer.
    """
    answered = [row for row in rows if row["gold"] is not None]
    without = [row for row in rows if row["gold"] is None]
    judged = [row for row in answered if row["holds"] is not None]
    return {
        "questions": len(rows),
        "judged": len(judged),
        "not judged": len(answered) - len(judged),
        "holds the answer": _share(row["holds"] for row in judged),
        "retrieved": _share(row["gold_retrieved"] for row in answered),
        "cited": _share(row["gold_cited"] for row in answered),
        "refused though answered": _share(row["refused"] for row in answered),
        "says so when there is none": _share(row["refused"] for row in without),
    }


def _share(hits: Iterable[bool]) -> dict[str, Any]:
    found = list(hits)
    return asdict(share_of(sum(found), len(found)))


def asked(
    system: System,
    documents: Sequence[Document],
    questions: Sequence[GoldQuestion],
    judged: Mapping[tuple[str, str], bool],
) -> list[dict[str, Any]]:
    """Ingest in memory and ask every question; one row each, in order."""
    with ExitStack() as stack:
        kept = kept_in_memory("answers", documents, system, stack, no_progress)
        found = kept.retriever(system.encoder).retrieve([each.question for each in questions], system.k)
        rows = []
        for gold, passages in zip(questions, found, strict=True):
            row = row_of(gold, whole(system.generator.write(gold.question, passages)), judged)
            if isinstance(system.generator, ExtractiveGenerator):
                row["relevance"] = round(system.generator.best(gold.question, passages), 4)
            rows.append(row)
        return rows


def fitted_floor(rows: Sequence[Mapping[str, Any]]) -> list[tuple[float, float, float]]:
    """Floors, best first, with two shares: right document cited, and refused where none answers.

    The best floor has the largest sum of both; of equal ones the lowest. ``rows`` are of answers without a
    floor.
    """
    answered = [row for row in rows if row["gold"] is not None]
    without = [row for row in rows if row["gold"] is None]
    found = []
    for floor in FLOORS:
        cited = sum(row["gold_cited"] and row["relevance"] >= floor for row in answered)
        refused = sum(row["relevance"] < floor for row in without)
        found.append((floor, cited / len(answered), refused / len(without)))
    return sorted(found, key=lambda each: (-round(each[1] + each[2], 6), each[0]))


def report(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares over all rows and by kind of question, and the rows."""
    kinds = sorted({row["kind"] for row in rows})
    by_kind = {kind: shares([row for row in rows if row["kind"] == kind]) for kind in kinds}
    return {"shares": shares(rows), "by kind": by_kind, "rows": list(rows)}


def rejudged(found: Mapping[str, Any], judged: Mapping[tuple[str, str], bool]) -> dict[str, Any]:
    """The report of a split with today's judgements."""
    rows = [
        row | {"holds": judged.get((row["id"], row["digest"]))}
        if row["gold"] is not None and not row["refused"]
        else row
        for row in found["rows"]
    ]
    return {"provenance": found["provenance"], **report(rows)}


def main() -> None:
    """Ask the questions of one split and write its report."""
    parser = argparse.ArgumentParser(description="Answers of the extractive generator on the demo corpus.")
    parser.add_argument(
        "--held-out", dest="split", action="store_const", const="held out", help="ask the held-out questions"
    )
    parser.add_argument(
        "--held-out-2", dest="split", action="store_const", const="held out 2", help="ask the newer ones"
    )
    parser.add_argument("--fit", action="store_true", help="print the floors, best first")
    parser.add_argument("--judged", action="store_true", help="take in judgements, and ask nothing")
    given = parser.parse_args()
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if given.judged:
        _write({split: rejudged(found, judgements(JUDGED)) for split, found in known.items()})
        return
    split: Split = given.split or "development"
    system = system_of(load_settings({}))
    documents = load("demo", corpus_path(), Selection()).documents
    if given.fit:
        without = replace(system, generator=ExtractiveGenerator(system.encoder, floor=0.0))
        rows = asked(without, documents, questions_in(FILES["development"]), {})
        for floor, cited, refused in fitted_floor(rows):
            print(f"floor {floor:.2f}: right document cited {cited:.3f}, refused rightly {refused:.3f}")
        return
    rows = asked(system, documents, questions_in(FILES[split]), judgements(JUDGED))
    more = {"seed": str(SEED), "generator": system.generator.name, "k": str(system.k)}
    made = provenance_of(system, more).model_dump(mode="json")
    _write(known | {split: {"provenance": made, **report(rows)}})


def _write(results: Mapping[str, Any]) -> None:
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps({split: found["shares"] for split, found in results.items()}, indent=1))


if __name__ == "__main__":
    main()
