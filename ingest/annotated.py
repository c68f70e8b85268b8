"""A text together with the entities that stand in it, and what is left when some are taken away."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from ingest.documents import Entity, Span


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text and the mentions in it. Private: its repr shows neither."""

    text: str = field(repr=False)
    entities: Sequence[Entity] = field(repr=False)

    def without(self, links: Collection[int], stand_in: Callable[[Entity], str]) -> "AnnotatedText":
        """The text with every mention of ``links`` replaced by ``stand_in(mention)``.

        Mentions of other links that overlap a removed one are gone with it; the others move to where
        they stand in the new text.
        """
        removed = merge_spans([(e.span, stand_in(e)) for e in self.entities if e.link in links])
        pieces: list[str] = []
        kept: list[Entity] = []
        others = sorted((e for e in self.entities if e.link not in links), key=lambda e: e.span)
        cursor, length, index = 0, 0, 0
        for span, words in [*removed, (None, "")]:
            stop = len(self.text) if span is None else span.start
            pieces.append(self.text[cursor:stop])
            while index < len(others) and others[index].span.start < stop:
                entity = others[index]
                index += 1
                if entity.span.start >= cursor and entity.span.end <= stop:
                    shift = length - cursor
                    moved = Span(entity.span.start + shift, entity.span.end + shift)
                    kept.append(replace(entity, span=moved))
            length += stop - cursor
            if span is not None:
                pieces.append(words)
                length += len(words)
                cursor = span.end
                while index < len(others) and others[index].span.start < cursor:
                    index += 1
        return AnnotatedText("".join(pieces), kept)


def merge_spans(spans: Sequence[tuple[Span, str]]) -> list[tuple[Span, str]]:
    """Overlapping spans become their union, with the words of the first of them."""
    merged: list[tuple[Span, str]] = []
    for span, words in sorted(spans, key=lambda pair: (pair[0].start, -pair[0].end)):
        if merged and merged[-1][0].overlaps(span):
            last, first_words = merged[-1]
            merged[-1] = (Span(last.start, max(last.end, span.end)), first_words)
        else:
            merged.append((span, words))
    return merged
