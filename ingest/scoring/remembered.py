"""An engine and a privacy-risk model that remember what they measured."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.protocols import Hazards, RiskModel
from ingest.scoring.raw import Distances, ScoringEngine

Measurements = Mapping[int, Distances]


class Remembered:
    """Texts measured for fitting a scale are not measured again when they are sanitized.

    ``known`` pairs texts with their measurements; they hold for the same text with the same entities.
    """

    def __init__(self, engine: ScoringEngine, known: Sequence[tuple[AnnotatedText, Measurements]]) -> None:
        self._engine = engine
        self._known = {text.text: (text, measured) for text, measured in known}

    @property
    def name(self) -> str:
        """The engine's own name, since the scores are its."""
        return self._engine.name

    def units(self, text: str) -> list[Span]:
        """The engine's own."""
        return self._engine.units(text)

    def measure(self, texts: Sequence[AnnotatedText]) -> list[Measurements]:
        """The measurements of each text, remembered or fresh."""
        recalled = [self._recall(text) for text in texts]
        missing = [text for text, known in zip(texts, recalled, strict=True) if known is None]
        fresh = iter(self._engine.measure(missing))
        return [next(fresh) if known is None else known for known in recalled]

    def _recall(self, text: AnnotatedText) -> Measurements | None:
        known, measured = self._known.get(text.text, (None, None))
        return measured if known == text else None


class RememberedRisk:
    """Asks a privacy-risk model of each text once: where one corpus is sanitized again and again.

    Texts are remembered by a digest, with their entities and stand-ins, and for as long as this lives.
    """

    def __init__(self, risk: RiskModel) -> None:
        self._risk = risk
        self._known: dict[bytes, Hazards] = {}
        self.name = risk.name

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]:
        """Those of each text, remembered or fresh."""
        digests = [_digest(text) for text in texts]
        fresh = {
            digest: text for digest, text in zip(digests, texts, strict=True) if digest not in self._known
        }
        self._known |= zip(fresh, self._risk.hazards(list(fresh.values())), strict=True)
        return [self._known[digest] for digest in digests]


def _digest(text: AnnotatedText) -> bytes:
    found = blake2b(text.text.encode("utf-8", "surrogatepass"), digest_size=16)
    places = [(each.span.start, each.span.end, each.label, each.link) for each in text.entities]
    found.update(repr((places, [(span.start, span.end) for span in text.stand_ins])).encode())
    return found.digest()
