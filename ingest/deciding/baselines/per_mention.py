"""Ablation: single mentions instead of linked entities."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Decision
from ingest.protocols import Hazards, Method, RiskModel


class PerMention:
    """Scores and decides every mention separately: the naive reading of TRIP-RAG's equations 3 to 7.

    If one of two mentions of a name is removed, the other still exposes the person, so each has zero marginal
    risk and both are kept.
    """

    def __init__(self, method: Method, risk: RiskModel) -> None:
        self._method = method
        self._risk = risk
        self.name = f"{method.name}, single mentions"

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """A decision for each mention, with its own scores."""
        alone = [each_alone(text) for text in texts]
        own = [each.marginals for each in self._risk.hazards(alone)]
        given = [
            Hazards(whole.total, _without_one(text, of_text, whole.total))
            for text, whole, of_text in zip(texts, hazards, own, strict=True)
        ]
        return [
            [replace(d, entity=entity) for d, entity in zip(each, text.entities, strict=True)]
            for text, each in zip(texts, self._method.decide(alone, given), strict=True)
        ]


def each_alone(text: AnnotatedText) -> AnnotatedText:
    """The text with a separate link for each mention."""
    return replace(
        text, entities=[replace(entity, link=number) for number, entity in enumerate(text.entities)]
    )


def _without_one(text: AnnotatedText, own: Mapping[int, float], total: float) -> dict[int, float]:
    """The marginal hazard of each mention: its link's highest hazard minus that of the other mentions.

    Capped at ``total``, the hazard of the whole text: if mentions of one link overlap, removing one removes
    several that were counted separately.
    """
    by_link: dict[int, list[float]] = {}
    for number, entity in enumerate(text.entities):
        by_link.setdefault(entity.link, []).append(own[number])
    marginals = {}
    for number, entity in enumerate(text.entities):
        others = list(by_link[entity.link])
        others.remove(own[number])
        marginals[number] = min(total, max(0.0, own[number] - max(others, default=0.0)))
    return marginals
