"""The training mixture of the detector: sampling and augmentation of texts."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from models.corpora.examples import Edit, Example, Mention, Need, edited
from models.training.labels import PERSON, SHARES

FINISHING_SHARES: Mapping[str, float] = {**SHARES, "tab": 35, "spia_cases": 38, "spia_posts": 13}
"""Shares of the final phase: more texts with all identifiers annotated."""

SWAPPED = 0.3
"""Probability of replacing the names of people in a text."""
LOWERED = 0.05
"""Probability of lower-casing a text."""


class Mixture:
    """Endless examples in the proportions of ``shares``, by tokens; the same seed gives the same ones."""

    def __init__(self, examples: Sequence[Example], seed: int, shares: Mapping[str, float] = SHARES) -> None:
        self._chance = random.Random(seed)
        self._shares = shares
        self._by_corpus: dict[str, list[Example]] = {}
        for example in examples:
            self._by_corpus.setdefault(example.corpus, []).append(example)
        self._order = {name: self._shuffled(name) for name in self._by_corpus}
        self._spent = dict.fromkeys(self._by_corpus, 0.0)
        self._names = _names(examples)

    def draw(self) -> Example:
        """The next example, from the corpus farthest below its share."""
        corpus = min(self._spent, key=lambda name: (self._spent[name], name))
        example = next(self._order[corpus])
        # A long text costs no more than the run of words that is read of it.
        self._spent[corpus] += min(len(example.text), 1000) / self._shares.get(corpus, 1.0)
        return self._varied(example)

    def _shuffled(self, corpus: str) -> Iterator[Example]:
        order = list(self._by_corpus[corpus])
        while True:
            self._chance.shuffle(order)
            yield from order

    def _varied(self, example: Example) -> Example:
        if self._names and self._chance.random() < SWAPPED:
            example = with_names(example, self._names, self._chance)
        if self._chance.random() < LOWERED and len(example.text.lower()) == len(example.text):
            example = replace(example, text=example.text.lower())
        return example


def _names(examples: Sequence[Example]) -> dict[int, list[str]]:
    """The names of people in the examples, by their number of words."""
    found: dict[int, set[str]] = {}
    for example in examples:
        for mention in example.mentions:
            name = example.text[mention.start : mention.end]
            words = name.split()
            if mention.label == PERSON and words and all(word[0].isupper() for word in words):
                found.setdefault(len(words), set()).add(name)
    return {number: sorted(names) for number, names in found.items()}


def with_names(example: Example, names: Mapping[int, Sequence[str]], chance: random.Random) -> Example:
    """The example with names replaced consistently and offsets adjusted.

    A name that partly overlaps another mention is not replaced.
    """
    chosen: dict[str, str] = {}
    edits: list[Edit] = []
    for mention in sorted(set(example.mentions)):
        marks: tuple[Mention | Need, ...] = (*example.mentions, *(example.needs or ()))
        if mention.label != PERSON or any(_cuts(other, mention) for other in marks):
            continue
        old = example.text[mention.start : mention.end]
        pool = names.get(len(old.split()))
        if pool and old[:1].isupper():
            edits.append(Edit(mention.start, mention.end, chosen.setdefault(old, chance.choice(pool))))
    text, mentions = edited(example.text, example.mentions, edits)
    needs = None if example.needs is None else edited(example.text, example.needs, edits)[1]
    return replace(example, text=text, mentions=mentions, needs=needs)


def _cuts(other: Mention | Need, name: Mention) -> bool:
    """Whether the other mention overlaps the name without containing it."""
    overlaps = other.start < name.end and name.start < other.end
    return overlaps and not (other.start <= name.start and name.end <= other.end)
