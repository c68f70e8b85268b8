"""What a sanitized text says of each candidate for a slot: the clues of ``eval.attacks.guessing``.

Each clue is a number per candidate, about 0 where the text says nothing, higher where it speaks for the
candidate. What holds for every slot of a label, such as a candidate whose vector is near to all texts, is no
clue: likenesses count from their mean over the label. Encoding a candidate alone works as well as filling it
into the sentence, at a fraction of the time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from eval.attacks.slots import Candidates, Slot
from eval.measures.said_areas import Area, areas_in
from eval.measures.said_dates import Moment, moment_of
from eval.measures.said_numbers import Range, ranges_of
from eval.targets import having_read
from ingest.language.vocabulary import fold
from ingest.protocols import Encoder
from ingest.wording.mentions import names_only_a_kind
from ingest.wording.words import rungs_of

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Overlooked = Callable[[str, str], bool]
"""Whether the document of an id has a copy of a normalized candidate outside its slots."""
Clue = Literal["around", "shown", "words", "rung", "meaning", "overlooked", "kept"]
CLUES: tuple[Clue, ...] = get_args(Clue)
"""In this order: the candidate's likeness to the context of the slot; the likeness of this context to those
in which other documents show the candidate; the candidate's likeness to the words in the slot; how much of
these words is a rung of the candidate's own ladder, since the attacker knows the method; whether what they
mean holds the candidate, 1, or excludes it, -1; whether a copy was overlooked elsewhere in the document; and
whether the document knowingly shows the candidate."""
_PER_COSINE = 10.0
"""Likenesses are in tenths of a cosine, so that all clues are of the same order."""
_AT_ONCE = 256


class Clues:
    """The clues of slots that were replaced; all texts are encoded beforehand, in batches."""

    def __init__(
        self, slots: Sequence[Slot], known: Candidates, encoder: Encoder, overlooked: Overlooked
    ) -> None:
        hidden = {slot.label for slot in slots if not slot.kept}
        spellings = [text for label in sorted(hidden) for text in known.spelled(label).values()]
        asked = [slot for slot in slots if slot.label in hidden]
        read = having_read(
            encoder, [*spellings, *(text for slot in asked for text in (slot.surroundings, slot.words))]
        )
        by_label: dict[str, list[Slot]] = {}
        for slot in asked:
            by_label.setdefault(slot.label, []).append(slot)
        self._labels = {
            label: _OfLabel(label, those, known.spelled(label), read, overlooked)
            for label, those in by_label.items()
        }

    def of(self, slots: Sequence[Slot], pools: Sequence[Places]) -> list[Floats]:
        """The clues of each slot: (candidates of its pool, clues), by their places among the label's."""
        by_label: dict[str, list[int]] = {}
        for place, slot in enumerate(slots):
            by_label.setdefault(slot.label, []).append(place)
        found: dict[int, Floats] = {}
        for label, places in by_label.items():
            for first in range(0, len(places), _AT_ONCE):
                some = places[first : first + _AT_ONCE]
                those = [slots[place] for place in some], [pools[place] for place in some]
                clues = self._labels[label].clues(*those)
                found |= zip(some, clues, strict=True)
        return [found[place] for place in range(len(slots))]


