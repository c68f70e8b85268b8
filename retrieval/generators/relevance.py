"""How much a unit of a passage says about a question: its words, its vector, and what stands around it."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from models.vectors import Vectors
from retrieval.quoting.words import content_words

NEIGHBOR = 0.5
"""The weight of a neighbor's vector in the window around a unit."""
SOME = 0.3
"""The least share of the words of the question, rare ones counting more, that makes a text worth hearing."""
WEIGHTS = {"window": 0.38, "words": 0.18, "passage words": 0.24, "passage": 0.2, "reply": 0.06}


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit as it is scored: its words, the passage (``mark``) and text (``stretch``) it stands in.

    ``replies`` is true where a question of the text is part of it.
    """

    text: str = field(repr=False)
    mark: int
    stretch: int
    replies: bool


def relevances(question: str, units: Sequence[Scored], vectors: Vectors) -> NDArray[np.float64]:
    """The relevance of each unit, from about 0 to 1.06; ``vectors`` are the question's, then the units'.

    A weighted sum: the cosine of the question with the unit and its neighbors; the shares of the question's
    words in the unit and in its passage, rare words counting more; the cosine with the passage; and a bonus
    for a reply.
    """
    asked = vectors[0].astype(np.float64)
    rows = vectors[1:].astype(np.float64)
    words = [frozenset(content_words(unit.text)) for unit in units]
    weights = _rarity(content_words(question), words)
    parts = {
        "window": _cosines(_windows(rows, [unit.stretch for unit in units]), asked),
        "words": np.array([_share(each, weights) for each in words]),
        "passage words": np.zeros(len(units)),
        "passage": np.zeros(len(units)),
        "reply": np.array([float(unit.replies) for unit in units]),
    }
    marks = np.array([unit.mark for unit in units])
    for mark in set(marks.tolist()):
        here = np.flatnonzero(marks == mark)
        parts["passage words"][here] = _share(frozenset().union(*(words[n] for n in here)), weights)
        parts["passage"][here] = _cosines(rows[here].sum(axis=0, keepdims=True), asked)
    found: NDArray[np.float64] = sum(
        (WEIGHTS[name] * part for name, part in parts.items()), np.zeros(len(units))
    )
    return found


def naming(question: str, said: Sequence[str], best: int) -> NDArray[np.bool_]:
    """Whether each text has as many of the question's words as the ``best`` one, and more than a few."""
    words = [frozenset(content_words(text)) for text in said]
    weights = _rarity(content_words(question), words)
    found = np.array([_share(each, weights) for each in words])
    enough: NDArray[np.bool_] = (found >= SOME) & (found >= found[best] - 1e-9)
    return enough


def _windows(rows: NDArray[np.float64], stretches: Sequence[int]) -> NDArray[np.float64]:
    """Each row with its neighbors of the same stretch."""
    found = rows.copy()
    for n in range(1, len(rows)):
        if stretches[n] == stretches[n - 1]:
            found[n] += NEIGHBOR * rows[n - 1]
            found[n - 1] += NEIGHBOR * rows[n]
    return found


def _cosines(rows: NDArray[np.float64], asked: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = rows @ asked / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    return found


def _rarity(asked: Sequence[str], units: Sequence[Collection[str]]) -> dict[str, float]:
    """The weight of each word of the question: BM25's idf over the units; highest where none has it."""
    counts = Counter(word for words in units for word in words)
    n = len(units)
    return {word: math.log1p((n - counts[word] + 0.5) / (counts[word] + 0.5)) for word in asked}


def _share(words: Collection[str], weights: Mapping[str, float]) -> float:
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in words) / total if total else 0.0
