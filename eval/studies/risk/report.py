"""The report on privacy-risk models: figures, no word of a snippet."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance

ALL = "all"

Kind = Literal["all", "invented", "references", "fresh"]
"""All snippets but the fresh, invented ones, passages of corpora, and passages that other readers scored."""
KINDS: tuple[Kind, ...] = ("all", "invented", "references", "fresh")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelRow(_Frozen):
    """One model against the mean of the passes, over some snippets.

    ``spearman`` in [-1, 1] and ``error``, the mean absolute one in [0, 1], compare 1 - exp(-hazard).
    """

    model: str
    domain: str
    kind: Kind
    snippets: int
    mentions: int
    spearman: Estimate
    error: Estimate


class AgreementRow(_Frozen):
    """The two passes against each other, over some snippets.

    ``difference`` is the mean absolute one, ``near`` the share of mentions scored at most 0.1 apart,
    ``kappa`` weighted quadratically over the rubric's four levels.
    """

    domain: str
    kind: Kind
    snippets: int
    mentions: int
    spearman: Estimate
    difference: Estimate
    near: Estimate
    kappa: Estimate


class RiskReport(_Frozen):
    """Every figure of every model by domain and kind of snippet, and the agreement of the passes."""

    provenance: Provenance
    models: tuple[str, ...]
    seed: int
    resamples: int
    rows: tuple[ModelRow, ...]
    agreement: tuple[AgreementRow, ...]

    def row(self, model: str, domain: str = ALL, kind: Kind = "all") -> ModelRow:
        """One row; raises KeyError if there is none."""
        for row in self.rows:
            if (row.model, row.domain, row.kind) == (model, domain, kind):
                return row
        raise KeyError(f"{model}, {domain}, {kind}")

    def agreed(self, domain: str = ALL, kind: Kind = "all") -> AgreementRow:
        """The passes of one domain and kind; raises KeyError if there are none."""
        for row in self.agreement:
            if (row.domain, row.kind) == (domain, kind):
                return row
        raise KeyError(f"{domain}, {kind}")


def as_json(report: RiskReport) -> dict[str, Any]:
    """The report, ready for ``json.dumps``."""
    return report.model_dump(mode="json")
