"""The batched engine: the same scores, every distinct string encoded once."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.protocols import Encoder
from ingest.scoring.raw import Distances, named_by
from ingest.scoring.reference import cut_out
from ingest.units import retrieval_units
from models.packs import packs
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

    def __init__(self, encoder: Encoder, unit_tokens: int) -> None:
        self._encoder = encoder
        self._unit_tokens = unit_tokens

    def units(self, text: str) -> list[Span]:
        """As the text is cut for its index."""
        return retrieval_units(text, self._encoder.token_spans(text), self._unit_tokens)

    def measure(self, texts: Sequence[AnnotatedText]) -> list[Mapping[int, Distances]]:
        """For each text the measurements of each of its links."""
        found: list[dict[int, Distances]] = [{} for _ in texts]
        for probes in packs(self._probes(texts), _BATCH_STRINGS // 3):
            numbers: dict[str, int] = {}
            for probe in probes:
                for string in (probe.whole, probe.rest, probe.name):
                    numbers.setdefault(string, len(numbers))
            vectors: Vectors = self._encoder.encode(list(numbers))
            for probe in probes:
                whole = vectors[numbers[probe.whole]]
                divergence = 1 - float(whole @ vectors[numbers[probe.rest]])
                distance = 1 - float(whole @ vectors[numbers[probe.name]])
                of_text = found[probe.text_number]
                best = of_text.get(probe.link, Distances(divergence, distance))
                of_text[probe.link] = Distances(
                    max(best.divergence, divergence), min(best.distance, distance)
                )
        return list(found)

    def _probes(self, texts: Sequence[AnnotatedText]) -> Iterator[_Probe]:
        for text_number, text in enumerate(texts):
            units = self.units(text.text)
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
