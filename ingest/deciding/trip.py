"""TRIP-RAG: generalize where privacy risk outweighs the loss of utility."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.deciding.policy import HARD_RULES, Policy
from ingest.deciding.threshold import by_threshold, rules_of
from ingest.documents import Decision, Scores
from ingest.linking.accounts import rigid_apart
from ingest.protocols import Hazards
from ingest.scoring.engine import Engine
from ingest.scoring.scale import Measurements, Scale, marginal_risk, scores_of


class Trip:
    """The paper's three scores, a threshold on their sum, and hard rules.

    One decision per linked entity, except for its rigid mentions: an e-mail address is always replaced. The
    name linked with it is replaced if their joint scores require it. Entities that hard rules decide are
    measured only where ``score_all`` is set: decisions do not depend on it.
    """

    def __init__(self, engine: Engine, scale: Scale, policy: Policy, *, score_all: bool = False) -> None:
        self.name: str = policy.name
        self._engine = engine
        self._scale = scale
        self._policy = policy
        self._score_all = score_all

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """A decision for each mention; those of a link share the scores and, unless rigid, the action."""
        pairs = zip(texts, hazards, strict=True)
        asked = texts if self._score_all else [self._undecided(*each) for each in pairs]
        measured = self._engine.measure(asked)
        return [self._decide(*each) for each in zip(texts, hazards, measured, strict=True)]

    def _undecided(self, text: AnnotatedText, hazards: Hazards) -> AnnotatedText:
        """The text with the links that hard rules do not fully decide."""
        apart = rigid_apart(text)
        links = {moved.link: entity.link for entity, moved in zip(text.entities, apart.entities, strict=True)}
        rules = rules_of(text, apart, hazards, self._policy)
        open_ = {links[link] for link, found in rules.items() if None in found and not found & HARD_RULES}
        return replace(text, entities=[entity for entity in text.entities if entity.link in open_])

    def _decide(self, text: AnnotatedText, hazards: Hazards, measured: Measurements) -> list[Decision]:
        weights, scores = self._policy.weights, {}
        for link in text.mentions():
            risk = marginal_risk(hazards.total, hazards.marginals[link], weights.marginal)
            distances = measured.get(link)
            scores[link] = (
                Scores(risk) if distances is None else scores_of(risk, distances, self._scale, weights)
            )
        return by_threshold(text, hazards, scores, self._policy)