class _OfLabel:
    """The clues of one label."""

    def __init__(
        self,
        label: str,
        slots: Sequence[Slot],
        spelled: Mapping[str, str],
        encoder: Encoder,
        overlooked: Overlooked,
    ) -> None:
        self._normals, self._spelled = list(spelled), list(spelled.values())
        self._encoder, self._overlooked = encoder, overlooked
        place = {normal: number for number, normal in enumerate(self._normals)}
        self._vectors = encoder.encode(self._spelled)
        hidden = sorted((slot.surroundings, slot.words) for slot in slots if not slot.kept)
        self._mean_around = encoder.encode([around for around, _ in hidden]).mean(axis=0)
        said = [words for _, words in hidden if words]
        self._mean_words = encoder.encode(said).mean(axis=0) if said else 0.0
        shown = [slot for slot in slots if slot.kept]
        shown.sort(key=lambda slot: (place[slot.normal], slot.doc_id))
        self._shown_in = np.array([slot.doc_id for slot in shown])
        self._shows = encoder.encode([slot.surroundings for slot in shown]) if shown else None
        self._owners, self._starts = np.unique([place[slot.normal] for slot in shown], return_index=True)
        self._kept = {(slot.doc_id, place[slot.normal]) for slot in shown}
        self._rungs = cache(lambda number: _rungs(self._spelled[number], label))
        self._told = cache(self._told_by)

    def clues(self, slots: Sequence[Slot], pools: Sequence[Places]) -> list[Floats]:
        """(candidates, clues) of each slot, all of this label."""
        around = self._encoder.encode([slot.surroundings for slot in slots])
        words = self._encoder.encode([slot.words for slot in slots])
        near = (around - self._mean_around) @ self._vectors.T
        alike = (words - self._mean_words) @ self._vectors.T
        shown = self._shown(slots, around)
        found = []
        for number, (slot, pool) in enumerate(zip(slots, pools, strict=True)):
            clues = np.zeros((len(pool), len(CLUES)))
            clues[:, 0] = _PER_COSINE * near[number, pool]
            clues[:, 1] = _PER_COSINE * _from_mean(shown[number, pool])
            if slot.words:
                clues[:, 2] = _PER_COSINE * alike[number, pool]
                clues[:, 3:5] = self._told(slot.words)[pool]
            clues[:, 5] = [self._overlooked(slot.doc_id, self._normals[place]) for place in pool]
            clues[:, 6] = [(slot.doc_id, place) in self._kept for place in pool.tolist()]
            found.append(clues)
        return found

    def _shown(self, slots: Sequence[Slot], around: NDArray[np.float32]) -> Floats:
        """The highest cosine with a context of each candidate in other documents, NaN without any."""
        found = np.full((len(slots), len(self._normals)), np.nan)
        if self._shows is not None:
            cosines = (around @ self._shows.T).astype(np.float64)
            cosines[np.array([[slot.doc_id] for slot in slots]) == self._shown_in] = -np.inf
            best = np.maximum.reduceat(cosines, self._starts, axis=1)
            found[:, self._owners] = np.where(np.isinf(best), np.nan, best)
        return found

    def _told_by(self, words: str) -> Floats:
        """What the words tell of every candidate: the part that is a rung of its, and their meaning."""
        said, meant = fold(words), _meaning(words)
        told = np.zeros((len(self._normals), 2))
        for number, spelled in enumerate(self._spelled):
            rungs = [len(each) for each in self._rungs(number) if each in said]
            told[number] = max(rungs, default=0) / len(said), _holds(meant, _meaning(spelled))
        return told


def _from_mean(values: Floats) -> Floats:
    """The values from their mean; a candidate without any gets no bonus and no penalty."""
    known = ~np.isnan(values)
    return np.where(known, values - values[known].mean(), 0.0) if known.any() else np.zeros(len(values))


@cache
def _rungs(original: str, label: str) -> list[str]:
    """The rungs of a candidate that say more than a kind, folded and without an article."""
    found = (rung.words for rung in rungs_of(original, label))
    return [fold(words).removeprefix("the ") for words in found if not names_only_a_kind(words, label)]


@dataclass(frozen=True, slots=True)
class _Meaning:
    """The days, the numbers and the areas that words may mean."""

    moment: Moment | None
    ranges: Sequence[Range] = field(repr=False)
    areas: Sequence[Area] = field(repr=False)


@cache
def _meaning(words: str) -> _Meaning:
    return _Meaning(moment_of(words), ranges_of(words), [named.area for named in areas_in(words)])


def _holds(said: _Meaning, candidate: _Meaning) -> int:
    """1 if what is said holds the candidate, -1 if it excludes it, 0 if no rule reads both."""
    if said.moment is not None:
        return _sign(said.moment.holds(candidate.moment)) if candidate.moment is not None else 0
    if said.areas and candidate.areas:
        return _sign(any(area.holds(other) for area in said.areas for other in candidate.areas))
    if said.ranges and candidate.ranges:
        return _sign(any(one.holds(other) for one in said.ranges for other in candidate.ranges))
    return 0


def _sign(fits: bool) -> int:
    return 1 if fits else -1
