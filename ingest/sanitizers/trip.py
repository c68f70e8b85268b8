"""TRIP-RAG: generalize where privacy risk outweighs what the text would lose."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Entity, Scores
from ingest.echoes import echoes
from ingest.linking.accounts import rigid_apart
from ingest.policy import BELOW, ECHO, HARD_RULES, RESIDUAL, Policy, decide
from ingest.protocols import Hazards, RiskModel
from ingest.residual import beyond_limit
from ingest.scoring.raw import Distances, ScoringEngine, absolute_risk, marginal_risk, scores_of
from ingest.scoring.scale import Scale

_KEPT = (Action.KEEP, BELOW)


class Trip:
    """Scores, threshold, hard rules and residual risk.

    One decision per linked entity, but for the rigid mentions of one: an e-mail address always goes, and
    the name that it is linked with goes where the scores of both together or the residual risk of what is
    left without the address ask for it.

    Where ``engine`` only estimates the divergence, ``exact`` measures those entities again that another
    divergence would decide otherwise; then the threshold decides as with ``exact`` alone. Which entities
    the residual risk takes rests on estimates of the others.
    """

    name = "trip"

    def __init__(
        self,
        engine: ScoringEngine,
        risk: RiskModel,
        scale: Scale,
        policy: Policy,
        exact: ScoringEngine | None = None,
    ) -> None:
        self._engine = engine
        self._exact = exact
        self._risk = risk
        self._scale = scale
        self._policy = policy

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[list[Decision]]:
        """A decision for each mention; all of a link share scores, and all but the rigid ones the action."""
        measured = self._engine.measure(texts)
        if self._exact is not None:
            measured = self._settled(self._exact, texts, hazards, measured)
        return [self._decide(*each) for each in zip(texts, hazards, measured, strict=True)]

    def _settled(
        self,
        exact: ScoringEngine,
        texts: Sequence[AnnotatedText],
        hazards: Sequence[Hazards],
        measured: Sequence[Mapping[int, Distances]],
    ) -> list[Mapping[int, Distances]]:
        """The measurements, exact for the links whose divergence matters to the threshold."""
        doubtful = [self._doubtful(*each) for each in zip(texts, hazards, measured, strict=True)]
        again = exact.measure(
            [
                replace(text, entities=[entity for entity in text.entities if entity.link in links])
                for text, links in zip(texts, doubtful, strict=True)
            ]
        )
        return [{**estimated, **known} for estimated, known in zip(measured, again, strict=True)]

    def _doubtful(self, text: AnnotatedText, hazards: Hazards, measured: Mapping[int, Distances]) -> set[int]:
        """The links with a mention that the smallest and the largest divergence decide differently.

        A priority falls with the divergence, so all between decide as both ends where these agree.
        """
        ends = [
            self._scores(hazards, {n: replace(each, divergence=end) for n, each in measured.items()})
            for end in (0.0, 2.0)
        ]
        return {
            entity.link
            for entity in text.entities
            if len({self._ruled(entity, scores[entity.link], hazards)[0] for scores in ends}) > 1
        }

    def _scores(self, hazards: Hazards, measured: Mapping[int, Distances]) -> dict[int, Scores]:
        weights, total, marginals = self._policy.weights, hazards.total, hazards.marginals
        return {
            link: scores_of(
                marginal_risk(total, marginals[link], weights.marginal), distances, self._scale, weights
            )
            for link, distances in measured.items()
        }

    def _ruled(self, entity: Entity, scores: Scores, hazards: Hazards) -> tuple[Action, str]:
        return decide(entity, scores, absolute_risk(hazards.marginals[entity.link]), self._policy)

    def _decide(
        self, text: AnnotatedText, hazards: Hazards, measured: Mapping[int, Distances]
    ) -> list[Decision]:
        weights, scores = self._policy.weights, self._scores(hazards, measured)
        apart = rigid_apart(text)
        pairs = list(zip(text.entities, apart.entities, strict=True))
        ruled: dict[int, tuple[Action, str]] = {}
        for entity, part in pairs:
            # mentions of one link may have several labels, and the strictest decides for all
            if ruled.get(part.link, _KEPT)[0] is Action.KEEP:
                ruled[part.link] = self._ruled(entity, scores[entity.link], hazards)
        identifiers = {number for number, (_, reason) in ruled.items() if reason in HARD_RULES}
        for number in echoes(apart, identifiers):
            if ruled[number][0] is Action.KEEP:
                ruled[number] = (Action.GENERALIZE, ECHO)
        utilities = {
            number: weights.beta * each.knowledge_divergence + weights.gamma * each.topical_relevance
            for number, each in scores.items()
        }
        generalized = {number for number, (action, _) in ruled.items() if action is not Action.KEEP}
        limit = self._policy.residual_limit
        for number in beyond_limit(apart, generalized, utilities, self._risk, limit, self._engine.units):
            ruled[number] = (Action.GENERALIZE, RESIDUAL)
        return [Decision(entity, scores[entity.link], *ruled[part.link]) for entity, part in pairs]
