"""The estimating engine: one pass per unit, for any number of entities."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.protocols import Encoder, StatesEncoder
from ingest.scoring.raw import Distances, Measurements, Wanted, always, in_units, units_by
from models.errors import ConfigurationError
from models.packs import packs
from models.vectors import Vectors

CONTEXT_FACTOR = 8.0
"""Ratio of the true divergence to that of the mean state of the tokens outside an entity.

Those states have attended to the entity, so leaving out its own states removes little. For the embedded
encoder, least squares over the linked entities of the demo corpus give 7.4, and 7 to 11 over parts of it.
``python -m benchmarks.scoring_speed`` prints the error on other texts.
"""

_BATCH_UNITS = 256
"""Number of units whose states are held at once: 50 MB for units of 128 tokens of 384 numbers."""


@dataclass(frozen=True, slots=True)
class _Link:
    """A linked entity in one unit: its spans there, and its name. Private."""

    number: int
    places: Sequence[Span]
    name: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit with the linked entities that it mentions. Private."""

    text_number: int
    text: str = field(repr=False)
    links: Sequence[_Link]


class FastEngine:
    """Exact distances, estimated divergences.

    h(U without e) is approximated by the mean state of the tokens of U outside e, and the divergence by
    ``CONTEXT_FACTOR`` times that of this mean. It is exact if no token remains. The estimate is good enough
    to rank entities, but not for close decisions: ``Trip`` uses an exact engine for those.

    Raises:
        ConfigurationError: The encoder has no token states.
    """

    name = "fast"

    def __init__(self, encoder: Encoder, unit_tokens: int) -> None:
        if not isinstance(encoder, StatesEncoder):
            raise ConfigurationError(
                f"The encoder {encoder.name} does not show the states of its tokens, which policy.engine = "
                '"fast" reads. Set policy.engine to "exact".'
            )
        self._encoder: StatesEncoder = encoder
        self.units = units_by(encoder, unit_tokens)

    def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]:
        """The measurements of each link of each text; one pass gives all, so ``wanted`` is ignored."""
        found: list[dict[int, tuple[float, float]]] = [{} for _ in texts]
        for units in packs(self._units(texts), _BATCH_UNITS):
            numbers = {"": 0}
            for unit in units:
                for link in unit.links:
                    numbers.setdefault(link.name, len(numbers))
            vectors = self._encoder.encode(list(numbers))
            states = self._encoder.states([unit.text for unit in units])
            for unit, (spans, of_tokens) in zip(units, states, strict=True):
                whole = _unit_row(of_tokens.mean(axis=0, dtype=np.float64))
                of_text = found[unit.text_number]
                for link in unit.links:
                    divergence = _divergence(whole, spans, of_tokens, link.places, vectors[0])
                    distance = 1 - float(whole @ vectors[numbers[link.name]])
                    most, least = of_text.get(link.number, (divergence, distance))
                    of_text[link.number] = max(most, divergence), min(least, distance)
        return [{link: Distances(*each) for link, each in of_text.items()} for of_text in found]

    def _units(self, texts: Sequence[AnnotatedText]) -> Iterator[_Unit]:
        for text_number, text in enumerate(texts):
            units = self.units(text.text)
            for unit, links in zip(units, _links(text, units), strict=True):
                if links:
                    yield _Unit(text_number, text.text[unit.start : unit.end], links)


def _links(text: AnnotatedText, units: Sequence[Span]) -> list[list[_Link]]:
    """The links that each unit mentions; a mention across a boundary is in both units."""
    found: list[list[_Link]] = [[] for _ in units]
    for number, name, touched in in_units(text, units):
        for place, spans in touched.items():
            unit = units[place]
            inside = [
                Span(max(span.start, unit.start) - unit.start, min(span.end, unit.end) - unit.start)
                for span in spans
            ]
            found[place].append(_Link(number, inside, name))
    return found


def _divergence(
    whole: NDArray[np.float64],
    spans: Sequence[tuple[int, int]],
    states: NDArray[np.float32],
    places: Sequence[Span],
    of_nothing: Vectors,
) -> float:
    """1 - cos(h(U), h(U without e)) in [0, 2], estimated."""
    outside = [not any(start < e.end and e.start < end for e in places) for start, end in spans]
    words_left = any(left and end > start for left, (start, end) in zip(outside, spans, strict=True))
    if not words_left:
        return 1 - float(whole @ of_nothing)
    rest = _unit_row(states[outside].mean(axis=0, dtype=np.float64))
    return min(2.0, CONTEXT_FACTOR * (1 - float(whole @ rest)))


def _unit_row(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = vector / max(float(np.linalg.norm(vector)), np.finfo(np.float64).tiny)
    return unit
