"""Which texts the detector sees, how often, and how they are varied."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from models.training.examples import Example, Mention

SHARES: Mapping[str, float] = {
    "tab": 16,
    "spia_cases": 18,
    "spia_posts": 4,
    "gum": 7,
    "litbank": 4,
    "re3d": 3,
    "wnut17": 6,
    "broad_twitter": 7,
    "wikigold": 4,
    "crossner": 6,
    "uner_ewt": 6,
    "sec_filings": 2,
    "bc5cdr": 2,
    "ncbi_disease": 1,
    "presidio_synth": 4,
    "medquad": 4,
    "synthetic": 20,
}
"""In what proportion tokens come from the corpora; one that is absent gives way to the rest."""
FINISHING_SHARES: Mapping[str, float] = {**SHARES, "tab": 35, "spia_cases": 38, "spia_posts": 13}
"""In the end more of the texts in which everything that may identify somebody is marked."""

PERSON = "person full name"
SWAPPED = 0.3
"""How often the people of a text are given other names."""
LOWERED = 0.05
"""How often a text is read in lower case."""


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
        """The next example: of the corpus that is farthest behind its share."""
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
    """The example with other people's names, the same for the same; offsets follow.

    A name that another mention cuts, be it a name too, is left alone.
    """
    chosen: dict[str, str] = {}
    edits: list[tuple[int, int, str]] = []
    for mention in sorted(set(example.mentions)):
        if mention.label != PERSON or any(_cuts(other, mention) for other in example.mentions):
            continue
        old = example.text[mention.start : mention.end]
        pool = names.get(len(old.split()))
        if pool and old[:1].isupper():
            edits.append((mention.start, mention.end, chosen.setdefault(old, chance.choice(pool))))
    return _edited(example, edits)


def _cuts(other: Mention, name: Mention) -> bool:
    """Whether the other mention overlaps the name without holding it whole."""
    overlaps = other.start < name.end and name.start < other.end
    return overlaps and not (other.start <= name.start and name.end <= other.end)


def _edited(example: Example, edits: Sequence[tuple[int, int, str]]) -> Example:
    pieces, at, shifts = [], 0, []
    for start, end, new in edits:
        pieces += [example.text[at:start], new]
        at = end
        shifts.append((start, end, len(new) - (end - start)))
    pieces.append(example.text[at:])

    def moved(place: int) -> int:
        return place + sum(by for _, end, by in shifts if end <= place)

    mentions = tuple(replace(m, start=moved(m.start), end=moved(m.end)) for m in example.mentions)
    return replace(example, text="".join(pieces), mentions=mentions)
