"""Raw measurements of linked entities, before any scale or weight."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, expm1
from typing import Protocol

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Scores, Span
from ingest.labels import label_of
from ingest.language.units import retrieval_units
from ingest.protocols import Encoder
from ingest.scoring.scale import Marginal, Scale, Weights
from ingest.spans import merged, substitute


@dataclass(frozen=True, slots=True)
class Distances:
    """Measurements of one linked entity e in a text T, each in [0, 2].

    ``divergence`` is the largest 1 - cos(h(U), h(U without e)) over the retrieval units U that mention e,
    and ``distance`` the smallest 1 - cos(h(e), h(U)): an entity matters to a text as much as to the unit
    where it matters most. ``divergence`` is None if not requested: it costs a pass over every unit that
    mentions e.
    """

    divergence: float | None
    distance: float


Measurements = Mapping[int, Distances]
"""The measurements of a text, by link."""

Wanted = Callable[[int, int, float], bool]
"""Whether to measure a divergence, given the index of the text, the link and its distance."""


def units_by(encoder: Encoder, unit_tokens: int) -> Callable[[str], list[Span]]:
    """Cuts texts into the same units as the index."""
    return partial(_units, encoder, unit_tokens)


def _units(encoder: Encoder, unit_tokens: int, text: str) -> list[Span]:
    return retrieval_units(text, encoder.token_spans(text), unit_tokens)


def always(text: int, link: int, distance: float) -> bool:
    """Measure every divergence."""
    return True


class ScoringEngine(Protocol):
    """Measures every linked entity of each text in the retrieval units that mention it."""

    @property
    def name(self) -> str: ...

    def units(self, text: str) -> list[Span]:
        """The retrieval units of a text, which cover it in order."""
        ...

    def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]: ...


def scores_of(risk: float, distances: Distances, scale: Scale, weights: Weights) -> Scores:
    """The three scores, ``risk`` first, and their priority S = alpha P - beta K + gamma D.

    Without a divergence there is neither K nor S.
    """
    distance = scale.distance(distances.distance)
    if distances.divergence is None:
        return Scores(risk, None, 1.0 - distance)
    divergence = scale.divergence(distances.divergence)
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
    """The most descriptive mention of a linked entity: the longest, names before addresses."""
    best = max(mentions, key=lambda e: (not label_of(e.label).rigid, len(e.span), -e.span.start))
    return best.span


def in_units(
    text: AnnotatedText, units: Sequence[Span]
) -> Iterator[tuple[int, str, Mapping[int, list[Span]]]]:
    """Each link, its name, and its mentions by unit; a mention across a boundary is in both units."""
    starts = [unit.start for unit in units]
    for number, mentions in text.mentions().items():
        named = named_by(mentions)
        touched: dict[int, list[Span]] = {}
        for span in (mention.span for mention in mentions):
            first, last = (bisect_right(starts, place) - 1 for place in (span.start, span.end - 1))
            for place in range(first, last + 1):
                touched.setdefault(place, []).append(span)
        yield number, text.text[named.start : named.end], touched


def cut_out(unit_text: str, unit: Span, mentions: Sequence[Span]) -> str:
    """The text of a unit without these mentions; a mention across its boundary is clipped."""
    inside = (
        Span(max(0, span.start - unit.start), min(len(unit), span.end - unit.start)) for span in mentions
    )
    return substitute(unit_text, merged((span, "") for span in inside))


def descriptor_of(entity: Entity) -> str:
    """The stand-in for an entity when the risk model reads the text without it."""
    return label_of(entity.label).descriptor
