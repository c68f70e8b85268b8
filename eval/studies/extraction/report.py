"""The report of an extraction audit: rows first, everything else derived.

It holds no word of a document, prompt or output.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance
from eval.rows import Row
from ingest.documents import Action


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AttackCard(_Frozen):
    """The attack, as it describes itself."""

    name: str
    goal: str
    threat_model: str
    reference: str
    seed: int
    planned: int


class Reference(_Frozen):
    """What counts as sensitive: ``source`` is "gold annotations" or "detected by" and an engine.

    ``documents`` have a sensitive entity; ``documents_unread`` could not be read and are in no arm.
    """

    source: str
    entities: int
    documents: int
    ignored: int
    documents_unread: int = 0


class ArmSummary(_Frozen):
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


class ExtractionReport(_Frozen):
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
