"""TRIP-RAG: generalize where privacy risk outweighs what the text would lose."""

from collections.abc import Mapping, Sequence

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.linking.accounts import rigid_apart
from ingest.policy import RESIDUAL, Policy, decide
from ingest.protocols import Hazards, RiskModel
from ingest.residual import beyond_limit
from ingest.scoring.raw import Distances, ScoringEngine, absolute_risk, marginal_risk, scores_of
from ingest.scoring.scale import Scale


class Trip:
    """Scores, threshold, hard rules and residual risk.

    One decision per linked entity, but for the rigid mentions of one: an e-mail address always goes, and
    the name that it is linked with goes where the scores of both together or the residual risk of what is
    left without the address ask for it.
    """

    name = "trip"

    def __init__(self, engine: ScoringEngine, risk: RiskModel, scale: Scale, policy: Policy) -> None:
        self._engine = engine
        self._risk = risk
        self._scale = scale
        self._policy = policy

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[list[Decision]]:
        """A decision for each mention; all of a link share scores, and all but the rigid ones the action."""
        measured = self._engine.measure(texts)
        return [self._decide(*each) for each in zip(texts, hazards, measured, strict=True)]

    def _decide(
        self, text: AnnotatedText, hazards: Hazards, measured: Mapping[int, Distances]
    ) -> list[Decision]:
        weights, total, marginals = self._policy.weights, hazards.total, hazards.marginals
        scores = {
            link: scores_of(
                marginal_risk(total, marginals[link], weights.marginal), distances, self._scale, weights
            )
            for link, distances in measured.items()
        }
        apart = rigid_apart(text)
        pairs = list(zip(text.entities, apart.entities, strict=True))
        # every number is that of rigid mentions or of others, so any mention decides for all
        ruled = {
            part.link: decide(part, scores[entity.link], absolute_risk(marginals[entity.link]), self._policy)
            for entity, part in pairs
        }
        utilities = {
            number: weights.beta * each.knowledge_divergence + weights.gamma * each.topical_relevance
            for number, each in scores.items()
        }
        generalized = {number for number, (action, _) in ruled.items() if action is not Action.KEEP}
        limit = self._policy.residual_limit
        for number in beyond_limit(apart, generalized, utilities, self._risk, limit):
            ruled[number] = (Action.GENERALIZE, RESIDUAL)
        return [Decision(entity, scores[entity.link], *ruled[part.link]) for entity, part in pairs]
