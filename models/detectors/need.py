"""What the detector says of each word: whether it tells of a person, and whether it has to go."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from models.detectors.network import IDENTIFIERS, KINDS
from models.detectors.words import Need

NOTHING = Need(0.0, 0.0, 0.0)
MARKED = 0.5
"""The probability from which a word belongs to a mark."""


@dataclass(frozen=True, slots=True)
class FoundMark:
    """A run of words that tells of a person: half-open, in code points; its kind, class and need."""

    start: int
    end: int
    kind: str
    identifier: str
    need: Need


@dataclass(frozen=True, slots=True)
class WordNeeds:
    """For each word of a text its place and what was read of it; the arrays have a row per word.

    ``begins`` and ``musts``, of shape (words,) and (words, 4), are probabilities (``network.MUSTS``);
    ``kinds`` and ``identifiers`` number the likeliest kind and class.
    """

    places: Sequence[tuple[int, int]] = field(repr=False)
    begins: NDArray[np.float32] = field(repr=False)
    musts: NDArray[np.float32] = field(repr=False)
    kinds: NDArray[np.int64] = field(repr=False)
    identifiers: NDArray[np.int64] = field(repr=False)
    lines: AbstractSet[int] = frozenset()
    """The words at which a line begins."""
    weak: AbstractSet[int] = frozenset()
    """The words that no mark begins or ends with: signs, articles, prepositions and the like."""

    def at(self, start: int, end: int) -> Need:
        """The mean over the words of a place that tell of a person, or over all where none does.

        Other words would dilute what a long mention holds. Nothing where a place has no word.
        """
        first = bisect_right(self.places, start, key=lambda place: place[1])
        last = bisect_left(self.places, end, key=lambda place: place[0])
        return self._need(first, last)

    def marks(self) -> Iterator[FoundMark]:
        """The runs of words that tell of a person, by start.

        A run ends where another begins or a line ends, and has no weak words at its ends. Its kind and class
        are those of most of its words.
        """
        inside = 1.0 - self.musts[:, 0] >= MARKED
        first = 0
        while first < len(self.places):
            if not inside[first] or first in self.weak:
                first += 1
                continue
            last = first + 1
            while last < len(self.places) and inside[last] and not self._begins(last):
                last += 1
            end = last
            while end - 1 in self.weak:
                end -= 1
            yield self._mark(first, end)
            first = last

    def _begins(self, word: int) -> bool:
        return word in self.lines or (bool(self.begins[word] >= MARKED) and word not in self.weak)

    def _mark(self, first: int, last: int) -> FoundMark:
        kind, identifier = (
            int(np.bincount(each[first:last]).argmax()) for each in (self.kinds, self.identifiers)
        )
        start, end = self.places[first][0], self.places[last - 1][1]
        return FoundMark(start, end, KINDS[kind], IDENTIFIERS[identifier], self._need(first, last))

    def _need(self, first: int, last: int) -> Need:
        if first >= last:
            return NOTHING
        inside = self.musts[first:last]
        telling = inside[1.0 - inside[:, 0] >= MARKED]
        nothing, _, should, must = (telling if len(telling) else inside).mean(axis=0).tolist()
        return Need(1.0 - nothing, should + must, must)
