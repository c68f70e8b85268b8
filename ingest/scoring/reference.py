"""The slow engine, written to be obviously right: one entity at a time, one text at a time."""

from collections.abc import Mapping, Sequence

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.protocols import Encoder
from ingest.scoring.raw import Distances, named_by
from ingest.spans import merged, substitute
from ingest.units import retrieval_units


class ReferenceEngine:
    """Exact scores by their definitions. ``ExactEngine`` is held to it by a test."""

    name = "reference"

    def __init__(self, encoder: Encoder, unit_tokens: int) -> None:
        self._encoder = encoder
        self._unit_tokens = unit_tokens

    def units(self, text: str) -> list[Span]:
        """As the text is cut for its index."""
        return retrieval_units(text, self._encoder.token_spans(text), self._unit_tokens)

    def measure(self, texts: Sequence[AnnotatedText]) -> list[Mapping[int, Distances]]:
        """For each text the measurements of each of its links."""
        return [self._measure(text) for text in texts]

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


def cut_out(unit_text: str, unit: Span, mentions: Sequence[Span]) -> str:
    """The text of a unit without these mentions; a mention that crosses its edge is cut at the edge."""
    inside = (
        Span(max(0, span.start - unit.start), min(len(unit), span.end - unit.start)) for span in mentions
    )
    return substitute(unit_text, merged((span, "") for span in inside))
