"""The engine: measures linked entities with the text encoder."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Span
from ingest.labels import label_of
from ingest.language.units import retrieval_units
from ingest.protocols import Encoder
from ingest.scoring.scale import Distances, Measurements
from ingest.spans import Replacement, merged, substitute
from models.packs import packs

_BATCH_PROBES = 2048


@dataclass(frozen=True, slots=True)
class _Probe:
    """A link in one unit: the unit, the unit without it, and its name. Private."""

    text_number: int
    link: int
    unit: str = field(repr=False)
    rest: str = field(repr=False)
    name: str = field(repr=False)


class Engine:
    """Encodes each unit with and without each entity that it mentions; the batch bounds memory."""

    def __init__(self, encoder: Encoder, unit_tokens: int) -> None:
        self._encoder = encoder
        self._unit_tokens = unit_tokens

    def units(self, text: str) -> list[Span]:
        """The retrieval units of a text, which cover it in order: the same as in the index."""
        return retrieval_units(text, self._encoder.token_spans(text), self._unit_tokens)

    def measure(self, texts: Sequence[AnnotatedText]) -> list[Measurements]:
        """The measurements of each link of each text."""
        found: list[dict[int, Distances]] = [{} for _ in texts]
        for probes in packs(self._probes(texts), _BATCH_PROBES):
            strings = dict.fromkeys(chain.from_iterable((each.unit, each.rest, each.name) for each in probes))
            vectors = dict(zip(strings, self._encoder.encode(list(strings)), strict=True))
            for probe in probes:
                unit, of_text = vectors[probe.unit], found[probe.text_number]
                divergence, distance = (1 - float(unit @ vectors[each]) for each in (probe.rest, probe.name))
                known = of_text.get(probe.link, Distances(divergence, distance))
                of_text[probe.link] = Distances(
                    max(known.divergence, divergence), min(known.distance, distance)
                )
        return list(found)

    def _probes(self, texts: Sequence[AnnotatedText]) -> Iterator[_Probe]:
        """Unit by unit, so that few units are in two batches."""
        for number, text in enumerate(texts):
            units = self.units(text.text)
            starts = [unit.start for unit in units]
            cut_out: dict[tuple[int, int], list[Replacement]] = {}
            for entity in text.entities:
                start, end = entity.span.start, entity.span.end
                for place in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
                    # A mention across a boundary is in both units.
                    first, last = max(start, starts[place]), min(end, units[place].end)
                    inside = Span(first - starts[place], last - starts[place])
                    cut_out.setdefault((place, entity.link), []).append((inside, ""))
            names = {link: named_by(those) for link, those in text.mentions().items()}
            for (place, link), inside_unit in sorted(cut_out.items()):
                whole = text.text[starts[place] : units[place].end]
                name = text.text[names[link].start : names[link].end]
                yield _Probe(number, link, whole, substitute(whole, merged(inside_unit)), name)


def named_by(mentions: Sequence[Entity]) -> Span:
    """The most descriptive mention of a linked entity: the longest, names before addresses."""
    return max(mentions, key=lambda e: (not label_of(e.label).rigid, len(e.span), -e.span.start)).span
