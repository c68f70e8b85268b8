"""The report of the study of membership: figures by arm and score, no word of a document."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from eval.measures.membership import CHANCE_AUC
from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance
from eval.rows import Row
from eval.studies.extraction.report import AttackCard


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScoreFigures(_Frozen):
    """How well a score tells members from others, among the ``members`` and ``others`` that have it.

    ``tpr`` has the rate of true positives by the highest rate of false ones. ``oracle_accuracy`` is at the
    best threshold, which no attacker knows. Chance is 0.5 for ``auc``; ``chance_tpr`` and
    ``chance_accuracy`` are means over random labels. ``failures`` counts candidates by the error that a
    question ran into, ``unread`` those of whose answers none could be read.
    """

    score: str
    members: int
    others: int
    auc: Estimate
    tpr: dict[float, Estimate]
    oracle_accuracy: Estimate
    chance_tpr: dict[float, float]
    chance_accuracy: float | None
    failures: dict[str, int]
    unread: int

    @property
    def above_chance(self) -> bool:
        """Whether the interval of the area lies above that of a score that knows nothing."""
        return self.auc.low is not None and self.auc.low > CHANCE_AUC


class ArmFigures(_Frozen):
    """One system. ``documents_kept`` are in its index, None if not recorded."""

    name: str
    engines: tuple[str, ...]
    documents_kept: int | None
    documents_failed: int
    scores: tuple[ScoreFigures, ...]


class MembershipReport(_Frozen):
    """Every score on every arm, with provenance.

    ``victim`` answers, ``shadow`` writes the questions of the interrogation, "" if nothing does.
    ``indexed`` documents are given to each arm; ``references`` are held out, and the attacker knows it.
    ``notes`` say what was left out and what the figures do not cover; ``problems`` keep them from being a
    verdict.
    """

    attack: AttackCard
    provenance: Provenance
    baseline: str
    victim: str
    shadow: str
    k: int
    indexed: int
    members: int
    others: int
    references: int
    documents_unread: int
    arms: tuple[ArmFigures, ...]
    notes: tuple[str, ...] = Field(repr=False)
    problems: tuple[str, ...] = Field(repr=False)
    rows: tuple[Row, ...] = Field(repr=False)


def summary(report: MembershipReport) -> dict[str, Any]:
    """Everything but the rows, ready for ``json.dumps``."""
    return report.model_dump(mode="json", exclude={"rows"})
