"""What is learned from and what is kept to measure: every rule in one place, the same on every machine.

A group (a document, a person, a template, a block of neighboring sentences) falls to one side as a whole.
"""

from collections.abc import Collection, Iterable
from fractions import Fraction
from math import ceil
from random import Random
from typing import Literal

Part = Literal["train", "held_out"]

SEED = 20261120

# Of the cases of the Text Anonymization Benchmark: how many join the doubly annotated ones that are kept.
TAB_MORE_HELD_OUT = 42

# Sentences without a document id: neighbors share their subject, so they fall to one side together.
BLOCK = 20

MEDQUAD_SHARE = Fraction(1, 10)
MEDQUAD_ANSWERS = 1_200

# Where the authors split a corpus, their split is ours, so figures compare with published ones.
TRAIN_FILES: dict[str, tuple[str, ...]] = {
    "spia_cases": ("tab_train",),
    "gum": ("train", "dev"),
    "wnut17": ("train", "dev"),
    # The publishers name f and h as the sections to measure on.
    "broad_twitter": ("a", "b", "e", "g"),
    # Politics is kept whole: a field of which nothing was seen.
    "crossner": tuple(
        f"{field}_{part}" for field in ("ai", "literature", "music", "science") for part in ("train", "dev")
    ),
    "sec_filings": ("train",),
    "bc5cdr": ("train",),
    "ncbi_disease": ("train",),
}
HELD_OUT_FILES: dict[str, tuple[str, ...]] = {
    "spia_cases": ("tab_dev",),
    "gum": ("test",),
    "wnut17": ("test",),
    "broad_twitter": ("f", "h"),
    "crossner": (
        "ai_test",
        "literature_test",
        "music_test",
        "science_test",
        "politics_train",
        "politics_dev",
        "politics_test",
    ),
    "sec_filings": ("test",),
    "bc5cdr": ("test",),
    "ncbi_disease": ("test",),
}

# Where they did not, this share of the groups is kept.
HELD_OUT_SHARES: dict[str, Fraction] = {
    # Posts about one person repeat that person's names and numbers.
    "spia_posts": Fraction(1, 5),
    # A novel repeats its characters.
    "litbank": Fraction(1, 5),
    # Reports of one event repeat its names; the ids name the report.
    "re3d": Fraction(1, 5),
    # No document ids: blocks of neighbors.
    "wikigold": Fraction(1, 5),
    # Only this split is free to learn from, so a third of its documents must measure everyday text.
    "uner_ewt": Fraction(1, 3),
    # A sentence frame that was seen is no test.
    "presidio_synth": Fraction(1, 5),
}


def files_of(corpus: str, part: Part) -> tuple[str, ...]:
    """The names (without ending) of the files of ``corpus`` that make up ``part``."""
    return (TRAIN_FILES if part == "train" else HELD_OUT_FILES)[corpus]


def shuffled(groups: Iterable[str]) -> list[str]:
    """The distinct groups in an order that depends on nothing but their names."""
    ordered = sorted(set(groups))
    Random(SEED).shuffle(ordered)
    return ordered


def held_out_share(groups: Iterable[str], share: Fraction) -> frozenset[str]:
    """The groups that are kept: ``share`` of them, rounded up."""
    ordered = shuffled(groups)
    return frozenset(ordered[: ceil(len(ordered) * share)])


def held_out_cases(case_ids: Iterable[str], named: Collection[str]) -> frozenset[str]:
    """The benchmark cases that are kept: the ``named`` ones, whose risks are also known, and 42 others."""
    return frozenset(named) | frozenset(shuffled(set(case_ids) - set(named))[:TAB_MORE_HELD_OUT])


def block_of(corpus: str, number: int) -> str:
    """The group of the ``number``-th sentence (from 0) of a corpus without document ids."""
    return f"{corpus}-{number // BLOCK:04d}"
