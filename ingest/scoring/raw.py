"""What an engine measures of a linked entity before any scale or weight is applied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1
from typing import Literal, Protocol

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Scores, Span
from ingest.labels import label_of
from ingest.scoring.scale import Scale

Marginal = Literal["hazard", "difference"]


@dataclass(frozen=True, slots=True)
class Distances:
    """Measurements of one linked entity e in a text T, each in [0, 2].

    ``divergence`` is the largest 1 - cos(h(U), h(U without e)) over the retrieval units U that mention e,
    and ``distance`` the smallest 1 - cos(h(e), h(U)): an entity matters to a text as much as it matters
    to the unit where it matters most.
    """

    divergence: float
    distance: float


class ScoringEngine(Protocol):
    """Measures every linked entity of each text in the retrieval units that mention it."""

    @property
    def name(self) -> str: ...

    def units(self, text: str) -> list[Span]:
        """The retrieval units of a text, which cover it in order."""
        ...

    def measure(self, texts: Sequence[AnnotatedText]) -> list[Mapping[int, Distances]]: ...


@dataclass(frozen=True, slots=True)
class Weights:
    """alpha, beta and gamma of TRIP-RAG's equation 6, and which form of marginal risk goes in.

    The paper has 1, 0.5 and 0.4. Where rules take what identifies, the others differ little in risk, and what
    they mean to the text tells more.
    """

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    marginal: Marginal = "hazard"


def scores_of(risk: float, distances: Distances, scale: Scale, weights: Weights) -> Scores:
    """The three scores, of which ``risk`` is the first, and their priority S = alpha P - beta K + gamma D."""
    divergence = scale.divergence(distances.divergence)
    distance = scale.distance(distances.distance)
    priority = weights.alpha * risk - weights.beta * divergence + weights.gamma * distance
    return Scores(risk, divergence, 1.0 - distance, priority)


def marginal_risk(total: float, marginal: float, form: Marginal) -> float:
    """P(e): 1 - exp(-(R(T) - R(T without e))), or the paper's f(T) - f(T without e).

    ``total`` is R(T) and ``marginal`` R(T) - R(T without e), both in nats.
    """
    if form == "hazard":
        return absolute_risk(marginal)
    return max(0.0, exp(-(total - marginal)) - exp(-total))


def absolute_risk(hazard: float) -> float:
    """f(T) = 1 - exp(-R(T)), in [0, 1]."""
    return -expm1(-max(0.0, hazard))


def named_by(mentions: Sequence[Entity]) -> Span:
    """The mention that says best what a linked entity is: its longest, and rather a name than an address."""
    best = max(mentions, key=lambda e: (not label_of(e.label).rigid, len(e.span), -e.span.start))
    return best.span


def descriptor_of(entity: Entity) -> str:
    """What stands in for an entity where the risk model reads the text without it."""
    return label_of(entity.label).descriptor
