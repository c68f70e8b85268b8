"""A text together with the entities that stand in it, and what is left when some are taken away."""

from bisect import bisect_right
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

    def pieces(self, units: Sequence[Span]) -> "list[AnnotatedText]":
        """The text cut into ``units``, which cover it in order; what crosses a cut stands on both sides."""
        starts = [unit.start for unit in units]
        texts = [self.text[unit.start : unit.end] for unit in units]
        entities: list[list[Entity]] = [[] for _ in units]
        for entity in self.entities:
            for number, piece in _cut(entity.span, units, starts):
                if _says_something(texts[number], piece):
                    entities[number].append(entity.at(piece))
        stand_ins: list[list[Span]] = [[] for _ in units]
        for span in self.stand_ins:
            for number, piece in _cut(span, units, starts):
                stand_ins[number].append(piece)
        return [AnnotatedText(*each) for each in zip(texts, entities, stand_ins, strict=True)]

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
        if _says_something(text, piece):
            yield piece, place


def _says_something(text: str, span: Span) -> bool:
    return any(character.isalnum() for character in text[span.start : span.end])


def _cut(span: Span, units: Sequence[Span], starts: Sequence[int]) -> Iterator[tuple[int, Span]]:
    """The numbers of the units that a span stands in, and its place in each."""
    first, last = bisect_right(starts, span.start) - 1, bisect_right(starts, span.end - 1) - 1
    for number in range(first, last + 1):
        unit = units[number]
        start, end = max(span.start, unit.start), min(span.end, unit.end)
        yield number, Span(start - unit.start, end - unit.start)
