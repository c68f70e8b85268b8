"""Single mentions instead of linked entities: an ablation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Decision
from ingest.protocols import Hazards, RiskModel
from ingest.sanitize import Method


class PerMention:
    """Every mention scored and decided for itself: the naive reading of TRIP-RAG's equations 3 to 7.

    Without one of two mentions of a name the other one still exposes the person, so that the marginal risk
    of each is zero and both stay. ``method`` should have no residual limit, which would count such mentions
    twice.
    """

    def __init__(self, method: Method, risk: RiskModel) -> None:
        self._method = method
        self._risk = risk
        self.name = f"{method.name}, single mentions"

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[list[Decision]]:
        """A decision for each mention, with scores of its own."""
        alone = [each_alone(text) for text in texts]
        own = [each.marginals for each in self._risk.hazards(alone)]
        given = [
            Hazards(whole.total, _without_one(text, of_text, whole.total))
            for text, whole, of_text in zip(texts, hazards, own, strict=True)
        ]
        return [
            [replace(each, entity=entity) for each, entity in zip(of_text, text.entities, strict=True)]
            for text, of_text in zip(texts, self._method.decide(alone, given), strict=True)
        ]


def each_alone(text: AnnotatedText) -> AnnotatedText:
    """The text with a number of its own for each mention."""
    return replace(
        text, entities=[replace(entity, link=number) for number, entity in enumerate(text.entities)]
    )


def _without_one(text: AnnotatedText, own: Mapping[int, float], total: float) -> dict[int, float]:
    """What goes with each mention: of its link's highest hazard what the other mentions do not have.

    At most ``total``, the hazard of the whole text: where mentions of one link overlap, taking one away by
    itself takes several that were counted by themselves.
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
