"""From every corpus's labels to ours: ``corpora.toml``, read once."""

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, Literal

PLACE = "place"


@cache
def label_names(group: str) -> tuple[str, ...]:
    """Our names in one of the table's lists: ``new``, ``surely_absent``, ``form`` or ``ward``."""
    return tuple(_table()["names"][group])


def corpus_facts(corpus: str) -> Mapping[str, Any]:
    """The rows of a corpus in the table."""
    facts: Mapping[str, Any] = _table()["corpora"][corpus]
    return facts


def mapped_corpora() -> tuple[str, ...]:
    """The names of the corpora in the table."""
    return tuple(_table()["corpora"])


@cache
def label_map(corpus: str) -> Mapping[str, tuple[str, ...]]:
    """Our names for each label of a corpus; ignored labels have no entry."""
    facts = corpus_facts(corpus)
    own = {label: tuple(names) for label, names in facts.get("labels", {}).items()}
    return {**label_map(facts["labels_of"]), **own} if "labels_of" in facts else own


@cache
def asked_labels(corpus: str, field: str = "") -> tuple[str, ...]:
    """The completely annotated labels of ``corpus`` (for CrossNER: of one of its fields)."""
    facts, table = corpus_facts(corpus), label_map(corpus)
    marked = [*facts["fields"]["all"], *facts["fields"][field]] if field else table
    names = [ours for label in marked for ours in table[label]]
    names += [*_spelled_out(facts.get("also_asked", ())), *label_names("surely_absent")]
    left_out = set(_spelled_out(facts.get("not_asked", ())))
    return tuple(dict.fromkeys(name for name in names if name not in left_out))


def _spelled_out(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield from label_names(name[1:]) if name.startswith("@") else (name,)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("corpora.toml").read_text(encoding="utf-8"))


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
