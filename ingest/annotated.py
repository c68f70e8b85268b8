"""A text with its entities, and the same text after some of them are replaced."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from ingest.documents import Entity, Span
from ingest.spans import Replacement, Shift, merged, substitute


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text and its linked mentions. Private: the repr shows neither.

    ``stand_ins`` are the spans of words that replaced entities. A risk model must not read these words as
    part of the original text.
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
        """The text after disjoint replacements, with the mentions of ``others`` that remain."""
        shift = Shift(replacements)
        kept = [
            entity.at(place) for entity in others for _, place in residual_spans(self.text, entity, shift)
        ]
        put_in = [shift.of_replacement(number) for number in range(len(replacements))]
        moved = [place for span in self.stand_ins for _, place in shift.remainders(span)]
        stand_ins = [*moved, *(Span(start, end) for start, end in put_in if end > start)]
        return AnnotatedText(substitute(self.text, replacements), kept, stand_ins)

    def digest(self) -> bytes:
        """A 16-byte digest of the text, its entities and its stand-ins."""
        found = blake2b(self.text.encode("utf-8", "surrogatepass"), digest_size=16)
        places = [(each.span.start, each.span.end, each.label, each.link) for each in self.entities]
        found.update(repr((places, [(span.start, span.end) for span in self.stand_ins])).encode())
        return found.digest()

    def mentions(self) -> Mapping[int, Sequence[Entity]]:
        """The mentions of each link, ordered by first occurrence."""
        found: dict[int, list[Entity]] = {}
        for entity in sorted(self.entities, key=lambda e: (e.span, e.label)):
            found.setdefault(entity.link, []).append(entity)
        return found


def residual_spans(text: str, entity: Entity, shift: Shift) -> Iterator[tuple[Span, Span]]:
    """Old and new spans of the parts of a mention that remain after replacements.

    A partly replaced mention still exposes something: "Anna" of "Anna Keller" names a person. Parts without
    a letter or digit are dropped.
    """
    for piece, place in shift.remainders(entity.span):
        if _says_something(text, piece):
            yield piece, place


def _says_something(text: str, span: Span) -> bool:
    return any(character.isalnum() for character in text[span.start : span.end])
