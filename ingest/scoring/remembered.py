"""A scoring engine with cached measurements."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Span
from ingest.scoring.raw import Measurements, ScoringEngine, Wanted, always


class Remembered:
    """Reuses the measurements made to fit a scale when the same texts are sanitized.

    ``known`` pairs texts with their measurements; these apply to the same text with the same linked entities,
    or a subset of them.
    """

    def __init__(self, engine: ScoringEngine, known: Sequence[tuple[AnnotatedText, Measurements]]) -> None:
        self._engine = engine
        self._known = {text.text: (text, measured) for text, measured in known}

    @property
    def name(self) -> str:
        """The wrapped engine's name."""
        return self._engine.name

    def units(self, text: str) -> list[Span]:
        """The wrapped engine's units."""
        return self._engine.units(text)

    def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]:
        """The measurements of each text, cached or new; cached ones restricted to ``wanted``."""
        recalled = [self._recall(text) for text in texts]
        missing = [number for number, known in enumerate(recalled) if known is None]
        fresh = iter(
            self._engine.measure(
                [texts[number] for number in missing],
                lambda number, link, distance: wanted(missing[number], link, distance),
            )
        )
        return [
            next(fresh)
            if known is None
            else {
                link: each if wanted(number, link, each.distance) else replace(each, divergence=None)
                for link, each in known.items()
            }
            for number, known in enumerate(recalled)
        ]

    def _recall(self, text: AnnotatedText) -> Measurements | None:
        if text.text not in self._known:
            return None
        known, measured = self._known[text.text]
        asked, there = text.mentions(), known.mentions()
        if any(there.get(link) != mentions for link, mentions in asked.items()):
            return None
        return {link: measured[link] for link in asked}
