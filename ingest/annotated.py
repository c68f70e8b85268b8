"""A text together with the entities that stand in it, and what is left when some are taken away."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.documents import Entity
from ingest.spans import Shift, merged, substitute


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text and the linked mentions in it. Private: its repr shows neither."""

    text: str = field(repr=False)
    entities: Sequence[Entity] = field(repr=False)

    def without(self, links: Collection[int], stand_in: Callable[[Entity], str]) -> "AnnotatedText":
        """The text with every mention of ``links`` replaced by ``stand_in(mention)``.

        Mentions of other links that overlap a removed one are gone with it; the rest move to where
        they stand in the new text.
        """
        removed = merged((e.span, stand_in(e)) for e in self.entities if e.link in links)
        shift = Shift(removed)
        kept = []
        for entity in self.entities:
            moved = None if entity.link in links else shift(entity.span)
            if moved is not None:
                kept.append(entity.at(moved))
        return AnnotatedText(substitute(self.text, removed), kept)

    def mentions(self) -> Mapping[int, Sequence[Entity]]:
        """The mentions of each link; links in the order in which they first occur."""
        found: dict[int, list[Entity]] = {}
        for entity in sorted(self.entities, key=lambda e: (e.span, e.label)):
            found.setdefault(entity.link, []).append(entity)
        return found
