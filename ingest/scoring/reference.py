"""The reference engine, slow but obviously correct: one entity and one text at a time."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.protocols import Encoder
from ingest.scoring.raw import Distances, Measurements, Wanted, always, cut_out, named_by, units_by


class ReferenceEngine:
    """Exact scores by definition. A test compares ``ExactEngine`` with it."""

    name = "reference"

    def __init__(self, encoder: Encoder, unit_tokens: int) -> None:
        self._encoder = encoder
        self.units = units_by(encoder, unit_tokens)

    def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]:
        """The measurements of each link of each text."""
        return [
            {
                link: each if wanted(number, link, each.distance) else replace(each, divergence=None)
                for link, each in self._measure(text).items()
            }
            for number, text in enumerate(texts)
        ]

    def _measure(self, text: AnnotatedText) -> dict[int, Distances]:
        units = self.units(text.text)
        measured = {}
        for number, mentions in text.mentions().items():
            named = named_by(mentions)
            name = text.text[named.start : named.end]
            divergences, distances = [], []
            for unit in units:
                inside = [e.span for e in mentions if e.span.overlaps(unit)]
                if inside:
                    whole = text.text[unit.start : unit.end]
                    rest = cut_out(whole, unit, inside)
                    divergences.append(1 - self._cosine(whole, rest))
                    distances.append(1 - self._cosine(name, whole))
            measured[number] = Distances(max(divergences), min(distances))
        return measured

    def _cosine(self, one: str, other: str) -> float:
        left, right = self._encoder.encode([one])[0], self._encoder.encode([other])[0]
        return float(left @ right)
