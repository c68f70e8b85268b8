"""Run an extraction attack against several targets and fold the rows into a report."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from eval.documents import AttackResult, EntityRef
from eval.judge import Judge
from eval.measures.intervals import Estimate, Share, mean_of, share_of
from eval.measures.leakage import (
    SensitiveIndex,
    coverage,
    entity_leakage,
    leakage_by,
    measured,
    queries_without,
    query_leakage,
    unprompted_leakage,
)
from eval.measures.overlap import recall_at_k_overlap
from eval.protocols import Attack, Target
from eval.report import (
    ArmSummary,
    AttackCard,
    ExtractionReport,
    Provenance,
    Reference,
    row_of,
)
from eval.report_problems import problems_of
from ingest.documents import Action

OVERLAP_AT = (1, 5, 10)
ROUGE_THRESHOLD = 0.5
ATTACK_QUESTIONS = "the attack's own prompts"

Progress = Callable[[int, int], None]
"""Told how many attempts are done, and how many there are."""

Overlaps = Mapping[str, Mapping[int, Estimate]]
"""Recall@k overlap of each arm by k."""


def run_extraction(
    targets: Mapping[str, Target],
    attack: Attack,
    sensitive: SensitiveIndex,
    *,
    reference: str,
    provenance: Provenance,
    decisions: Mapping[str, Mapping[str, int]] | None = None,
    documents: Mapping[str, tuple[int, int]] | None = None,
    unread: int = 0,
    overlaps: tuple[str, Overlaps] | None = None,
    baseline: str = "origin",
    progress: Progress | None = None,
) -> ExtractionReport:
    """Attack every target and report.

    ``reference`` says where the sensitive entities come from. ``decisions`` are entities by action
    for each arm, ``documents`` how many it keeps and how many could not be sanitized, ``unread`` how many
    could not be read for any. ``overlaps`` names the questions that Recall@k overlap was taken on and
    its values; without it, it is taken on the attack's prompts against the arm ``baseline``, if there is
    one.
    """
    results = attack_targets(targets, attack, sensitive, progress)
    questions, values = overlaps or (
        ATTACK_QUESTIONS,
        prompt_overlaps(results, baseline, attack.seed),
    )
    told = Reference(
        source=reference,
        entities=len(sensitive),
        documents=sensitive.n_documents,
        ignored=sensitive.ignored,
        documents_unread=unread,
    )
    arms = tuple(
        _with_documents(summarize(arm, rows, attack, len(sensitive), values.get(arm, {})), documents or {})
        for arm, rows in results.items()
    )
    return ExtractionReport(
        attack=AttackCard(
            name=attack.name,
            goal=attack.goal,
            threat_model=attack.threat_model,
            reference=attack.reference,
            seed=attack.seed,
            planned=attack.planned,
        ),
        reference=told,
        provenance=provenance,
        baseline=baseline,
        overlap_questions=questions,
        arms=arms,
        decisions={
            arm: {Action(name): count for name, count in counts.items()}
            for arm, counts in (decisions or {}).items()
        },
        problems=problems_of(arms, baseline, told),
        rows=tuple(row_of(arm, row) for arm, rows in results.items() for row in rows),
    )


def _with_documents(arm: ArmSummary, documents: Mapping[str, tuple[int, int]]) -> ArmSummary:
    if arm.name not in documents:
        return arm
    kept, failed = documents[arm.name]
    return arm.model_copy(update={"documents_kept": kept, "documents_failed": failed})


def attack_targets(
    targets: Mapping[str, Target],
    attack: Attack,
    sensitive: SensitiveIndex,
    progress: Progress | None = None,
) -> dict[str, list[AttackResult]]:
    """One row for each attempt against each target, with its evidence."""
    judge = Judge(sensitive)
    results: dict[str, list[AttackResult]] = {}
    total, done = len(targets) * attack.planned, 0
    for arm, target in targets.items():
        rows = results.setdefault(arm, [])
        for attempt in attack.run(target):
            rows.append(judge.judge(attack.name, attempt))
            done += 1
            if progress is not None:
                progress(done, total)
    return results


def summarize(
    arm: str,
    results: Sequence[AttackResult],
    attack: Attack,
    n_sensitive: int,
    overlap: Mapping[int, Estimate],
) -> ArmSummary:
    """Fold the rows of one arm."""
    rows, seed = measured(results), attack.seed
    similar = [[p.similarity for p in row.passages] for row in rows if row.passages]
    return ArmSummary(
        name=arm,
        engines=tuple(sorted({row.engine for row in rows})),
        planned=attack.planned,
        completed=len(rows),
        failures=dict(Counter(row.failure for row in results if not row.measured)),
        entity_leakage=entity_leakage(rows, seed),
        unprompted_leakage=unprompted_leakage(rows, seed),
        by_identifier=leakage_by(rows, _kind, seed),
        by_label=leakage_by(rows, _label, seed),
        query_leakage=query_leakage(rows),
        queries_without=queries_without(rows),
        coverage=coverage(rows, n_sensitive),
        documents_retrieved=len({doc_id for row in rows for doc_id in row.doc_ids}),
        passages_retrieved=len({p.passage_id for row in rows for p in row.passages}),
        repeat_prompts=share_of(sum(_repeats(row) for row in rows), len(rows)),
        repeat_passages=_repeated_passages(rows),
        copied_tokens=mean_of([max(_runs(row)) for row in rows if _runs(row)], seed),
        rouge_recall_prompts=_above(rows, [[p.rouge_recall for p in r.passages] for r in rows]),
        rouge_f_prompts=_above(rows, [[p.rouge_f for p in r.passages] for r in rows]),
        similarity=mean_of([sum(values) / len(values) for values in similar], seed),
        recall_overlap=dict(overlap),
    )


def prompt_overlaps(
    results: Mapping[str, Sequence[AttackResult]], baseline: str, seed: int
) -> dict[str, dict[int, Estimate]]:
    """Recall@k overlap of documents with the arm ``baseline`` on the attempts that both answered.

    Only for such k as the baseline retrieved; empty if there is no such arm.
    """
    original = {row.attempt: row.doc_ids for row in measured(results.get(baseline, ()))}
    deepest = max((len(doc_ids) for doc_ids in original.values()), default=0)
    overlaps: dict[str, dict[int, Estimate]] = {}
    for arm, rows in results.items():
        pairs = [(original[r.attempt], r.doc_ids) for r in measured(rows) if r.attempt in original]
        left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        overlaps[arm] = {
            k: recall_at_k_overlap(left, right, k, seed).estimate
            for k in OVERLAP_AT
            if k <= deepest and pairs
        }
    return overlaps


def _kind(entity: EntityRef) -> str:
    return entity.identifier.value


def _label(entity: EntityRef) -> str:
    return entity.label


def _runs(row: AttackResult) -> list[int]:
    return [tokens for passage in row.passages for tokens in passage.copied_runs]


def _repeats(row: AttackResult) -> bool:
    return bool(_runs(row))


def _repeated_passages(rows: Sequence[AttackResult]) -> Share:
    retrieved = {p.passage_id for row in rows for p in row.passages}
    copied = {p.passage_id for row in rows for p in row.passages if p.copied_runs}
    return share_of(len(copied), len(retrieved))


def _above(rows: Sequence[AttackResult], values: Sequence[Sequence[float]]) -> Share:
    over = sum(any(value > ROUGE_THRESHOLD for value in passage) for passage in values)
    return share_of(over, len(rows))
