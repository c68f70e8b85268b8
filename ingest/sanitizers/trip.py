"""TRIP-RAG: generalize where privacy risk outweighs what the text would lose."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Entity, Scores
from ingest.echoes import echoes
from ingest.linking.accounts import rigid_apart
from ingest.policy import BELOW, ECHO, RESIDUAL, STRICTEST_FIRST, Policy, decide
from ingest.protocols import Hazards, RiskModel
from ingest.residual import beyond_limit
from ingest.sanitize import apply
from ingest.scoring.raw import Distances, ScoringEngine, absolute_risk, marginal_risk, scores_of
from ingest.scoring.scale import Scale


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
            if len({self._ruled(entity, scores[entity.link], hazards) for scores in ends}) > 1
        }

    def _scores(self, hazards: Hazards, measured: Mapping[int, Distances]) -> dict[int, Scores]:
        weights, total, marginals = self._policy.weights, hazards.total, hazards.marginals
        return {
            link: scores_of(
                marginal_risk(total, marginals[link], weights.marginal), distances, self._scale, weights
            )
            for link, distances in measured.items()
        }

    def _ruled(self, entity: Entity, scores: Scores, hazards: Hazards) -> str:
        return decide(entity, scores, absolute_risk(hazards.marginals[entity.link]), self._policy)[1]

    def _decide(
        self, text: AnnotatedText, hazards: Hazards, measured: Mapping[int, Distances]
    ) -> list[Decision]:
        weights, scores = self._policy.weights, self._scores(hazards, measured)
        apart = rigid_apart(text)
        links = [entity.link for entity in apart.entities]
        reasons = self._by_rules(text, links, scores, hazards)
        utilities = {
            number: weights.beta * each.knowledge_divergence + weights.gamma * each.topical_relevance
            for number, each in scores.items()
        }

        def decisions(more: Collection[int] = ()) -> list[Decision]:
            told = {**reasons, **dict.fromkeys(more, RESIDUAL)}
            return [
                Decision(entity, scores[entity.link], *_action(told[link]))
                for entity, link in zip(text.entities, links, strict=True)
            ]

        while True:
            reasons |= dict.fromkeys(_echoes(apart, reasons), ECHO)
            more = beyond_limit(
                lambda more: apply(text, decisions(more)).left,
                utilities,
                self._risk,
                self._policy.residual_limit,
                self._engine.units,
            )
            reasons |= dict.fromkeys(more, RESIDUAL)
            if not (more and _echoes(apart, reasons)):
                return decisions()

    def _by_rules(
        self, text: AnnotatedText, links: Sequence[int], scores: Mapping[int, Scores], hazards: Hazards
    ) -> dict[int, str]:
        """The reason for each link, whose mentions may have several labels: the strictest of theirs."""
        reasons: dict[int, str] = {}
        for entity, link in zip(text.entities, links, strict=True):
            reason = self._ruled(entity, scores[entity.link], hazards)
            reasons[link] = min(reason, reasons.get(link, reason), key=STRICTEST_FIRST.index)
        return reasons


def _echoes(text: AnnotatedText, reasons: Mapping[int, str]) -> set[int]:
    return echoes(text, {number for number, reason in reasons.items() if reason != BELOW})


def _action(reason: str) -> tuple[Action, str]:
    return (Action.KEEP if reason == BELOW else Action.GENERALIZE), reason
