"""The rows that the reader learns from: windows of texts as arrays, which can be learned from elsewhere."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from models.corpora.passages import KINDS, Mark
from models.encoders.words import BOS, EOS, Splitter, Words
from models.reader.linking import features_of, name_words
from models.reader.network import FEATURES, IDENTIFIERS, TAGS

MOST_PIECES = 380
"""Pieces of a row, without the signs at its ends."""
MOST_PAIRS = 400
"""Pairs of mentions of a row that are learned from."""
LINKED = ("PERSON", "ORG", "LOC")
"""Kinds whose mentions are joined."""
UNKNOWN = 255
"""No class."""
ARRAYS = {
    "ids": np.uint16, "gaps": np.uint8, "shapes": np.uint8, "firsts": np.uint16, "tags": np.uint8,
    "musts": np.uint8, "classes": np.uint8, "spans": np.int16, "pairs": np.float16, "labels": np.int16,
    "asked": np.int16, "scored": np.float32, "source": np.uint8,
}  # fmt: skip
"""The arrays of a file: of pieces, of words, and of what lies over words, each with the ends of its rows."""


def _tag(kind: str) -> int:
    return 1 + 2 * KINDS.index(kind)


COARSE = {
    "DATETIME": ("DATE", "TIME", "DURATION"),
    "LOC": ("LOC", "ADDRESS"),
    "ORG": ("ORG", "LOC"),
    "DEM": ("JOB", "FAMILY", "ORIGIN", "DEM", "AGE", "CONDITION", "MISC"),
    "HEALTH": ("CONDITION", "DRUG", "TEST", "PROCEDURE", "QUANTITY"),
    "QUANTITY": ("QUANTITY", "MONEY", "DURATION", "TEST", "AGE"),
    "MISC": KINDS,
    "CODE": ("CODE", "CONTACT"),
}
"""What a kind of coarser marks may be."""
UNMARKED_IN_CLINIC = (
    "CONDITION",
    "DRUG",
    "TEST",
    "PROCEDURE",
    "QUANTITY",
    "DURATION",
    "TIME",
    "MISC",
    "JOB",
    "DEM",
)
"""What a clinical corpus leaves unmarked though it tells of somebody."""


def tag_sets() -> NDArray[np.bool_]:
    """Shape (sets, TAGS): the tags that a target allows.

    The first ``TAGS`` sets have one tag each, then come all tags, then the beginnings and the insides of
    coarse kinds in their order, then outside or what a clinical corpus leaves unmarked.
    """
    rows = [np.eye(TAGS, dtype=bool), np.ones((1, TAGS), dtype=bool)]
    for kinds in COARSE.values():
        for inside in (0, 1):
            row = np.zeros((1, TAGS), dtype=bool)
            row[0, [_tag(kind) + inside for kind in kinds]] = True
            rows.append(row)
    row = np.zeros((1, TAGS), dtype=bool)
    row[0, [0, *(_tag(kind) + inside for kind in UNMARKED_IN_CLINIC for inside in (0, 1))]] = True
    return np.concatenate([*rows, row])


ANY_TAG = TAGS
CLINIC_TAG = TAGS + 1 + 2 * len(COARSE)
MUST_SETS = np.array(
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0]],
    dtype=bool,
)
"""The needs that a target allows: each by itself, nothing or may stay, any, and any but has to be masked."""
STAYS, ANY_MUST, NO_MASK = 4, 5, 6


@dataclass(frozen=True, slots=True)
class Source:
    """How a corpus is read: its number, whether its kinds are coarse, and what unmarked words may be."""

    number: int
    coarse: bool = False
    tag: int = 0
    must: int = 0


SOURCES = {
    "passages": Source(0),
    "needs": Source(1, coarse=True),
    "cases": Source(2, coarse=True, tag=ANY_TAG, must=STAYS),
    "posts": Source(3, coarse=True, tag=ANY_TAG, must=STAYS),
    "clinic": Source(4, tag=CLINIC_TAG, must=NO_MASK),
    "general": Source(5),
    "labels": Source(6, tag=ANY_TAG, must=ANY_MUST),
    "scored": Source(7, tag=ANY_TAG, must=ANY_MUST),
}


@dataclass(frozen=True, slots=True)
class Item:
    """A text to learn from; private.

    ``labels`` are spans with the numbers of labels, ``asked`` those that are complete, ``scored`` spans with
    a risk in [0, 1] and its weight.
    """

    source: str
    text: str = field(repr=False)
    marks: Sequence[Mark] = field(default=(), repr=False)
    labels: Sequence[tuple[int, int, int]] = field(default=(), repr=False)
    asked: Sequence[int] = ()
    scored: Sequence[tuple[int, int, float, float]] = field(default=(), repr=False)


class Rows:
    """Rows as they are made; ``save`` writes them."""

    def __init__(self) -> None:
        self._parts: dict[str, list[NDArray[np.generic]]] = {name: [] for name in ARRAYS}
        self._sizes: dict[str, list[int]] = {name: [] for name in ARRAYS}

    def add(self, items: Sequence[Item], splitter: Splitter, chance: random.Random) -> None:
        """The windows of the texts; where a text is cut is drawn."""
        for item, words in zip(items, splitter.words([item.text for item in items]), strict=True):
            for first, last in _windows([len(each) for each in words.pieces], chance):
                self._add(_row(item, words, first, last, chance))

    def _add(self, row: dict[str, NDArray[np.generic]]) -> None:
        for name, array in row.items():
            self._parts[name].append(array.astype(ARRAYS[name]))
            self._sizes[name].append(len(array))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Each array with all rows after each other, and where they end, as ``NAME.ends``."""
        made: dict[str, NDArray[np.generic]] = {}
        for name, parts in self._parts.items():
            made[name] = np.concatenate(parts)
            made[f"{name}.ends"] = np.cumsum(self._sizes[name], dtype=np.int64)
        return made


