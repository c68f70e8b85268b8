"""The report of the detection benchmark: figures and places, no word of a corpus."""

import sys
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance, provenance_here
from eval.studies.detection.misses import Miss


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CorpusSize(_Frozen):
    """The size of the held-out part of a corpus."""

    records: int
    characters: int
    mentions: int


class Question(_Frozen):
    """One row of the table. ``unit`` is "share", in [0, 1], or "characters a second"."""

    key: str
    corpus: str
    title: str
    unit: str = "share"


class Figure(_Frozen):
    """The figure of one detector for one question; the bootstrap resamples ``documents`` documents."""

    question: str
    detector: str
    estimate: Estimate = Estimate()
    documents: int = 0


class DetectionReport(_Frozen):
    """Every figure of every detector, with provenance.

    ``misses`` is a sample; ``wrong`` has the totals, by detector and sort.
    """

    provenance: Provenance
    detectors: tuple[str, ...]
    seeds: dict[str, int]
    resamples: int
    corpora: dict[str, CorpusSize]
    questions: tuple[Question, ...]
    figures: tuple[Figure, ...]
    misses: tuple[Miss, ...] = Field(repr=False)
    wrong: dict[str, dict[str, int]]

    def figure(self, question: str, detector: str) -> Figure:
        """One figure, by key and detector name; an empty one if there is none."""
        for figure in self.figures:
            if (figure.question, figure.detector) == (question, detector):
                return figure
        return Figure(question=question, detector=detector, estimate=Estimate(why_not="not asked"))


def machine_and_versions(settings: Mapping[str, str], commit: str | None) -> Provenance:
    """Date, kind of machine, package versions and the number of threads."""
    return provenance_here({**settings, **_threads()}, commit)


def _threads() -> dict[str, str]:
    """The number of torch threads, if a detector has imported torch."""
    torch = sys.modules.get("torch")
    return {} if torch is None else {"torch threads": str(torch.get_num_threads())}


def as_json(report: DetectionReport) -> dict[str, Any]:
    """The report, ready for ``json.dumps``."""
    return report.model_dump(mode="json")
