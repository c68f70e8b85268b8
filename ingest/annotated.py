"""A text together with the entities that stand in it, and what is left when some are taken away."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.documents import Entity, Span
from ingest.spans import Replacement, Shift, merged, substitute


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text and the linked mentions in it. Private: its repr shows neither.

    ``stand_ins`` are the places of words that were put where entities had stood: they are not the text's
    own words, and a risk model must not read them as if they were.
    """

    text: str = field(repr=False)
    entities: Sequence[Entity] = field(repr=False)
    stand_ins: Sequence[Span] = ()

    def without(self, links: Collection[int], stand_in: Callable[[Entity], str]) -> "AnnotatedText":
        """The text with every mention of ``links`` replaced by ``stand_in(mention)``."""
        removed = merged((e.span, stand_in(e)) for e in self.entities if e.link in links)
        others = [entity for entity in self.entities if entity.link not in links]
        return self.replaced(removed, others)

    def replaced(self, replacements: Sequence[Replacement], others: Sequence[Entity]) -> "AnnotatedText":
        """The text after disjoint replacements, with those of ``others`` that are left in it."""
        shift = Shift(replacements)
        kept = [entity.at(place) for entity in others for _, place in left_of(self.text, entity, shift)]
        put_in = [shift.of_replacement(number) for number in range(len(replacements))]
        moved = [place for span in self.stand_ins for _, place in shift.remainders(span)]
        stand_ins = [*moved, *(Span(start, end) for start, end in put_in if end > start)]
        return AnnotatedText(substitute(self.text, replacements), kept, stand_ins)

    def mentions(self) -> Mapping[int, Sequence[Entity]]:
        """The mentions of each link; links in the order in which they first occur."""
        found: dict[int, list[Entity]] = {}
        for entity in sorted(self.entities, key=lambda e: (e.span, e.label)):
            found.setdefault(entity.link, []).append(entity)
        return found


def left_of(text: str, entity: Entity, shift: Shift) -> Iterator[tuple[Span, Span]]:
    """Old and new places of what is left of a mention after replacements.

    A mention that a replacement covers only in part is not gone: "Anna" of "Anna Keller" still names
    somebody. Pieces without a letter or digit are nothing.
    """
    for piece, place in shift.remainders(entity.span):
        if any(character.isalnum() for character in text[piece.start : piece.end]):
            yield piece, place
