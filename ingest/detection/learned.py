"""Adapter from a GLiNER model of the gliner library to ingest's data types."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ingest.detection.overlaps import strictest
from ingest.documents import Document, Entity, Span
from ingest.labels import label_of

if TYPE_CHECKING:
    from models.gliner_model import GlinerModel


class LearnedDetector:
    """An ``EntityDetector`` over a GLiNER model, whose labels are names of ``ingest.labels``."""

    def __init__(self, model: "GlinerModel") -> None:
        self._model = model
        self.name = f"model:{model.name}"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The unlinked entities of each document, by start; confidence is the model's score."""
        return [
            sorted(
                strictest(
                    Entity(
                        Span(each.start, each.end),
                        each.label,
                        label_of(each.label).identifier,
                        each.score,
                        self.name,
                    )
                    for each in spans
                ).values(),
                key=lambda each: each.span,
            )
            for spans in self._model.find([document.text for document in documents])
        ]
