"""The rule from scores to action: pure, total, monotone in risk."""

from dataclasses import dataclass, field
from typing import Literal

from ingest.documents import Action, Entity, Scores
from ingest.labels import label_of
from ingest.scoring.raw import Weights

PolicyName = Literal["trip", "redact", "suppress", "origin"]

RIGID = "rigid identifier: always generalized"
AT_OR_ABOVE = "priority at or above the threshold"
BELOW = "priority below the threshold"
RESIDUAL = "residual risk of the text above its limit"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a collection promises.

    ``tau`` is compared with the priority S(e). ``residual_limit`` bounds f(T*) of the sanitized text; its
    default is the lower border of the rubric's level 3, so that no text keeps what identifies somebody
    directly.
    """

    name: PolicyName = "trip"
    tau: float = 0.6
    residual_limit: float = 0.7
    weights: Weights = field(default_factory=Weights)


def decide(entity: Entity, scores: Scores, tau: float) -> tuple[Action, str]:
    """Hard rules first, then the threshold (TRIP-RAG, equation 7). Returns the action and its reason."""
    if label_of(entity.label).rigid:
        return Action.GENERALIZE, RIGID
    if scores.priority >= tau:
        return Action.GENERALIZE, AT_OR_ABOVE
    return Action.KEEP, BELOW
