"""The batched engine: the same scores, each distinct string encoded once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.protocols import Encoder
from ingest.scoring.raw import Distances, Measurements, Wanted, always, cut_out, in_units, units_by
from models.packs import packs
from models.vectors import Vectors

_BATCH_STRINGS = 4096


@dataclass(frozen=True, slots=True)
class _Probe:
    """A link in one unit, its name, and its spans in the text. Private."""

    text_number: int
    link: int
    unit: Span
    whole: str = field(repr=False)
    name: str = field(repr=False)
    places: Sequence[Span]


class ExactEngine:
    """Encodes without an entity only the units that mention it; the batch bounds memory."""

    name = "exact"

    def __init__(self, encoder: Encoder, unit_tokens: int) -> None:
        self._encoder = encoder
        self.units = units_by(encoder, unit_tokens)

    def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]:
        """The measurements of each link of each text."""
        probes = list(self._probes(texts))
        numbers: dict[str, int] = {}
        for probe in probes:
            numbers.setdefault(probe.whole, len(numbers))
            numbers.setdefault(probe.name, len(numbers))
        vectors = self._encoder.encode(list(numbers))
        found: list[dict[int, Distances]] = [{} for _ in texts]
        for probe in probes:
            distance = 1 - float(vectors[numbers[probe.whole]] @ vectors[numbers[probe.name]])
            of_text = found[probe.text_number]
            nearest = of_text[probe.link].distance if probe.link in of_text else distance
            of_text[probe.link] = Distances(None, min(nearest, distance))
        asked = (
            probe
            for probe in probes
            if wanted(probe.text_number, probe.link, found[probe.text_number][probe.link].distance)
        )
        for pack in packs(asked, _BATCH_STRINGS):
            rests = [cut_out(probe.whole, probe.unit, probe.places) for probe in pack]
            for probe, without in zip(pack, self._once(rests), strict=True):
                divergence = 1 - float(vectors[numbers[probe.whole]] @ without)
                of_text = found[probe.text_number]
                known = of_text[probe.link]
                most = divergence if known.divergence is None else max(known.divergence, divergence)
                of_text[probe.link] = Distances(most, known.distance)
        return list(found)

    def _once(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts; equal texts are encoded once."""
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        vectors: Vectors = self._encoder.encode(list(places))[[places[text] for text in texts]]
        return vectors

    def _probes(self, texts: Sequence[AnnotatedText]) -> Iterator[_Probe]:
        for text_number, text in enumerate(texts):
            units = self.units(text.text)
            wholes = [text.text[unit.start : unit.end] for unit in units]
            for link, name, touched in in_units(text, units):
                for place, spans in touched.items():
                    yield _Probe(text_number, link, units[place], wholes[place], name, spans)
