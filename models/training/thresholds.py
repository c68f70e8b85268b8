"""From what score on a span counts, for each label: fitted on texts that were not trained on."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.training.examples import Example
from models.windows import FoundSpan

LOWEST = 0.05
"""Spans below this score are not looked at in fitting."""
FEWEST_MENTIONS = 30
"""A label with fewer in the development texts takes the threshold of all labels together."""
DEVELOPMENT_SHARE = 20
"""One in so many groups of every corpus is set apart to fit thresholds on."""
GRID = tuple(number / 20 for number in range(1, 19))


@dataclass(frozen=True, slots=True)
class Profile:
    """What is weighed: F-beta, and the range within which a threshold may lie."""

    name: str
    beta: float
    low: float
    high: float


BALANCED = Profile("balanced", beta=1.0, low=0.15, high=0.8)
RECALL = Profile("recall", beta=3.0, low=0.05, high=0.5)
PROFILES = (BALANCED, RECALL)


@dataclass(frozen=True, slots=True)
class Tally:
    """Of one label: the scores of found spans that are right or wrong, and of each mention the best."""

    right: tuple[float, ...]
    wrong: tuple[float, ...]
    mentions: tuple[float, ...]
    """The best score of a span that touches the mention, 0 where none does."""


def apart(examples: Iterable[Example]) -> tuple[list[Example], list[Example]]:
    """What is trained on, and what is set apart; a group is never torn."""
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
        tuple(score for tally in tallies.values() for score in tally.mentions),
    )
    common = _best(together, profile)
    fitted = {
        label: _best(tally, profile) if len(tally.mentions) >= FEWEST_MENTIONS else common
        for label, tally in sorted(tallies.items())
    }
    return {"": common, **fitted}


def f_beta(tally: Tally, threshold: float, beta: float) -> float:
    """F-beta at the threshold, in [0, 1]; precision counts spans, recall mentions, any overlap."""
    right = sum(score >= threshold for score in tally.right)
    wrong = sum(score >= threshold for score in tally.wrong)
    met = sum(score >= threshold for score in tally.mentions)
    if not right or not met:
        return 0.0
    precision, recall = right / (right + wrong), met / len(tally.mentions)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def _best(tally: Tally, profile: Profile) -> float:
    allowed = [threshold for threshold in GRID if profile.low <= threshold <= profile.high]
    return max(allowed, key=lambda threshold: f_beta(tally, threshold, profile.beta))


def tallied(examples: Sequence[Example], found: Sequence[Sequence[FoundSpan]]) -> dict[str, Tally]:
    """What was found in the examples, by label; only where the label was asked."""
    right: dict[str, list[float]] = {}
    wrong: dict[str, list[float]] = {}
    mentions: dict[str, list[float]] = {}
    for example, spans in zip(examples, found, strict=True):
        for label in example.asked:
            gold = [mention for mention in example.mentions if mention.label == label]
            ours = [span for span in spans if span.label == label]
            for span in ours:
                hit = any(span.start < m.end and m.start < span.end for m in gold)
                (right if hit else wrong).setdefault(label, []).append(span.score)
            for mention in gold:
                touching = (s.score for s in ours if s.start < mention.end and mention.start < s.end)
                mentions.setdefault(label, []).append(max(touching, default=0.0))
    return {
        label: Tally(tuple(right.get(label, ())), tuple(wrong.get(label, ())), tuple(scores))
        for label, scores in mentions.items()
    }
