"""The rule from scores to action: pure, total, monotone in risk."""

from dataclasses import dataclass, field
from typing import Literal

from ingest.aliases import Replacements
from ingest.documents import Action, Entity, Identifier, Scores
from ingest.labels import label_of
from ingest.scoring.raw import Weights

PolicyName = Literal["trip", "redact", "suppress", "entity-type", "lprag", "origin"]

RIGID = "rigid identifier: always generalized"
DIRECT = "direct identifier whose risk reaches its limit"
QUASI = "quasi-identifier whose risk reaches its limit"
AT_OR_ABOVE = "priority at or above the threshold"
RESIDUAL = "residual risk of a passage above its limit"
ECHO = "says what an identifier says that is generalized"
BELOW = "priority below the threshold"

STRICTEST_FIRST = (RIGID, DIRECT, QUASI, AT_OR_ABOVE, BELOW)
"""Of the reasons for the mentions of one link the first of these holds for all."""
ALWAYS = frozenset((RIGID, DIRECT, QUASI, ECHO))
"""Reasons that need no threshold: with none at all, nothing else acts, and echoes are those of hard rules."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a collection promises.

    ``tau`` is compared with the priority S(e). ``residual_limit`` bounds f(U*) of each passage of the
    sanitized text; its default is the lower border of the rubric's level 3, so that no passage keeps what
    identifies somebody directly. ``direct_limit`` is the risk of its own from which a direct identifier, a
    name above all, goes whatever it would cost. By default they all go: no model tells a neighbor who wrote
    a poem from a poet, and a text that calls itself fiction must not keep its names for that.
    ``quasi_limit`` is the same for quasi-identifiers, by the risk of their kind or their own, whichever is
    higher; its default is the lower border of the rubric's level 2, from which an entity identifies
    somebody in context: several of them in one index are a key to a register. ``replacements`` is what
    stands for people and organizations: see ``ingest.aliases`` for what aliases cost. ``epsilon`` is the
    budget that lprag spends on each document.
    """

    name: PolicyName = "trip"
    tau: float = 0.5
    residual_limit: float = 0.7
    weights: Weights = field(default_factory=Weights)
    replacements: Replacements = "descriptor"
    direct_limit: float = 0.0
    quasi_limit: float = 0.4
    epsilon: float = 5.0


def decide(entity: Entity, scores: Scores, own_risk: float, policy: Policy) -> tuple[Action, str]:
    """Hard rules first, then the threshold (TRIP-RAG, equation 7). Returns the action and its reason.

    ``own_risk`` is the hazard form of the marginal risk, whichever form the scores have: the difference of
    absolute risks says of each of two names in a text that it matters little.
    """
    if label_of(entity.label).rigid:
        return Action.GENERALIZE, RIGID
    if entity.identifier is Identifier.DIRECT and own_risk >= policy.direct_limit:
        return Action.GENERALIZE, DIRECT
    of_kind = label_of(entity.label).risk
    if entity.identifier is Identifier.QUASI and max(of_kind, own_risk) >= policy.quasi_limit:
        return Action.GENERALIZE, QUASI
    if scores.priority >= policy.tau:
        return Action.GENERALIZE, AT_OR_ABOVE
    return Action.KEEP, BELOW
