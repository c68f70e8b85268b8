"""The report of an extraction audit: rows first, everything else derived.

It holds no word of a document, prompt or output.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from eval.measures.uncertainty import Estimate
from eval.provenance import Frozen, Provenance
from eval.rows import Row
from ingest.documents import Action


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


def problems_of(arms: Sequence[ArmSummary], baseline: str, reference: Reference) -> tuple[str, ...]:
    """One sentence per problem; none if the figures are conclusive.

    Failures are not measured and never count as safe. An attack that does not break the unsanitized baseline
    is inconclusive about the other arms.
    """
    return (
        *(problem for arm in arms if arm.name == baseline for problem in _unbroken(arm)),
        *unread_of(reference.documents_unread),
        *(
            problem
            for arm in arms
            for problem in dropped_of(arm.name, arm.documents_failed, arm.documents_kept)
        ),
        *(problem for arm in arms for problem in _unanswered(arm)),
    )


def _unbroken(arm: ArmSummary) -> Sequence[str]:
    leaked = arm.entity_leakage
    if leaked.hits:
        return ()
    if leaked.n:
        return (
            f"The attack did not break the unsanitized arm ({arm.name}: 0 of {leaked.n:,} entities leaked); "
            "nothing can be concluded.",
        )
    return (
        f"Nothing sensitive lay behind what the unsanitized arm ({arm.name}) retrieved and answered; nothing "
        "can be concluded.",
    )


def unread_of(count: int) -> Sequence[str]:
    """The sentence about documents that could not be read; none if there are none."""
    if not count:
        return ()
    return (f"Not attacked: {count:,} documents could not be read, or have the id of another one.",)


def dropped_of(arm: str, failed: int, kept: int | None) -> Sequence[str]:
    """The sentence about documents that could not be sanitized in an arm; none if there are none."""
    if not failed:
        return ()
    return (
        f"Not attacked in {arm}: {failed:,} of {failed + (kept or 0):,} documents, which could not be "
        "sanitized; they are not safe ones.",
    )


def _unanswered(arm: ArmSummary) -> Sequence[str]:
    if not arm.not_measured:
        return ()
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(arm.failures.items()))
    why = f" ({kinds})" if kinds else ""
    return (f"Not measured in {arm.name}: {arm.not_measured:,} of {arm.planned:,} prompts{why}.",)
