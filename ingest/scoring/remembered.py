"""An engine in front of another one that has some texts' measurements already."""

from collections.abc import Mapping, Sequence

from ingest.annotated import AnnotatedText
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

    def measure(self, texts: Sequence[AnnotatedText]) -> list[Measurements]:
        """The measurements of each text, remembered or fresh."""
        recalled = [self._recall(text) for text in texts]
        missing = [text for text, known in zip(texts, recalled, strict=True) if known is None]
        fresh = iter(self._engine.measure(missing))
        return [next(fresh) if known is None else known for known in recalled]

    def _recall(self, text: AnnotatedText) -> Measurements | None:
        known, measured = self._known.get(text.text, (None, None))
        return measured if known == text else None
