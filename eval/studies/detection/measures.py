"""Detected against gold spans, counted text by text.

Figures are micro averages: counts are summed over texts first, so a long text has more weight than a short
one, and false alarms in a text without mentions count.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from itertools import accumulate

import numpy as np

from eval.measures.uncertainty import Drawn, Estimate, Floats, bootstrap, percentiles, ratio_of

Ends = tuple[int, int]
"""Start and end of a span."""

_TITLES = re.compile(r"(?:(?:mr|mrs|ms|dr|the)\b[.\s]*)+", re.IGNORECASE)


def trimmed(text: str, span: Ends) -> Ends | None:
    """The span without white space and punctuation at its rims; None if nothing is left."""
    start, end = span
    while start < end and _is_rim(text[start]):
        start += 1
    while start < end and _is_rim(text[end - 1]):
        end -= 1
    return (start, end) if start < end else None


def core(text: str, span: Ends) -> Ends:
    """The span without rims and without leading Mr, Mrs, Ms, Dr and "the".

    A span with nothing else stays whole.
    """
    inner = trimmed(text, span)
    if inner is None:
        return span
    titles = _TITLES.match(text, *inner)
    rest = trimmed(text, (titles.end(), inner[1])) if titles else inner
    return rest or inner


def _is_rim(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] in "PC"


def distinct(text: str, spans: Iterable[Ends]) -> list[Ends]:
    """The trimmed spans in the order of the text, each once."""
    return sorted({inner for span in spans if (inner := trimmed(text, span)) is not None})


class Cover:
    """The set of characters that some spans cover."""

    def __init__(self, spans: Iterable[Ends]) -> None:
        merged: list[Ends] = []
        for start, end in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        self.spans: Sequence[Ends] = merged
        self._starts = [start for start, _ in merged]
        self._ends = [end for _, end in merged]
        self._before = [0, *accumulate(end - start for start, end in merged)]

    def __len__(self) -> int:
        """How many characters there are."""
        return self._before[-1]

    def held(self, span: Ends) -> int:
        """How many characters of the span are covered."""
        first, last = bisect_right(self._ends, span[0]), bisect_left(self._starts, span[1])
        if first >= last:
            return 0
        whole = self._before[last] - self._before[first]
        return whole - max(0, span[0] - self._starts[first]) - max(0, self._ends[last - 1] - span[1])

    def touches(self, span: Ends) -> bool:
        """Whether at least one character of the span is covered."""
        return self.held(span) > 0

    def covers(self, span: Ends) -> bool:
        """Whether every character of the span is covered."""
        return self.held(span) == span[1] - span[0]


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


SEED = 0
RESAMPLES = 1_000


class Measure(StrEnum):
    """A measure of tallies."""

    PRECISION = "precision"
    RECALL = "recall"
    F1 = "F1"
    SHARE = "share"
    """Computed as recall, where a high value is not good."""


def estimated(measure: Measure, tallies: Mapping[str, Tally]) -> Estimate:
    """One measure over the tallies of documents by name; the order of names has no effect.

    For F1, ``hits`` is met plus right, and ``n`` is marked plus found.
    """
    ordered = [tallies[name] for name in sorted(tallies)]
    if measure in (Measure.RECALL, Measure.SHARE):
        return ratio_of([t.met for t in ordered], [t.marked for t in ordered], SEED, RESAMPLES)
    if measure is Measure.PRECISION:
        return ratio_of([t.right for t in ordered], [t.found for t in ordered], SEED, RESAMPLES)
    return _f1(ordered)


def f1_of(tally: Tally) -> float | None:
    """The harmonic mean of precision and recall; None if nothing is marked and nothing found."""
    value = float(_f1_scores(np.array(astuple(tally), np.float64)[:, None])[0])
    return None if np.isnan(value) else value


def _f1(ordered: Sequence[Tally]) -> Estimate:
    whole = sum(ordered, Tally())
    value = f1_of(whole)
    hits, n = whole.met + whole.right, whole.marked + whole.found
    if value is None:
        return Estimate(hits=hits, n=n)
    columns = np.array([astuple(tally) for tally in ordered], dtype=np.float64).T

    def scores(drawn: Drawn) -> Floats:
        return _f1_scores(columns[:, drawn].sum(axis=2))

    low, high = percentiles(bootstrap(scores, len(ordered), SEED, RESAMPLES)) or (None, None)
    return Estimate(value, low, high, hits, n)


def _f1_scores(sums: Floats) -> Floats:
    """F1 of the columns met, marked, right and found; NaN if nothing is marked and nothing found."""
    met, marked, right, found = sums
    scores = np.where((marked > 0) | (found > 0), 0.0, np.nan)
    some = (met > 0) & (right > 0)
    precision, recall = right[some] / found[some], met[some] / marked[some]
    scores[some] = 2 * precision * recall / (precision + recall)
    return scores
