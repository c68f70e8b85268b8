"""What the benchmark measured, as data that strangers read: figures and places, no word of a corpus."""

import platform
import sys
from collections.abc import Mapping
from os import cpu_count
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from eval.detection.misses import Miss
from eval.report import Provenance, provenance_here

_CPU_FILE = Path("/proc/cpuinfo")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CorpusSize(_Frozen):
    """How much of a corpus was held out: what it was measured on."""

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
    """The answer of one detector to one question, with its 95% interval when documents are redrawn.

    All three are None where nothing was measured; ``why_not`` then says why, and is empty otherwise.
    ``hits`` of ``total`` over ``documents`` is what it was made of.
    """

    question: str
    detector: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    hits: float = 0
    total: float = 0
    documents: int = 0
    why_not: str = ""


class DetectionReport(_Frozen):
    """Every figure of every detector, and what it was measured with.

    ``misses`` are a sample; ``wrong`` says of how many, by detector and sort.
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
        """One answer, by key and detector's name; an empty one if there is none."""
        for figure in self.figures:
            if (figure.question, figure.detector) == (question, detector):
                return figure
        return Figure(question=question, detector=detector, why_not="not asked")


def machine_and_versions(settings: Mapping[str, str], commit: str | None) -> Provenance:
    """Date, kind of machine, package versions; the processor by its name where the system tells it."""
    here = provenance_here({**settings, **_threads()}, commit)
    hardware = f"{_cpu_name()}, {cpu_count()} cores, {platform.system()}"
    return here.model_copy(update={"hardware": hardware})


def _cpu_name() -> str:
    try:
        for line in _CPU_FILE.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _threads() -> dict[str, str]:
    """How many threads torch takes, if a detector brought it along."""
    torch = sys.modules.get("torch")
    return {} if torch is None else {"torch threads": str(torch.get_num_threads())}


def as_json(report: DetectionReport) -> dict[str, Any]:
    """The report, ready for ``json.dumps``."""
    return report.model_dump(mode="json")
