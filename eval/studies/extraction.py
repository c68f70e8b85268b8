"""An attack on a corpus under three systems: unsanitized, fully redacted, and Lethe.

The unsanitized and redacted indexes are in memory only.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from eval.corpora.corpus import Corpus
from eval.corpora.sensitive import sensitive_in
from eval.documents import Attack
from eval.experiment import Experiment, kept_in
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
from eval.measures.uncertainty import Estimate, mean_of, share_of
from eval.prepared import detected
from eval.progress import Progress, no_progress
from eval.provenance import Frozen, Provenance, provenance_of, reference_of
from eval.rows import Row
from eval.targets import having_read
from eval.tasks.attack import AttackTask
from ingest.deciding.policy import Policy
from ingest.documents import Action
from retrieval.collection import Collection
from retrieval.errors import CollectionError
from retrieval.generators.verbatim import VerbatimGenerator
from retrieval.system import System


class AttackCard(Frozen):
    """The attack, as it describes itself."""

    name: str
    goal: str
    threat_model: str
    reference: str
    seed: int
    planned: int


class Reference(Frozen):
    """What counts as sensitive: ``source`` is "gold annotations" or "detected by" and an engine.

    ``documents`` have a sensitive entity; ``documents_unread`` could not be read and are in no arm.
    """

    source: str
    entities: int
    documents: int
    ignored: int
    documents_unread: int = 0


class ArmSummary(Frozen):
    """One target under the attack. Shares and means cover the attempts that it answered.

    ``queries_without`` counts the answered ones with nothing sensitive behind what was retrieved, which query
    leakage leaves out. ``documents_kept`` are in the target, None if not recorded; ``documents_failed`` could
    not be sanitized, and so were not attacked.
    """

    name: str
    engines: tuple[str, ...]
    planned: int
    completed: int
    failures: dict[str, int]
    entity_leakage: Estimate
    unprompted_leakage: Estimate
    by_identifier: dict[str, Estimate]
    by_label: dict[str, Estimate]
    query_leakage: Estimate
    queries_without: int
    coverage: Estimate
    documents_retrieved: int
    passages_retrieved: int
    repeat_prompts: Estimate
    repeat_passages: Estimate
    copied_tokens: Estimate
    rouge_recall_prompts: Estimate
    rouge_f_prompts: Estimate
    similarity: Estimate
    recall_overlap: dict[int, Estimate]
    documents_kept: int | None = None
    documents_failed: int = 0

    @property
    def not_measured(self) -> int:
        """The number of attempts without a result. They do not count as safe."""
        return self.planned - self.completed


class ExtractionReport(Frozen):
    """The attack on every arm, with provenance.

    ``overlap_questions`` names the questions of the Recall@k overlap, ``baseline`` the arm it is measured
    against. ``decisions`` counts entities by action, for each arm that has them. ``problems`` are sentences
    about limits of the conclusions; empty if there are none.
    """

    attack: AttackCard
    reference: Reference
    provenance: Provenance
    baseline: str
    overlap_questions: str
    arms: tuple[ArmSummary, ...]
    decisions: dict[str, dict[Action, int]]
    problems: tuple[str, ...] = Field(repr=False)
    rows: tuple[Row, ...] = Field(repr=False)


def summary(report: ExtractionReport) -> dict[str, Any]:
    """Everything but the rows, ready for ``json.dumps``."""
    return report.model_dump(mode="json", exclude={"rows"})


def _problems(arms: Sequence[ArmSummary], unread: int) -> Iterator[str]:
    """One sentence per problem; none if the figures are conclusive.

    Failures are not measured and never count as safe. An attack that does not break the unsanitized baseline
    is inconclusive about the other arms.
    """
    for arm in arms:
        leaked = arm.entity_leakage
        if arm.name == BASELINE and leaked.n and not leaked.hits:
            yield (
                f"The attack did not break the unsanitized arm ({arm.name}: 0 of {leaked.n:,} entities "
                "leaked); nothing can be concluded."
            )
        elif arm.name == BASELINE and not leaked.hits:
            yield (
                f"Nothing sensitive lay behind what the unsanitized arm ({arm.name}) retrieved and answered; "
                "nothing can be concluded."
            )
    yield from unread_of(unread)
    for arm in arms:
        yield from dropped_of(arm.name, arm.documents_failed, arm.documents_kept)
    for arm in (each for each in arms if each.not_measured):
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(arm.failures.items()))
        why = f" ({kinds})" if kinds else ""
        yield f"Not measured in {arm.name}: {arm.not_measured:,} of {arm.planned:,} prompts{why}."


def unread_of(count: int) -> Iterator[str]:
    """The sentence about documents that could not be read; none if there are none."""
    if count:
        yield f"Not attacked: {count:,} documents could not be read, or have the id of another one."


def dropped_of(arm: str, failed: int, kept: int | None) -> Iterator[str]:
    """The sentence about documents that could not be sanitized in an arm; none if there are none."""
    if failed:
        yield (
            f"Not attacked in {arm}: {failed:,} of {failed + (kept or 0):,} documents, which could not be "
            "sanitized; they are not safe ones."
        )


OVERLAP_AT = (1, 5, 10)
ROUGE_THRESHOLD = 0.5
BASELINE = "origin"


def extraction(
    system: System,
    corpus: Corpus,
    attack: Attack,
    *,
    collection: Collection | None = None,
    worst_case: bool = True,
    progress: Progress = no_progress,
) -> ExtractionReport:
    """Attack the systems origin, redact and lethe.

    With a ``collection``, lethe is that collection, else the corpus sanitized in memory. ``worst_case`` uses
    the verbatim generator.

    Raises:
        CollectionError: The collection does not hold the documents of the corpus.
        LetheError: The corpus holds nothing sensitive.
    """
    system = replace(system, detector=detected(system, corpus.documents, progress))
    sensitive = sensitive_in(corpus, system.detector)
    there = {}
    if collection is not None:
        check_same_documents(collection, corpus)
        there["lethe"] = kept_in("lethe", collection, system.search)
    systems = {
        BASELINE: replace(system, policy=Policy("origin")),
        "redact": replace(system, policy=Policy("redact")),
        "lethe": system,
    }
    generator = VerbatimGenerator() if worst_case else system.generator
    prompts = [prompt.text for prompt in attack.prompts()]
    encoder = having_read(system.encoder, prompts, "encoding prompts", progress)
    task = AttackTask(attack, generator, encoder, system.k, sensitive)
    experiment = Experiment(corpus.documents, systems, dict.fromkeys(systems, [task]), there)
    done = {each.system: each for each in experiment.run(progress=progress)}
    kept_by = {name: each.kept for name, each in done.items() if each.kept is not None}
    named = {} if collection is None else {"collection": collection.folder.name}
    return extraction_report(
        {name: each.rows[task.name] for name, each in done.items()},
        attack,
        sensitive,
        reference=reference_of(corpus, system.detector),
        provenance=provenance_of(
            system, {"replacements": system.policy.replacements, "k": str(system.k), **named}
        ),
        decisions={name: kept.actions for name, kept in kept_by.items()},
        documents={
            name: {"documents_kept": kept.kept, "documents_failed": len(kept.failed)}
            for name, kept in kept_by.items()
        },
        unread=corpus.unread,
    )


def check_same_documents(collection: Collection, corpus: Corpus) -> None:
    """Refuse a collection of other documents: the sensitive entities of these are not known.

    Raises:
        CollectionError: The collection lacks documents of the corpus, or holds others.
    """
    store, given = collection.store, {document.doc_id for document in corpus.documents}
    # Documents that are empty after sanitizing have no passage: they are counted, but cannot be retrieved.
    retrievable = {p.doc_id for ids, _ in store.vectors(0) for p in store.passages(ids).values()}
    others, there = len(retrievable - given), store.count_documents()
    if others or there != len(given):
        raise CollectionError(
            f"{collection.folder}: it keeps {there} documents and {len(given)} different ones are given, "
            f"{len(retrievable & given)} are the same. Attack the same files that were ingested, with "
            "the same --id-field, or leave -c away."
        )


def extraction_report(
    rows: Mapping[str, Sequence[Row]],
    attack: Attack,
    sensitive: SensitiveIndex,
    *,
    reference: str,
    provenance: Provenance,
    decisions: Mapping[str, Mapping[str, int]] | None = None,
    documents: Mapping[str, Mapping[str, int]] | None = None,
    unread: int = 0,
) -> ExtractionReport:
    """Fold the rows of each system.

    ``reference`` says where the sensitive entities come from. For each system, ``decisions`` are entities by
    action and ``documents`` the numbers of documents as an ``ArmSummary`` names them. ``unread`` could not
    be read. Recall@k overlap is taken on the attack's prompts against the unsanitized system, if there is
    one.
    """
    overlaps = _prompt_overlaps(rows, attack.seed)
    documents = documents or {}
    found = Reference(
        source=reference,
        entities=len(sensitive),
        documents=sensitive.n_documents,
        ignored=sensitive.ignored,
        documents_unread=unread,
    )
    arms = tuple(
        summarize(name, those, attack.seed, len(sensitive), overlaps[name]).model_copy(
            update=documents.get(name, {})
        )
        for name, those in rows.items()
    )
    return ExtractionReport(
        attack=AttackCard(
            name=attack.name,
            goal=attack.goal,
            threat_model=attack.threat_model,
            reference=attack.reference,
            seed=attack.seed,
            planned=len(attack.prompts()),
        ),
        reference=found,
        provenance=provenance,
        baseline=BASELINE,
        overlap_questions="the attack's own prompts",
        arms=arms,
        decisions={
            name: {Action(action): count for action, count in counts.items()}
            for name, counts in (decisions or {}).items()
        },
        problems=tuple(_problems(arms, unread)),
        rows=tuple(row for those in rows.values() for row in those),
    )


def summarize(
    arm: str, results: Sequence[Row], seed: int, n_sensitive: int, overlap: Mapping[int, Estimate]
) -> ArmSummary:
    """Fold the rows of one system."""
    rows = measured(results)
    retrieved = {p.passage_id for row in rows for p in row.copies}
    copied = {p.passage_id for row in rows for p in row.copies if p.copied_runs}
    runs = [[tokens for p in row.copies for tokens in p.copied_runs] for row in rows]
    similar = [[p.similarity for p in row.copies] for row in rows]
    longest = [max(those) for those in runs if those]

    def rouge_above(name: str) -> Estimate:
        over = sum(any(getattr(p, name) > ROUGE_THRESHOLD for p in row.copies) for row in rows)
        return share_of(over, len(rows))

    return ArmSummary(
        name=arm,
        engines=tuple(sorted({row.engine for row in rows})),
        planned=len(results),
        completed=len(rows),
        failures=dict(Counter(row.failure for row in results if not row.measured)),
        entity_leakage=entity_leakage(rows, seed),
        unprompted_leakage=unprompted_leakage(rows, seed),
        by_identifier=leakage_by(rows, lambda entity: entity.identifier.value, seed),
        by_label=leakage_by(rows, lambda entity: entity.label, seed),
        query_leakage=query_leakage(rows),
        queries_without=queries_without(rows),
        coverage=coverage(rows, n_sensitive),
        documents_retrieved=len({doc_id for row in rows for doc_id in row.doc_ids}),
        passages_retrieved=len(retrieved),
        repeat_prompts=share_of(len(longest), len(rows)),
        repeat_passages=share_of(len(copied), len(retrieved)),
        copied_tokens=mean_of(longest, seed),
        rouge_recall_prompts=rouge_above("rouge_recall"),
        rouge_f_prompts=rouge_above("rouge_f"),
        similarity=mean_of([sum(each) / len(each) for each in similar if each], seed),
        recall_overlap=dict(overlap),
    )


def _prompt_overlaps(results: Mapping[str, Sequence[Row]], seed: int) -> dict[str, dict[int, Estimate]]:
    """Recall@k overlap of documents with the baseline, on the attempts that both answered.

    Only for k up to the passages of the baseline; empty without a baseline.
    """
    original = {row.case: row.doc_ids for row in measured(results.get(BASELINE, ()))}
    deepest = max((len(doc_ids) for doc_ids in original.values()), default=0)
    overlaps: dict[str, dict[int, Estimate]] = {}
    for arm, rows in results.items():
        both = [row for row in measured(rows) if row.case in original]
        left, right = [original[row.case] for row in both], [row.doc_ids for row in both]
        depths = [k for k in OVERLAP_AT if k <= deepest and both]
        overlaps[arm] = {k: recall_at_k_overlap(left, right, k, seed).estimate for k in depths}
    return overlaps
