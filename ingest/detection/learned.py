"""Adapter from a GLiNER model to ingest's data types."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ingest.detection.plausible import plausible
from ingest.documents import Document, Entity, Span
from ingest.labels import NAMES, label_of
from models.detectors.words import FoundSpan

if TYPE_CHECKING:
    from models.detectors.need import WordNeeds


class SpanFinder(Protocol):
    """A model that finds spans: the embedded one, or one of the gliner library."""

    @property
    def name(self) -> str: ...

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]: ...


@runtime_checkable
class JudgingFinder(SpanFinder, Protocol):
    """A model that also reads what has to go."""

    def judged(self, texts: Sequence[str]) -> "list[tuple[list[FoundSpan], WordNeeds | None]]":
        """The spans of each text, and what its words need; None where the model did not learn that."""
        ...


class LearnedDetector:
    """An ``EntityDetector`` over a GLiNER model, whose labels are names of ``ingest.labels``."""

    def __init__(self, model: SpanFinder) -> None:
        self._model = model
        self.name = f"model:{model.name}"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The unlinked entities of each document, by start; confidence is the model's score."""
        return [entities for entities, _ in self.judged(documents)]

    def judged(self, documents: Sequence[Document]) -> "list[tuple[list[Entity], WordNeeds | None]]":
        """The same, and what the words of each document need."""
        texts = [document.text for document in documents]
        if isinstance(self._model, JudgingFinder):
            found = self._model.judged(texts)
        else:
            found = [(spans, None) for spans in self._model.find(texts)]
        return [
            ([self._entity(span) for span in _surest(plausible(spans, document.text))], needs)
            for document, (spans, needs) in zip(documents, found, strict=True)
        ]

    def _entity(self, found: FoundSpan) -> Entity:
        return Entity(
            span=Span(found.start, found.end),
            label=found.label,
            identifier=label_of(found.label).identifier,
            confidence=found.score,
            source=self.name,
        )


def _surest(spans: Sequence[FoundSpan]) -> list[FoundSpan]:
    """Keep the highest-scoring label of each span.

    A mention inside a riskier one with a higher score is dropped, such as a number in a sum of money. Names
    are kept: a name may also occur alone, and all its mentions need the same decision.
    """
    best: dict[tuple[int, int], FoundSpan] = {}
    for span in sorted(spans, key=lambda s: (s.score, s.label)):
        best[span.start, span.end] = span
    ordered = sorted(best.values(), key=lambda s: (s.start, -s.end))
    kept: list[FoundSpan] = []
    holders: list[FoundSpan] = []
    for span in ordered:
        holders = [holder for holder in holders if holder.end > span.start]
        if span.label in NAMES or not any(_goes_with(span, holder) for holder in holders):
            kept.append(span)
        holders.append(span)
    return sorted(kept, key=lambda s: (s.start, s.end))


def _goes_with(span: FoundSpan, holder: FoundSpan) -> bool:
    inside = holder.start <= span.start and span.end <= holder.end
    riskier = label_of(holder.label).risk > label_of(span.label).risk
    return inside and riskier and holder.score > span.score
