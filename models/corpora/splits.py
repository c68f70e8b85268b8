"""The training and held-out splits of all corpora, the same on every machine.

A group (a document, a person, a template, a block of neighboring sentences) is never split. ``corpora.toml``
gives the held-out files or the held-out share of groups of each corpus.
"""

from collections.abc import Collection, Iterable
from fractions import Fraction
from math import ceil
from random import Random
from typing import Literal

Part = Literal["train", "held_out"]

SEED = 20261120
TAB_MORE_HELD_OUT = 42
"""Number of held-out cases of the Text Anonymization Benchmark besides the doubly annotated ones."""
BLOCK = 20
"""Block size for sentences without a document id: neighbors share their subject, so they stay together."""
MEDQUAD_SHARE = Fraction(1, 10)
MEDQUAD_ANSWERS = 1_200


def shuffled(groups: Iterable[str]) -> list[str]:
    """The distinct groups in an order that depends only on their names."""
    ordered = sorted(set(groups))
    Random(SEED).shuffle(ordered)
    return ordered


def held_out_share(groups: Iterable[str], share: Fraction) -> frozenset[str]:
    """The held-out groups: ``share`` of them, rounded up."""
    ordered = shuffled(groups)
    return frozenset(ordered[: ceil(len(ordered) * share)])


def held_out_cases(case_ids: Iterable[str], named: Collection[str]) -> frozenset[str]:
    """The held-out benchmark cases: the ``named`` ones, whose risks are also annotated, and 42 others."""
    return frozenset(named) | frozenset(shuffled(set(case_ids) - set(named))[:TAB_MORE_HELD_OUT])


def block_of(corpus: str, number: int) -> str:
    """The group of the ``number``-th sentence (from 0) of a corpus without document ids."""
    return f"{corpus}-{number // BLOCK:04d}"
