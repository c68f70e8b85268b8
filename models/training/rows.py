"""From annotated texts to the inputs and targets of the detector's network."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from models.corpora.examples import NEEDS, SYNTHETIC, Example, Mention, Need
from models.detectors.network import IDENTIFIERS, KINDS, MUSTS, WIDEST
from models.detectors.words import pieces_of, words_of
from models.encoders.bert import CLS, SEP
from models.encoders.minilm import Released
from models.training.absences import MEDICAL, surely_absent

if TYPE_CHECKING:
    from torch import Tensor

MOST_TOKENS = 250
"""Maximum word pieces per row; longer texts are cut to a random run of words."""

OF_MEDICINE = ("bc5cdr", "ncbi_disease", "medquad", "crossner")
"""Corpora with medicine and chemistry beyond our word list: medical labels never count as absent."""

Target = tuple[int, int, str]
"""First word, how many words more, and the label."""


DIRECT_ONLY = ("spia_cases", "spia_posts")
"""Corpora in which only what has to go is marked completely: other words may tell of a person, and stay."""
EITHER = MUSTS
"""The must of words that tell of nobody or may stay."""
NONE = -100
"""No target, as torch writes it."""
NeedTarget = tuple[int, int, int, int]
"""Whether the word begins a mark, its must (of ``MUSTS``, or ``EITHER``), its kind and its class."""


@dataclass(frozen=True, slots=True)
class Row:
    """One text of a batch: its tokens, the first token of each word, and the targets."""

    ids: list[int] = field(repr=False)
    firsts: list[int] = field(repr=False)
    targets: list[Target] = field(repr=False)
    asked: tuple[str, ...]
    needs: "list[NeedTarget] | None" = field(default=None, repr=False)
    """One target for each word; None where nobody marked what has to go."""


def row_of(example: Example, model: Released, chance: random.Random) -> Row:
    """The example as a row; a long one is cut to a random run of words."""
    places = words_of(example.text)
    pieces = pieces_of(model.tokenizer, [example.text[start:end] for start, end in places])
    first, last = _run(pieces, chance)
    ids, firsts = [CLS], []
    for of_word in pieces[first:last]:
        firsts.append(len(ids))
        ids += of_word
    ids.append(SEP)
    inside = places[first:last]
    # A mark says nothing of labels: what is not marked may be an age, or the name of somebody public.
    targets = [] if example.corpus == NEEDS else targets_in(example.mentions, inside)
    needs = None if example.needs is None else needs_in(example.needs, inside, example.corpus in DIRECT_ONLY)
    return Row(ids, firsts, targets, asked_of(example, inside, targets), needs)


def asked_of(
    example: Example, places: Sequence[tuple[int, int]], targets: Sequence[Target]
) -> tuple[str, ...]:
    """The labels to train on in a run of words: completely annotated or surely absent ones."""
    if not places or example.corpus == SYNTHETIC:  # synthetic annotations already list absences
        return example.asked
    known = {label for _, _, label in targets}
    if example.corpus in OF_MEDICINE:
        known |= set(MEDICAL)
    absent = surely_absent(example.text[places[0][0] : places[-1][1]])
    return tuple(dict.fromkeys([*example.asked, *(label for label in absent if label not in known)]))


def _run(pieces: Sequence[Sequence[int]], chance: random.Random) -> tuple[int, int]:
    """First word and the one after the last; beginnings and ends are drawn as often as what is between."""
    sizes = [len(of_word) for of_word in pieces]
    if sum(sizes) <= MOST_TOKENS:
        return 0, len(sizes)
    # As if the text went on at both ends: what would hang over is moved inside.
    least = -MOST_TOKENS // 2
    first = max(0, chance.randrange(least, len(sizes)))
    total, last = 0, first
    while last < len(sizes) and total + sizes[last] <= MOST_TOKENS:
        total += sizes[last]
        last += 1
    while first > 0 and total + sizes[first - 1] <= MOST_TOKENS:
        first -= 1
        total += sizes[first]
    return first, last


def targets_in(mentions: Sequence[Mention], places: Sequence[tuple[int, int]]) -> list[Target]:
    """The mentions as word ranges; a mention across the edge of the run is clipped."""
    found = set()
    for mention in mentions:
        inside = [i for i, (start, end) in enumerate(places) if start < mention.end and mention.start < end]
        if inside:
            found.add((inside[0], inside[-1] - inside[0], mention.label))
    return sorted(found)


def needs_in(needs: Sequence[Need], places: Sequence[tuple[int, int]], direct_only: bool) -> list[NeedTarget]:
    """The target of each word."""
    found: list[NeedTarget] = [(0, EITHER if direct_only else 0, NONE, NONE)] * len(places)
    for need in needs:
        inside = [i for i, (start, end) in enumerate(places) if start < need.end and need.start < end]
        must = EITHER if direct_only and need.must == 0 else need.must + 1
        for i in inside:
            kind, identifier = KINDS.index(need.kind), IDENTIFIERS.index(need.identifier)
            found[i] = (int(i == inside[0]), must, kind, identifier)
    return found


@dataclass(frozen=True, slots=True)
class Targets:
    """``spans`` has the shape (rows, words, WIDEST, labels), the others (rows, words, labels).

    Entry (r, i, k, c) of ``spans`` is for words i to i + k of row r. A mention that is wider than a span may
    be is several spans that touch, but begins once.
    """

    spans: "Tensor" = field(repr=False)
    inside: "Tensor" = field(repr=False)
    begin: "Tensor" = field(repr=False)


def targets_of(rows: Sequence[Row], labels: Sequence[str], words: int) -> Targets:
    """The mentions of rows that are padded to ``words``; every label of a mention is among ``labels``."""
    import torch

    column = {label: number for number, label in enumerate(labels)}
    spans = torch.zeros(len(rows), words, WIDEST, len(labels))
    inside, begin = torch.zeros(2, len(rows), words, len(labels))
    for number, row in enumerate(rows):
        for first, more, label in row.targets:
            end, place = first + more + 1, column[label]
            begin[number, first, place] = 1
            inside[number, first:end, place] = 1
            for piece in range(first, end, WIDEST):
                spans[number, piece, min(WIDEST, end - piece) - 1, place] = 1
    return Targets(spans, inside, begin)


def asked_tensor(rows: Sequence[Row], labels: Sequence[str]) -> "Tensor":
    """Shape (rows, labels): 1 if the label is completely annotated in the row."""
    import torch

    column = {label: number for number, label in enumerate(labels)}
    asked = torch.zeros(len(rows), len(labels))
    for number, row in enumerate(rows):
        asked[number, [column[label] for label in row.asked if label in column]] = 1
    return asked
