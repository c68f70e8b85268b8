"""Entities by a learned model: what GLiNER finds, in the ingest room's nouns."""

from collections.abc import Sequence

from ingest.documents import Document, Entity, Span
from ingest.labels import label_of
from models.gliner_model import FoundSpan, GlinerModel


class LearnedDetector:
    """An ``EntityDetector`` over a GLiNER model, whose labels are names of ``ingest.labels``."""

    def __init__(self, model: GlinerModel) -> None:
        self._model = model
        self.name = f"model:{model.name}"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The unlinked entities of each document, by start; confidence is the model's score."""
        found = self._model.find([document.text for document in documents])
        return [[self._entity(span) for span in spans] for spans in found]

    def _entity(self, found: FoundSpan) -> Entity:
        return Entity(
            span=Span(found.start, found.end),
            label=found.label,
            identifier=label_of(found.label).identifier,
            confidence=found.score,
            source=self.name,
        )
