"""Texts of corpora with other names of people in them."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from models.corpora.examples import Edit, Example, Mention, Need, edited
from models.training.labels import PERSON


def names_by_length(examples: Sequence[Example]) -> dict[int, list[str]]:
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
