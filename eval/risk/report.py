"""What was measured of privacy-risk models, as data that strangers read: figures, no word of a snippet."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from eval.report import Provenance

ALL = "all"

Kind = Literal["all", "invented", "references"]
"""Snippets of either kind, those that were invented, and those that lie in a corpus."""
KINDS: tuple[Kind, ...] = ("all", "invented", "references")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Figure(_Frozen):
    """A value with its 95% interval when whole snippets are redrawn.

    The value is None where nothing could be measured; ``why_not`` then says why, and is empty otherwise.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why_not: str = ""


class ModelRow(_Frozen):
    """One model against the mean of the passes, over some snippets.

    ``spearman`` in [-1, 1] and ``error``, the mean absolute one in [0, 1], compare 1 - exp(-hazard).
    """

    model: str
    domain: str
    kind: Kind
    snippets: int
    mentions: int
    spearman: Figure
    error: Figure


class AgreementRow(_Frozen):
    """The two passes against each other, over some snippets.

    ``difference`` is the mean absolute one, ``near`` the share of mentions scored at most 0.1 apart,
    ``kappa`` weighted quadratically over the rubric's four levels.
    """

    domain: str
    kind: Kind
    snippets: int
    mentions: int
    spearman: Figure
    difference: Figure
    near: Figure
    kappa: Figure


class RiskReport(_Frozen):
    """Every figure of every model by domain and kind of snippet, and how well the passes agree."""

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
