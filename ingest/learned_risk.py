"""The learned privacy-risk model in the ingest room's nouns."""

from collections.abc import Sequence

from ingest.annotated import AnnotatedText
from ingest.protocols import Hazards
from models.risk_model import HazardModel, Marked


class LearnedRisk:
    """R(T) is the sum of the hazards of the linked entities, of each its riskiest mention's.

    All hazards of a text come from one pass over it. Taking an entity away takes its own hazard away:
    the others are not judged anew without it, which would cost a pass for each entity. This is the direct
    form of TRIP-RAG's marginal risk, meant for models that learned from the scores of entities.
    """

    def __init__(self, model: HazardModel) -> None:
        self._model = model
        self.name = model.name

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        """The hazard of each linked entity of each text, and their sum."""
        found = self._model.hazards(
            [
                Marked(
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
