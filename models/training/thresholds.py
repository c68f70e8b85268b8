"""Per-label score thresholds, fitted on held-out development texts."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.corpora.examples import Example
from models.detectors.words import WordHit, by_label
from models.training.rows import targets_in

LOWEST = 0.05
"""Words below this score are ignored in fitting."""
FEWEST_WORDS = 100
"""A label with fewer in the development texts takes the threshold of all labels together."""
DEVELOPMENT_SHARE = 20
"""One in this many groups of every corpus is held out to fit thresholds."""
GRID = tuple(number / 20 for number in range(1, 19))


@dataclass(frozen=True, slots=True)
class Profile:
    """The objective, F-beta, and the allowed range of thresholds."""

    name: str
    beta: float
    low: float
    high: float


BALANCED = Profile("balanced", beta=1.0, low=0.15, high=0.8)
RECALL = Profile("recall", beta=3.0, low=0.05, high=0.5)
PROFILES = (BALANCED, RECALL)


@dataclass(frozen=True, slots=True)
class Tally:
    """For one label: scores of true and false positive words, and the number of gold words."""

    right: tuple[float, ...]
    wrong: tuple[float, ...]
    marked: int


def development_split(examples: Iterable[Example]) -> tuple[list[Example], list[Example]]:
    """The training and development parts; a group is never split."""
    sides: tuple[list[Example], list[Example]] = ([], [])
    for example in examples:
        digest = hashlib.sha256(f"{example.corpus} {example.group}".encode()).digest()
        sides[digest[0] % DEVELOPMENT_SHARE == 0].append(example)
    return sides


def fit(tallies: Mapping[str, Tally], profile: Profile) -> dict[str, float]:
    """A threshold for each label, and under the empty name the one for labels that are new."""
    together = Tally(
        tuple(score for tally in tallies.values() for score in tally.right),
        tuple(score for tally in tallies.values() for score in tally.wrong),
        sum(tally.marked for tally in tallies.values()),
    )
    common = _best(together, profile)
    fitted = {
        label: _best(tally, profile) if tally.marked >= FEWEST_WORDS else common
        for label, tally in sorted(tallies.items())
    }
    return {"": common, **fitted}


def f_beta(tally: Tally, threshold: float, beta: float) -> float:
    """F-beta over words at the threshold, in [0, 1]."""
    right = sum(score >= threshold for score in tally.right)
    wrong = sum(score >= threshold for score in tally.wrong)
    if not right:
        return 0.0
    precision, recall = right / (right + wrong), right / tally.marked
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def _best(tally: Tally, profile: Profile) -> float:
    allowed = [threshold for threshold in GRID if profile.low <= threshold <= profile.high]
    return max(allowed, key=lambda threshold: f_beta(tally, threshold, profile.beta))


def tallied(
    examples: Sequence[Example],
    places: Sequence[Sequence[tuple[int, int]]],
    hits: Sequence[Sequence[WordHit]],
) -> dict[str, Tally]:
    """Tallies of the predictions on the examples, by label; only for labels in ``asked``."""
    right: dict[str, list[float]] = {}
    wrong: dict[str, list[float]] = {}
    marked: Counter[str] = Counter()
    for example, words, of_text in zip(examples, places, hits, strict=True):
        found = by_label(of_text)
        for label in example.asked:
            gold = _words_of(label, example, words)
            marked[label] += len(gold)
            for number, hit in found.get(label, {}).items():
                (right if number in gold else wrong).setdefault(label, []).append(hit.score)
    return {
        label: Tally(tuple(right.get(label, ())), tuple(wrong.get(label, ())), count)
        for label, count in marked.items()
        if count
    }


def _words_of(label: str, example: Example, words: Sequence[tuple[int, int]]) -> set[int]:
    targets = targets_in([mention for mention in example.mentions if mention.label == label], words)
    return {number for first, more, _ in targets for number in range(first, first + more + 1)}
