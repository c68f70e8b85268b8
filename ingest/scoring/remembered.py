"""A scoring engine with cached measurements."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Span
from ingest.scoring.raw import Distances, Measurements, ScoringEngine, Wanted, always

_Known = dict[int, tuple[Sequence[Entity], Distances]]
"""The mentions and distances of each link."""


class Remembered:
    """Reuses the measurements made to fit a scale when the same texts are sanitized.

    ``known`` pairs texts with their measurements; these apply to the same text with the same linked entities,
    or a subset of them. If it ``grows``, new ones are kept too: for texts that several methods decide about.
    """

    def __init__(
        self,
        engine: ScoringEngine,
        known: Sequence[tuple[AnnotatedText, Measurements]] = (),
        *,
        grows: bool = False,
    ) -> None:
        self._engine, self._grows = engine, grows
        self._known: dict[str, _Known] = {}
        for text, measured in known:
            self._keep(text, measured)

    @property
    def name(self) -> str:
        """The wrapped engine's name."""
        return self._engine.name

    def units(self, text: str) -> list[Span]:
        """The wrapped engine's units."""
        return self._engine.units(text)

    def measure(self, texts: Sequence[AnnotatedText], wanted: Wanted = always) -> list[Measurements]:
        """The measurements of each text, cached or new; cached ones restricted to ``wanted``."""
        recalled = [self._recall(number, text, wanted) for number, text in enumerate(texts)]
        missing = [number for number, known in enumerate(recalled) if known is None]
        fresh = self._engine.measure(
            [texts[number] for number in missing],
            lambda number, link, distance: wanted(missing[number], link, distance),
        )
        for number, measured in zip(missing, fresh, strict=True):
            recalled[number] = measured
            if self._grows:
                self._keep(texts[number], measured)
        return [known for known in recalled if known is not None]

    def _keep(self, text: AnnotatedText, measured: Measurements) -> None:
        mentions = text.mentions()
        of_text = self._known.setdefault(text.text, {})
        of_text |= {link: (mentions[link], each) for link, each in measured.items()}

    def _recall(self, number: int, text: AnnotatedText, wanted: Wanted) -> Measurements | None:
        """What is known, None where it is not all that is wanted."""
        if text.text not in self._known:
            return None
        of_text, found = self._known[text.text], dict[int, Distances]()
        for link, mentions in text.mentions().items():
            there, each = of_text.get(link, ((), Distances(None, 0.0)))
            if there != mentions:
                return None
            if not wanted(number, link, each.distance):
                each = replace(each, divergence=None)
            elif each.divergence is None:
                return None
            found[link] = each
        return found
