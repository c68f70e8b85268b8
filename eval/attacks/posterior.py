"""How much each clue tells, learned from slots whose originals are known.

The probability of a candidate is its share of all mentions times the exponential of its weighted clues: a
conditional logit (McFadden 1974), of which frequency alone is the case in which all weights are 0. The
weights are the most probable ones given the slots; where these are few, they stay near ``BELIEVED``.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from eval.measures.leakage import normalized
from eval.measures.said import Area, Moment, Range, areas_in, moment_of, ranges_of
from eval.targets import having_read
from ingest.documents import Action, Decision, Document, SanitizedDocument
from ingest.language.vocabulary import fold
from ingest.protocols import Encoder
from ingest.wording.mentions import names_only_a_kind
from ingest.wording.words import rungs_of
from models.errors import LetheError

Floats = NDArray[np.float64]
WINDOW = 150
"""Characters of context on either side of a slot; twice as many were no better."""


class OriginalsMissing(LetheError):
    """Guesses can be scored only if the original document is known."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A decision in a sanitized document, with its original text and its context now.

    ``place`` is half-open and counts characters of the sanitized text.
    """

    doc_id: str
    decision: Decision = field(repr=False)
    place: tuple[int, int]
    original: str = field(repr=False)
    words: str = field(repr=False)
    """What stands there now; empty if it was suppressed."""
    surroundings: str = field(repr=False)

    @property
    def normal(self) -> str:
        return normalized(self.original)

    @property
    def label(self) -> str:
        return self.decision.entity.label

    @property
    def kept(self) -> bool:
        return self.decision.action is Action.KEEP


def slots_of(documents: Iterable[Document], sanitized: Sequence[SanitizedDocument]) -> list[list[Slot]]:
    """The slots of each sanitized document, in order.

    An attacker who runs the detector too tells mentions that were kept on purpose from those missed.

    Raises:
        OriginalsMissing: one of the sanitized documents has no original.
    """
    originals = {document.doc_id: document.text for document in documents}
    missing = [each.doc_id for each in sanitized if each.doc_id not in originals]
    if missing:
        raise OriginalsMissing(
            f"{len(missing)} of {len(sanitized)} sanitized documents have no original, the first is "
            f"{missing[0]}: give the documents that were sanitized"
        )
    return [_slots(originals[each.doc_id], each) for each in sanitized]


def _slots(original: str, sanitized: SanitizedDocument) -> list[Slot]:
    return [
        Slot(
            sanitized.doc_id,
            decision,
            place,
            original[decision.entity.span.start : decision.entity.span.end],
            sanitized.text[place[0] : place[1]],
            f"{sanitized.text[max(0, place[0] - WINDOW) : place[0]]} "
            f"{sanitized.text[place[1] : place[1] + WINDOW]}",
        )
        for decision, place in zip(sanitized.decisions, sanitized.places, strict=True)
    ]


def overlooked_text(sanitized: SanitizedDocument) -> str:
    """The normalized text without kept mentions and replacements: copies in the rest were missed."""
    pieces, cursor = [], 0
    for start, end in sorted(sanitized.places):
        pieces.append(sanitized.text[cursor : max(cursor, start)])
        cursor = max(cursor, end)
    # The bar keeps words on both sides of a gap from matching as one phrase.
    return normalized(" | ".join([*pieces, sanitized.text[cursor:]]))


class Candidates:
    """The attacker's knowledge: all originals of each label with their frequencies.

    Places are unknown. Spellings with the same ``normalized`` form are one candidate.
    """

    __slots__ = ("_spelled", "mentions")

    def __init__(self, slots: Iterable[Slot]) -> None:
        spelled: dict[str, dict[str, str]] = {}
        self.mentions: Counter[tuple[str, str]] = Counter()
        for slot in slots:
            spelled.setdefault(slot.label, {}).setdefault(slot.normal, slot.original)
            self.mentions[slot.label, slot.normal] += 1
        # Sorted, so that the order of the documents has no effect.
        self._spelled = {label: dict(sorted(texts.items())) for label, texts in spelled.items()}

    def spelled(self, label: str) -> Mapping[str, str]:
        """The first spelling of each candidate of a label, by its normalized form."""
        return self._spelled[label]

    def pool(self, slot: Slot, most: int, rng: random.Random) -> list[str]:
        """At most ``most`` candidates of the slot's label in random order, the truth among them."""
        truth = slot.normal
        others = [normal for normal in self._spelled[slot.label] if normal != truth]
        pool = [truth, *rng.sample(others, min(most - 1, len(others)))]
        rng.shuffle(pool)
        return pool


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
    """The clues of slots that were replaced; all texts are encoded beforehand, in batches.

    Each clue is a number per candidate, about 0 where the text says nothing, higher where it speaks for the
    candidate. What holds for every slot of a label, such as a candidate whose vector is near to all texts, is
    no clue: likenesses count from their mean over the label.
    """

    def __init__(
        self, slots: Sequence[Slot], known: Candidates, encoder: Encoder, overlooked: Overlooked
    ) -> None:
        hidden = {slot.label for slot in slots if not slot.kept}
        spellings = [text for label in sorted(hidden) for text in known.spelled(label).values()]
        asked = [slot for slot in slots if slot.label in hidden]
        read = having_read(
            encoder, [*spellings, *(text for slot in asked for text in (slot.surroundings, slot.words))]
        )
        self._labels = {
            label: _OfLabel(
                label, [slot for slot in asked if slot.label == label], known.spelled(label), read, overlooked
            )
            for label in sorted(hidden)
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
                clues = self._labels[label].clues([slots[n] for n in some], [pools[n] for n in some])
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
    fits: bool | None = None
    if said.moment is not None:
        fits = None if candidate.moment is None else said.moment.holds(candidate.moment)
    elif said.areas and candidate.areas:
        fits = any(area.holds(other) for area in said.areas for other in candidate.areas)
    elif said.ranges and candidate.ranges:
        fits = any(one.holds(other) for one in said.ranges for other in candidate.ranges)
    return 0 if fits is None else 1 if fits else -1


BELIEVED: dict[Clue, float] = {"rung": 2.0, "meaning": 1.0, "overlooked": 1.0}
"""The weights before anything is learned; 0 where not named."""
SPREAD: dict[Clue, float] = {"rung": 2.0, "overlooked": 2.0, "kept": 2.0}
"""How far a weight may be from what was believed: a standard deviation, 1 where not named."""
AGAINST: frozenset[Clue] = frozenset(("kept",))
"""Clues that speak against a candidate. The weight of any other one is never below 0."""
FACTS: frozenset[Clue] = frozenset(("rung", "meaning", "overlooked"))
"""Clues that need no likeness: the second choice where likenesses mislead."""


@dataclass(frozen=True, slots=True)
class Known:
    """Slots whose originals are known, the truth first among the candidates of each.

    ``logs`` are the log frequencies, (slots, candidates) and minus infinity where a pool has no more;
    ``clues`` are (slots, candidates, clues).
    """

    logs: Floats = field(repr=False)
    clues: Floats = field(repr=False)

    @staticmethod
    def of(logs: Sequence[Floats], clues: Sequence[Floats]) -> "Known":
        """From the log frequencies and clues of each slot, whose pools differ in size."""
        shape = len(logs), max(map(len, logs), default=1)
        every = np.full(shape, -np.inf), np.zeros((*shape, len(CLUES)))
        for number, (log, told) in enumerate(zip(logs, clues, strict=True)):
            every[0][number, : len(log)], every[1][number, : len(log)] = log, told
        return Known(*every)

    def surprise(self, weights: Floats) -> tuple[Floats, Floats]:
        """Minus the log probability of each truth, in nats, and its slope by the weights."""
        scores = self.logs + self.clues @ weights
        top = scores.max(axis=1)
        odds = np.exp(scores - top[:, None])
        total = odds.sum(axis=1)
        expected = np.einsum("sc,scw->sw", odds / total[:, None], self.clues)
        return np.log(total) + top - scores[:, 0], expected - self.clues[:, 0]

    def only(self, chosen: NDArray[np.bool_]) -> "Known":
        return Known(self.logs[chosen], self.clues[chosen])


def weights_of(known: Known, clues: Collection[Clue] = CLUES) -> Floats:
    """The most probable weights of some clues, 0 for the others."""
    from scipy.optimize import minimize

    used = np.array([clue in clues for clue in CLUES])
    believed = np.array([BELIEVED.get(clue, 0.0) for clue in CLUES])
    if not len(known.logs):
        return np.where(used, believed, 0.0)
    spread = np.array([SPREAD.get(clue, 1.0) for clue in CLUES])[used]
    some = Known(known.logs, known.clues[..., used])

    def loss(weights: Floats) -> tuple[float, Floats]:
        surprise, slope = some.surprise(weights)
        away = (weights - believed[used]) / spread
        return float(surprise.sum() + away @ away / 2), slope.sum(axis=0) + away / spread

    bounds = [(None, 0.0) if clue in AGAINST else (0.0, None) for clue in CLUES if clue in clues]
    weights = np.zeros(len(CLUES))
    weights[used] = minimize(loss, believed[used], jac=True, bounds=bounds, method="L-BFGS-B").x
    return weights


def weights_by_group(known: Known, documents: Sequence[str], groups: NDArray[np.int64]) -> dict[int, Floats]:
    """For each group of documents the weights learned from all others: of all clues, of ``FACTS``, or none.

    Clues count only if they make the truth likelier than frequency does, by at least a standard error over
    the documents, where each group of the others is left out once more. The choice that gains most is taken.
    """
    every = sorted(set(groups.tolist()))
    if len(every) < 2:
        return dict.fromkeys(every, weights_of(known.only(groups < 0), FACTS))
    found = {group: np.zeros(len(CLUES)) for group in every}
    most = dict.fromkeys(every, -np.inf)
    for clues in (CLUES, FACTS):
        # Groups that were both left out: the same weights judge either of them for the other.
        without = {
            pair: weights_of(known.only(~np.isin(groups, pair)), clues) for pair in combinations(every, 2)
        }
        for group in every:
            gains = _gains(known, documents, groups, group, without)
            gain, error = gains.mean(), gains.std() / np.sqrt(len(gains))
            if gain >= error and gain > most[group]:
                most[group] = gain
                found[group] = weights_of(known.only(groups != group), clues)
    return found


def _gains(
    known: Known,
    documents: Sequence[str],
    groups: NDArray[np.int64],
    group: int,
    without: Mapping[tuple[int, int], Floats],
) -> Floats:
    """By how much each document outside the group is less surprising than by frequency alone."""
    gains = dict[str, float]()
    for other in sorted(set(groups.tolist()) - {group}):
        those = known.only(groups == other)
        weights = without[min(group, other), max(group, other)]
        gain = those.surprise(np.zeros(len(CLUES)))[0] - those.surprise(weights)[0]
        for place, each in zip(np.flatnonzero(groups == other).tolist(), gain.tolist(), strict=True):
            gains[documents[place]] = gains.get(documents[place], 0.0) + each
    return np.array(list(gains.values()))
