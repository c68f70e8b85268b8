"""How much each clue tells, learned from slots whose originals are known.

The probability of a candidate is its share of all mentions times the exponential of its weighted clues: a
conditional logit (McFadden 1974), of which frequency alone is the case in which all weights are 0. The
weights are the most probable ones given the slots; where these are few, they stay near ``BELIEVED``.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from eval.attacks.clues import CLUES, Clue

Floats = NDArray[np.float64]
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

    def surprise(self, weights: Floats) -> Floats:
        """Minus the log probability of each truth, in nats."""
        return _surprise(self, weights)[0]

    def only(self, chosen: NDArray[np.bool_]) -> "Known":
        """The chosen slots."""
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
        surprise, slope = _surprise(some, weights)
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
        gain = those.surprise(np.zeros(len(CLUES))) - those.surprise(weights)
        for place, each in zip(np.flatnonzero(groups == other).tolist(), gain.tolist(), strict=True):
            gains[documents[place]] = gains.get(documents[place], 0.0) + each
    return np.array(list(gains.values()))


def _surprise(known: Known, weights: Floats) -> tuple[Floats, Floats]:
    """The surprise at each truth, and its slope by the weights."""
    scores = known.logs + known.clues @ weights
    top = scores.max(axis=1)
    odds = np.exp(scores - top[:, None])
    total = odds.sum(axis=1)
    expected = np.einsum("sc,scw->sw", odds / total[:, None], known.clues)
    return np.log(total) + top - scores[:, 0], expected - known.clues[:, 0]
