"""The report of what methods do to marks: counts and shares, no word of a corpus."""

from pydantic import BaseModel, ConfigDict

from eval.measures.uncertainty import Estimate
from eval.provenance import Provenance

MEAN = "mean"
"""The annotator of figures that are the mean of all annotators."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MarkFigure(_Frozen):
    """A share under one method, as one annotator or their mean sees it.

    ``kind`` and ``must`` are the annotator's; the kind is empty for unmarked text. ``count`` is what is
    counted (``eval.measures.marked``). ``minus_trip`` is the difference to trip, paired by document.
    """

    method: str
    annotator: str
    kind: str
    must: int
    count: str
    estimate: Estimate
    minus_trip: Estimate


class MarkedPart(_Frozen):
    """A part of a corpus: which documents, how many of them failed by method, and the figures.

    ``extracted`` is by method the share of what must go that an extraction attack on a verbatim victim
    brought out, of what was behind the passages that it retrieved. ``recall_overlap`` is by method the
    Recall@1 overlap of cloze questions with the unsanitized index, ``recall_minus_lethe`` its difference to
    trip, paired by question.
    """

    name: str
    documents: int
    failed: dict[str, int]
    extracted: dict[str, Estimate]
    recall_overlap: dict[str, Estimate] = {}
    recall_minus_lethe: dict[str, Estimate] = {}
    figures: tuple[MarkFigure, ...]


class MarkedCorpusFigures(_Frozen):
    """A corpus: its annotators, how many documents there are of each exposure, and its parts."""

    name: str
    annotators: tuple[str, ...]
    exposures: dict[str, int]
    parts: tuple[MarkedPart, ...]


class MarksReport(_Frozen):
    """All corpora; ``absent`` gives the reason for those that were not measured."""

    provenance: Provenance
    command: str
    seed: int
    methods: tuple[str, ...]
    corpora: tuple[MarkedCorpusFigures, ...]
    absent: dict[str, str]
