"""What two rankings, or two texts, have in common."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from eval.measures.uncertainty import Estimate, mean_of

COPIED_TOKENS = 20
"""The fewest consecutive word tokens that count as copied (Zeng et al. 2024)."""


@dataclass(frozen=True, slots=True)
class RecallOverlap:
    """Recall@k overlap of two indexes: the mean, and the value of each query that had an answer."""

    k: int
    estimate: Estimate
    per_query: Sequence[float] = field(repr=False)


def recall_at_k_overlap(
    original: Sequence[Sequence[Hashable]], other: Sequence[Sequence[Hashable]], k: int, seed: int = 0
) -> RecallOverlap:
    """The share of the first ``k`` of the original ranking that is also in the first ``k`` of the other.

    One ranking per query, best first, of document ids or passage keys; repetitions count. A query with
    fewer than ``k`` original results is compared on those, and one with none is left out. Identical
    rankings give 1.

    Raises:
        ValueError: k is below 1, or the two have different numbers of queries.
    """
    if k < 1:
        raise ValueError(f"k is {k}: give at least 1")
    if len(original) != len(other):
        raise ValueError(f"{len(original)} original rankings, {len(other)} others: give one of each a query")
    values = [
        (Counter(left[:k]) & Counter(right[:k])).total() / min(k, len(left))
        for left, right in zip(original, other, strict=True)
        if left
    ]
    return RecallOverlap(k, mean_of(values, seed), values)


def word_tokens(text: str) -> list[str]:
    r"""The case-folded ``\w+`` tokens of a text."""
    return re.findall(r"\w+", text.casefold())


def copied_runs(output: Sequence[str], source: Sequence[str], least: int = COPIED_TOKENS) -> tuple[int, ...]:
    """The lengths of the shared runs of ``least`` or more tokens, in the order of the output.

    Runs are maximal. A run inside another run of the output is not counted.
    """
    grams: dict[tuple[str, ...], list[int]] = {}
    for place in range(len(source) - least + 1):
        grams.setdefault(tuple(source[place : place + least]), []).append(place)
    # Most runs of the output are ruled out by their ends, which are looked up faster.
    both_ends = {(gram[0], gram[-1]) for gram in grams}
    runs: list[int] = []
    covered = 0
    for start in range(len(output) - least + 1):
        if (output[start], output[start + least - 1]) not in both_ends:
            continue
        places = grams.get(tuple(output[start : start + least]), ())
        # Only the start of a shared run; later positions belong to the same run.
        ends = [
            _run_end(output, start, source, place)
            for place in places
            if 0 in (start, place) or output[start - 1] != source[place - 1]
        ]
        end = max(ends, default=0)
        if end > covered:
            runs.append(end - start)
            covered = end
    return tuple(runs)


def _run_end(output: Sequence[str], start: int, source: Sequence[str], place: int) -> int:
    while start < len(output) and place < len(source) and output[start] == source[place]:
        start += 1
        place += 1
    return start


@lru_cache(16_384)
def stems(text: str) -> tuple[str, ...]:
    """The tokens of the package rouge-score: lower case, letters a-z and digits, Porter stems.

    Stems and the last texts are cached, since the same ones are compared again and again.
    """
    tokenize, stemmer = _rouge()
    return tuple(tokenize(text, stemmer))


@cache
def _rouge() -> tuple[Callable[[str, object], list[str]], object]:
    from importlib import import_module

    from rouge_score.tokenize import tokenize

    class Stems:
        # By name, because NLTK carries no types.
        stem = staticmethod(cache(import_module("nltk.stem.porter").PorterStemmer().stem))

    return tokenize, Stems


@dataclass(frozen=True, slots=True)
class RougeL:
    """ROUGE-L in [0, 1], equal to ``rouge_score`` with ``use_stemmer=True`` on the same tokens."""

    recall: float
    precision: float
    f: float


def rouge_l(reference: Sequence[str], prediction: Sequence[str]) -> RougeL:
    """ROUGE-L of two token sequences; all zero when either is empty (Lin 2004)."""
    # As where a passage is repeated: the prediction has the reference in one piece.
    whole = f" {' '.join(reference)} " in f" {' '.join(prediction)} "
    length = len(reference) if whole else longest_common_subsequence(reference, prediction)
    if length == 0:
        return RougeL(0.0, 0.0, 0.0)
    recall, precision = length / len(reference), length / len(prediction)
    return RougeL(recall, precision, 2 * precision * recall / (precision + recall))


def longest_common_subsequence(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence, bit-parallel (Hyyrö 2004)."""
    places: dict[Hashable, int] = {}
    for place, token in enumerate(one):
        places[token] = places.get(token, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for token in other:
        matches = row & places.get(token, 0)
        row = ((row + matches) | (row - matches)) & full
    return len(one) - row.bit_count()
