"""Detected against gold spans, counted text by text.

Figures are micro averages: counts are summed over texts first, so a long text has more weight than a short
one, and false alarms in a text without mentions count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eval.studies.detection.spans import Cover, Ends, core, distinct


@dataclass(frozen=True, slots=True)
class Tally:
    """Of ``marked`` units ``met`` were found; of ``found`` units ``right`` are marked.

    Units are characters, spans or entities. 0 <= met <= marked and 0 <= right <= found.
    """

    met: float = 0
    marked: float = 0
    right: float = 0
    found: float = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.met + other.met,
            self.marked + other.marked,
            self.right + other.right,
            self.found + other.found,
        )


@dataclass(frozen=True, slots=True)
class MarkedEntity:
    """The mentions of one person or thing in a text, and their identifier kind."""

    kind: str
    mentions: tuple[Ends, ...] = field(repr=False)


def characters(text: str, marked: Iterable[Ends], found: Iterable[Ends]) -> Tally:
    """Characters of the union of each side, without white space and punctuation at the rims of spans."""
    wanted, got = Cover(distinct(text, marked)), Cover(distinct(text, found))
    both = sum(got.held(span) for span in wanted.spans)
    return Tally(both, len(wanted), both, len(got))


def overlapping(text: str, marked: Iterable[Ends], found: Iterable[Ends]) -> Tally:
    """Spans that overlap one of the other side. Duplicates count once."""
    wanted, got = distinct(text, marked), distinct(text, found)
    over_wanted, over_got = Cover(wanted), Cover(got)
    return Tally(
        sum(over_got.touches(span) for span in wanted),
        len(wanted),
        sum(over_wanted.touches(span) for span in got),
        len(got),
    )


def equal(text: str, marked: Iterable[Ends], found: Iterable[Ends]) -> Tally:
    """Spans with equal start and end on both sides, after trimming."""
    wanted, got = set(distinct(text, marked)), set(distinct(text, found))
    both = len(wanted & got)
    return Tally(both, len(wanted), both, len(got))


def entities_touched(entities: Sequence[MarkedEntity], found: Sequence[Ends]) -> Tally:
    """An entity is met if a found span has at least one character of every one of its mentions."""
    cover = Cover(found)
    met = sum(all(cover.touches(mention) for mention in entity.mentions) for entity in entities)
    return Tally(met, len(entities))


def entities_covered(text: str, entities: Sequence[MarkedEntity], found: Sequence[Ends]) -> Tally:
    """An entity is met if found spans together have every character of the core of all its mentions.

    The core is the mention without leading titles, and without white space and punctuation at its rims; the
    gaps between its words have to be covered too.
    """
    cover = Cover(found)
    met = sum(all(cover.covers(core(text, mention)) for mention in entity.mentions) for entity in entities)
    return Tally(met, len(entities))
