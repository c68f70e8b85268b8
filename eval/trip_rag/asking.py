"""One arm of the benchmark: its questions answered, and what its index shows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from eval.corpora.bench_corpus import Question
from eval.documents import EntityRef
from eval.measures.answers import AnswerScores
from eval.measures.intervals import Share, clustered_share, mean_of, share_of
from eval.measures.leakage import SensitiveIndex, is_identifier
from eval.measures.overlap import RecallOverlap, recall_at_k_overlap
from eval.trip_rag.report import AnswerRow, MethodFigures
from ingest.documents import Action, SanitizedDocument
from retrieval.protocols import Generator, Retriever

DEPTHS = (1, 5, 10)
ANSWERED_WITH = 5
"""Passages that an answer is made from, as in the paper."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An arm under its name, ready to be asked, in a part of a run; ``strength`` is what a sweep set."""

    part: str
    method: str
    encoder: str
    retriever: Retriever
    documents: Sequence[SanitizedDocument] = field(repr=False)
    failed: int
    strength: float | None = None


def answer_rows(
    arm: Asked,
    questions: Sequence[Question],
    generator: Generator,
    scored: Callable[[str, str], AnswerScores],
    progress: Callable[[int, int], None],
) -> list[AnswerRow]:
    """Each question asked once."""
    rows = []
    found = arm.retriever.retrieve([question.text for question in questions], max(DEPTHS))
    for number, (question, passages) in enumerate(zip(questions, found, strict=True)):
        progress(number, len(questions))
        answer = generator.generate(question.text, passages[:ANSWERED_WITH])
        scores = scored(question.answer, answer.text)
        doc_ids = tuple(each.passage.doc_id for each in passages)
        at = doc_ids.index(question.about) + 1 if question.about in doc_ids else 0
        rows.append(
            AnswerRow(
                part=arm.part,
                method=arm.method,
                encoder=arm.encoder,
                question_id=question.question_id,
                doc_ids=doc_ids,
                found_at=at,
                bleu1=scores.bleu1,
                sacrebleu=scores.sacrebleu,
                rouge_l=scores.rouge_l,
            )
        )
    progress(len(questions), len(questions))
    return rows


def figures_of(
    arm: Asked,
    rows: Sequence[AnswerRow],
    original: Sequence[AnswerRow],
    sensitive: SensitiveIndex,
    known: Iterable[Question],
    seed: int,
) -> MethodFigures:
    """Rows of one arm folded; ``original`` are those of the unsanitized arm with the same encoder."""
    about = {question.question_id for question in known if question.about}
    asked = [row for row in rows if row.question_id in about]
    measured = len(sensitive.behind(each.doc_id for each in arm.documents))
    kept = [decision.action is Action.KEEP for each in arm.documents for decision in each.decisions]
    return MethodFigures(
        method=arm.method,
        encoder=arm.encoder,
        strength=arm.strength,
        recall_overlap={k: overlap_of(rows, original, k, seed).estimate for k in DEPTHS},
        found={k: share_of(sum(0 < row.found_at <= k for row in asked), len(asked)) for k in DEPTHS},
        bleu1=mean_of([row.bleu1 for row in rows], seed),
        sacrebleu=mean_of([row.sacrebleu for row in rows], seed),
        rouge_l=mean_of([row.rouge_l for row in rows], seed),
        disclosed=disclosed(arm.documents, sensitive, lambda entity: True, seed),
        identifiers=disclosed(arm.documents, sensitive, is_identifier, seed),
        kept=share_of(sum(kept), len(kept)),
        documents_failed=arm.failed,
        entities_failed=len(sensitive) - measured if arm.failed else 0,
    )


def overlap_of(
    rows: Sequence[AnswerRow], original: Sequence[AnswerRow], k: int, seed: int = 0
) -> RecallOverlap:
    """Recall@k overlap of rows with those of the same questions to the unsanitized arm."""
    return recall_at_k_overlap([row.doc_ids for row in original], [row.doc_ids for row in rows], k, seed)


def disclosed(
    documents: Sequence[SanitizedDocument],
    sensitive: SensitiveIndex,
    counted: Callable[[EntityRef], bool],
    seed: int,
) -> Share:
    """Of the counted entities of these documents' originals, those that stand in their own sanitized text."""
    hits, totals = [], []
    for each in documents:
        ids = [each.doc_id]
        totals.append(sum(counted(entity) for entity in sensitive.behind(ids)))
        hits.append(sum(counted(leak.entity) for leak in sensitive.leaked(ids, each.text, "")))
    return clustered_share(hits, totals, seed)
