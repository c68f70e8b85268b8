"""Adapter from the learned privacy-risk model to ingest's data types."""

from collections.abc import Sequence

from ingest.annotated import AnnotatedText
from ingest.protocols import Hazards
from models.risk import HazardModel, LabeledText


class LearnedRisk:
    """R(T) is the sum of the hazards of the linked entities; each counts with its riskiest mention.

    One pass over a text gives all its hazards. An entity's marginal hazard is its own hazard: the others are
    not scored again without it, which would cost a pass per entity. This is the direct form of TRIP-RAG's
    marginal risk, meant for models trained on entity scores.
    """

    def __init__(self, model: HazardModel) -> None:
        self._model = model
        self.name = model.name

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        """The hazard of each linked entity of each text, and their sum."""
        found = self._model.hazards(
            [
                LabeledText(
                    text.text,
                    [(entity.span.start, entity.span.end) for entity in text.entities],
                    [entity.label for entity in text.entities],
                )
                for text in texts
            ]
        )
        shares = [_by_link(text, hazards) for text, hazards in zip(texts, found, strict=True)]
        return [Hazards(sum(of_text.values()), of_text) for of_text in shares]


def _by_link(text: AnnotatedText, hazards: Sequence[float]) -> dict[int, float]:
    highest: dict[int, float] = {}
    for entity, hazard in zip(text.entities, hazards, strict=True):
        highest[entity.link] = max(hazard, highest.get(entity.link, 0.0))
    return highest