def _windows(sizes: Sequence[int], chance: random.Random) -> Iterator[tuple[int, int]]:
    """Runs of words with at most ``MOST_PIECES`` pieces that cover the text; the first is of any length."""
    total, first = sum(sizes), 0
    limit = MOST_PIECES if total <= MOST_PIECES else chance.randint(MOST_PIECES // 3, MOST_PIECES)
    while first < len(sizes):
        last, pieces = first, 0
        while last < len(sizes) and pieces + sizes[last] <= limit:
            pieces += sizes[last]
            last += 1
        last = max(last, first + 1)
        yield first, last
        first, limit = last, MOST_PIECES


def _row(
    item: Item, words: Words, first: int, last: int, chance: random.Random
) -> dict[str, NDArray[np.generic]]:
    source = SOURCES[item.source]
    places = words.places[first:last]
    ids, firsts, gaps, shapes = [BOS], [], [-1], [-1]
    for number in range(first, last):
        pieces = words.pieces[number][:MOST_PIECES]
        firsts.append(len(ids))
        ids += pieces
        gaps += [words.gaps[number]] + [0] * (len(pieces) - 1)
        shapes += [words.shapes[number]] * len(pieces)
    starts = np.array([start for start, _ in places])
    ends = np.array([end for _, end in places])

    def inside(start: int, end: int) -> tuple[int, int]:
        return int(np.searchsorted(ends, start, "right")), int(np.searchsorted(starts, end, "left"))

    n = len(places)
    tags, musts = np.full(n, source.tag), np.full(n, source.must)
    classes = np.full(n, UNKNOWN)
    spans = list[tuple[int, int, int, int]]()
    for mark in item.marks:
        begin, stop = inside(mark.start, mark.end)
        if begin >= stop:
            continue
        coarse = source.coarse and mark.kind in COARSE
        tag = TAGS + 1 + 2 * list(COARSE).index(mark.kind) if coarse else _tag(mark.kind)
        # A mention that the row cuts goes on where the row begins.
        cut = begin == 0 and first > 0 and words.places[first - 1][1] > mark.start
        tags[begin:stop] = tag + 1
        tags[begin] = tag + int(cut)
        musts[begin:stop] = STAYS if source.must == STAYS and mark.must == 0 else mark.must + 1
        classes[begin:stop] = IDENTIFIERS.index(mark.identifier)
        if mark.kind in LINKED and mark.entity >= 0:
            spans.append((begin, stop, LINKED.index(mark.kind), mark.entity))
    names = [name_words(item.text[places[a][0] : places[b - 1][1]]) for a, b, _, _ in spans]
    pairs = [
        (one, other) for one, other in combinations(range(len(spans)), 2) if spans[one][2] == spans[other][2]
    ]
    if len(pairs) > MOST_PAIRS:
        pairs = chance.sample(pairs, MOST_PAIRS)
    learned = [
        (
            one,
            other,
            spans[one][3] == spans[other][3],
            *features_of(names[one], names[other], spans[other][0] - spans[one][0]),
        )
        for one, other in pairs
    ]
    labels = [(*inside(start, end), label) for start, end, label in item.labels]
    scored = [(*inside(start, end), score, weight) for start, end, score, weight in item.scored]
    return {
        "ids": np.array([*ids, EOS]),
        "gaps": np.array([*gaps, -1]) % 256,
        "shapes": np.array([*shapes, -1]) % 256,
        "firsts": np.array(firsts),
        "tags": tags,
        "musts": musts,
        "classes": classes,
        "spans": np.array(spans).reshape(-1, 4),
        "pairs": np.array(learned, dtype=np.float64).reshape(-1, 3 + FEATURES),
        "labels": np.array([each for each in labels if each[0] < each[1]]).reshape(-1, 3),
        "asked": np.array(item.asked),
        "scored": np.array([each for each in scored if each[0] < each[1]]).reshape(-1, 4),
        "source": np.array([source.number]),
    }
