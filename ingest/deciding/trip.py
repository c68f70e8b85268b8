"""TRIP-RAG: generalize where privacy risk outweighs the loss of utility."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache

from ingest.annotated import AnnotatedText
from ingest.deciding.echoes import echoes
from ingest.deciding.policy import (
    BELOW,
    ECHO,
    HARD_RULES,
    MAY_STAY,
    RESIDUAL,
    STAYS,
    STRICTEST_FIRST,
    Policy,
    decide,
    hard_rule,
)
from ingest.deciding.residual import Asking, beyond_limit, in_step
from ingest.detection.sources import is_of_care
from ingest.documents import Action, Decision, Entity, Scores
from ingest.linking.accounts import rigid_apart
from ingest.protocols import Apply, Decided, Hazards, RiskModel
from ingest.scoring.raw import Distances, Measurements, ScoringEngine, absolute_risk, marginal_risk, scores_of
from ingest.scoring.scale import Scale


class Trip:
    """Scores, threshold, hard rules and residual risk.

    One decision per linked entity, except for its rigid mentions: an e-mail address is always replaced. The
    name linked with it is replaced if their joint scores, or the residual risk without the address, require
    it.

    Entities decided by hard rules are not measured, nor are divergences that cannot change the threshold's
    outcome, unless ``score_all`` is set: they do not affect decisions and are most of the work. If ``engine``
    only estimates the divergence, ``exact`` measures again each entity whose decision depends on it, so the
    threshold decides as with ``exact`` alone. The residual-risk step uses the estimates of all others.
    """

    def __init__(
        self,
        engine: ScoringEngine,
        risk: RiskModel,
        scale: Scale,
        policy: Policy,
        exact: ScoringEngine | None = None,
        *,
        score_all: bool = False,
    ) -> None:
        self.name: str = policy.name
        self._engine = engine
        self._exact = exact
        self._risk = risk
        self._scale = scale
        self._policy = policy
        self._score_all = score_all

    def decide(
        self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards], apply: Apply
    ) -> list[Decided]:
        """A decision for each mention; those of a link share the scores and, unless rigid, the action."""
        if self._score_all:
            measured = self._engine.measure(texts)
        else:
            asked = [
                _only(text, self._undecided(text, each)) for text, each in zip(texts, hazards, strict=True)
            ]
            mentions = [text.mentions() for text in asked]

            def wanted(number: int, link: int, distance: float) -> bool:
                return self._is_doubtful(mentions[number][link], hazards[number], distance)

            measured = self._engine.measure(asked, wanted)
        if self._exact is not None:
            measured = self._with_exact(self._exact, texts, hazards, measured)
        asking = [self._decide(*each, apply) for each in zip(texts, hazards, measured, strict=True)]
        return in_step(asking, self._risk)

    def _undecided(self, text: AnnotatedText, hazards: Hazards) -> set[int]:
        """The links that hard rules do not fully decide."""
        rules: dict[int, set[str | None]] = {}
        links: dict[int, int] = {}
        for entity, apart in zip(text.entities, rigid_apart(text).entities, strict=True):
            links[apart.link] = entity.link
            rules.setdefault(apart.link, set()).add(
                hard_rule(entity, absolute_risk(hazards.marginals[entity.link]), self._policy)
            )
        return {links[apart] for apart, found in rules.items() if None in found and not found & HARD_RULES}

    def _with_exact(
        self,
        exact: ScoringEngine,
        texts: Sequence[AnnotatedText],
        hazards: Sequence[Hazards],
        measured: Sequence[Measurements],
    ) -> list[Measurements]:
        """The measurements, exact for links whose divergence can change the threshold's outcome."""
        mentions = [text.mentions() for text in texts]
        doubtful = [
            {link for link, known in of_text.items() if self._is_doubtful(those[link], each, known.distance)}
            for those, each, of_text in zip(mentions, hazards, measured, strict=True)
        ]
        again = exact.measure([_only(text, links) for text, links in zip(texts, doubtful, strict=True)])
        return [{**estimated, **known} for estimated, known in zip(measured, again, strict=True)]

    def _is_doubtful(self, mentions: Sequence[Entity], hazards: Hazards, distance: float) -> bool:
        """Whether the smallest and largest divergence lead to different decisions for a mention.

        Priority decreases with divergence, so if both ends agree, every value between does too.
        """
        link = mentions[0].link
        ends = [self._scores(hazards, link, Distances(divergence, distance)) for divergence in (0.0, 2.0)]
        return any(len({self._ruled(entity, scores, hazards) for scores in ends}) > 1 for entity in mentions)

    def _scores(self, hazards: Hazards, link: int, distances: Distances | None) -> Scores:
        """The scores of a link; the risk alone if nothing else was measured."""
        weights = self._policy.weights
        risk = marginal_risk(hazards.total, hazards.marginals[link], weights.marginal)
        return Scores(risk) if distances is None else scores_of(risk, distances, self._scale, weights)

    def _ruled(self, entity: Entity, scores: Scores, hazards: Hazards) -> str:
        return decide(entity, scores, absolute_risk(hazards.marginals[entity.link]), self._policy)[1]

    def _decide(
        self, text: AnnotatedText, hazards: Hazards, measured: Measurements, apply: Apply
    ) -> Asking[Decided]:
        scores = {link: self._scores(hazards, link, measured.get(link)) for link in text.mentions()}
        apart = rigid_apart(text)
        links = [entity.link for entity in apart.entities]
        reasons = self._by_rules(text, links, measured, hazards)

        @cache
        def utilities() -> Mapping[int, float]:
            narrowing = {
                link
                for link, each in zip(links, text.entities, strict=True)
                if not is_of_care(each, text.text[each.span.start : each.span.end])
            }
            kept = [link for link in narrowing if reasons[link] in (BELOW, MAY_STAY)]
            return self._utilities(text, sorted(kept), measured)

        def decisions(more: Collection[int] = ()) -> list[Decision]:
            reason_of = {**reasons, **dict.fromkeys(more, RESIDUAL)}
            return [
                Decision(entity, scores[entity.link], *_action(reason_of[link]))
                for entity, link in zip(text.entities, links, strict=True)
            ]

        while True:
            reasons |= dict.fromkeys(_echoes(apart, reasons), ECHO)
            more, applied = yield from beyond_limit(
                lambda more: apply(text, decisions(more)),
                utilities,
                self._policy.residual_limit,
                self._engine.units,
            )
            reasons |= dict.fromkeys(more, RESIDUAL)
            if not (more and _echoes(apart, reasons)):
                return Decided(decisions(), applied)

    def _utilities(
        self, text: AnnotatedText, links: Sequence[int], measured: Measurements
    ) -> dict[int, float]:
        """The utility lost without each of these links; measures missing ones."""
        missing = {link for link in links if link not in measured or measured[link].divergence is None}
        if missing:
            (fresh,) = self._engine.measure([_only(text, missing)])
            measured = {**measured, **fresh}
        measured = {link: measured[link] for link in links if link in measured}
        weights, scale = self._policy.weights, self._scale
        return {
            link: weights.beta * scale.divergence(each.divergence)
            + weights.gamma * (1.0 - scale.distance(each.distance))
            for link, each in measured.items()
            if each.divergence is not None
        }

    def _by_rules(
        self, text: AnnotatedText, links: Sequence[int], measured: Measurements, hazards: Hazards
    ) -> dict[int, str]:
        """The reason for each link: the strictest over its mentions, whose labels may differ."""
        # without a measured divergence, every value leads to the same decision
        deciding = {
            link: self._scores(hazards, link, replace(each, divergence=each.divergence or 0.0))
            for link, each in measured.items()
        }
        reasons: dict[int, str] = {}
        for entity, link in zip(text.entities, links, strict=True):
            scores = deciding.get(entity.link) or self._scores(hazards, entity.link, None)
            reason = self._ruled(entity, scores, hazards)
            reasons[link] = min(reason, reasons.get(link, reason), key=STRICTEST_FIRST.index)
        return reasons


def _only(text: AnnotatedText, links: Collection[int]) -> AnnotatedText:
    return replace(text, entities=[entity for entity in text.entities if entity.link in links])


def _echoes(text: AnnotatedText, reasons: Mapping[int, str]) -> set[int]:
    return echoes(text, {number for number, reason in reasons.items() if reason not in STAYS})


def _action(reason: str) -> tuple[Action, str]:
    return (Action.KEEP if reason in STAYS else Action.GENERALIZE), reason
