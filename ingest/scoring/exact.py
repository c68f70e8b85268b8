"""The batched engine: the same scores, every distinct string encoded once."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.protocols import Encoder, RiskModel
from ingest.scoring.raw import RawScores, named_by
from ingest.scoring.reference import cut_out
from ingest.units import retrieval_units
from models.vectors import Vectors

_BATCH_STRINGS = 4096


@dataclass(frozen=True, slots=True)
class _Probe:
    """Three strings to encode for one link in one unit. Private."""

    text_number: int
    link: int
    whole: str = field(repr=False)
    rest: str = field(repr=False)
    name: str = field(repr=False)


class ExactEngine:
    """Only the units that mention an entity are encoded without it; memory is bounded by the batch."""

    name = "exact"

    def __init__(self, encoder: Encoder, risk: RiskModel, unit_tokens: int) -> None:
        self._encoder = encoder
        self._risk = risk
        self._unit_tokens = unit_tokens

    def measure(self, texts: Sequence[AnnotatedText]) -> list[Mapping[int, RawScores]]:
        """For each text the measurements of each of its links."""
        hazards = self._risk.hazards(texts)
        marginals = self._risk.marginals(texts)
        distances = self._distances(texts)
        return [
            {
                number: RawScores(hazard, hazard - marginal[number], *found[number])
                for number in text.mentions()
            }
            for text, hazard, marginal, found in zip(texts, hazards, marginals, distances, strict=True)
        ]

    def _distances(self, texts: Sequence[AnnotatedText]) -> list[dict[int, tuple[float, float]]]:
        found: list[dict[int, tuple[float, float]]] = [{} for _ in texts]
        for probes in _batched(self._probes(texts)):
            numbers: dict[str, int] = {}
            for probe in probes:
                for string in (probe.whole, probe.rest, probe.name):
                    numbers.setdefault(string, len(numbers))
            vectors: Vectors = self._encoder.encode(list(numbers))
            for probe in probes:
                whole = vectors[numbers[probe.whole]]
                divergence = 1 - float(whole @ vectors[numbers[probe.rest]])
                distance = 1 - float(whole @ vectors[numbers[probe.name]])
                best = found[probe.text_number].get(probe.link, (divergence, distance))
                pair = (max(best[0], divergence), min(best[1], distance))
                found[probe.text_number][probe.link] = pair
        return found

    def _probes(self, texts: Sequence[AnnotatedText]) -> Iterator[_Probe]:
        for text_number, text in enumerate(texts):
            tokens = self._encoder.token_spans(text.text)
            units = retrieval_units(text.text, tokens, self._unit_tokens)
            starts = [unit.start for unit in units]
            for number, mentions in text.mentions().items():
                named = named_by(mentions)
                name = text.text[named.start : named.end]
                touched: dict[int, list[Span]] = {}
                for mention in mentions:
                    first = bisect_right(starts, mention.span.start) - 1
                    last = bisect_right(starts, mention.span.end - 1) - 1
                    for place in range(first, last + 1):
                        touched.setdefault(place, []).append(mention.span)
                for place, spans in touched.items():
                    unit = units[place]
                    whole = text.text[unit.start : unit.end]
                    yield _Probe(text_number, number, whole, cut_out(whole, unit, spans), name)


def _batched(probes: Iterator[_Probe]) -> Iterator[list[_Probe]]:
    while batch := list(islice(probes, _BATCH_STRINGS // 3)):
        yield batch
