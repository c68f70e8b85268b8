"""Classes of jobs, drugs, illnesses and organizations, and which one words are in, by cue words.

For judging alone: the words that the product writes come from elsewhere (``ingest.wording.sorts``).
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ingest.language.vocabulary import fold
from ingest.wording.places import classes_in


def chi_squared_utility(counts: Mapping[str, int], reference: Mapping[str, int]) -> float:
    """1 - chi2(counts) / chi2(uniform): 1 for the reference's own distribution, 0 for a uniform one.

    ``reference`` counts the originals of each class; ``counts`` the sanitized documents, scaled to the same
    total. Negative where they are further from the reference than a uniform distribution (A False Sense of
    Privacy, version 2, there for the task labels of WildChat).

    Raises:
        ValueError: A class has no originals, nothing was counted, or the reference is uniform.
    """
    if min(reference.values(), default=0) < 1 or not set(counts) <= set(reference):
        raise ValueError("every class must have an original: leave the others out of both counts")
    if min(counts.values(), default=0) < 0 or not sum(counts.values()):
        raise ValueError("counts must be 0 or more, and something must be counted")
    uniform = _chi_squared(dict.fromkeys(reference, 1), reference)
    if uniform == 0:
        raise ValueError("the reference is uniform: there is no scale to compare by")
    return 1 - _chi_squared(counts, reference) / uniform


def _chi_squared(counts: Mapping[str, int], reference: Mapping[str, int]) -> float:
    """Pearson's statistic of the counts, scaled to the total of the reference."""
    scale = sum(reference.values()) / sum(counts.values())
    return sum((counts.get(name, 0) * scale - there) ** 2 / there for name, there in reference.items())


_FOLDER = Path(__file__).parent / "classes"

_NONE = frozenset(("no", "not", "denies", "negative", "without", "never"))
_SHORT = 4
_WORDS = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@cache
def table(name: str) -> Mapping[str, tuple[str, ...]]:
    """Class to cue words, in the order of the file: the first class with a cue counts."""
    return classes_in(_FOLDER / f"{name}.txt")


@cache
def _cues(name: str) -> tuple[dict[str, int], dict[str, int], list[tuple[str, int]], list[tuple[str, int]]]:
    """The classes of whole words, of last words, of beginnings and of ends of words."""
    whole: dict[str, int] = {}
    ends: dict[str, int] = {}
    prefixes, suffixes = [], []
    for number, cues in enumerate(table(name).values()):
        for cue in map(fold, cues):
            if cue.startswith("$"):
                ends.setdefault(cue[1:], number)
            elif cue.endswith("*"):
                prefixes.append((cue[:-1], number))
            elif cue.startswith("*"):
                suffixes.append((cue[1:], number))
            else:
                whole.setdefault(cue, number)
    return whole, ends, prefixes, suffixes


def class_of(said: str, name: str) -> str | None:
    """The first class of the table ``name`` of which the words have a cue; two words count before one."""
    folded = [fold(word) for word in _WORDS.findall(said)]
    if _NONE & set(folded):
        return None
    numbers = []
    skip = False
    for index, word in enumerate(folded):
        pair = _number_of(f"{word} {folded[index + 1]}", name) if index + 1 < len(folded) else None
        number = pair if pair is not None or skip else _number_of(word, name)
        if number is None and index + 1 == len(folded) and not skip:
            ends = _cues(name)[1]
            number = min((ends[each] for each in (word, _singular(word)) if each in ends), default=None)
        skip = pair is not None
        if number is not None:
            numbers.append(number)
    return list(table(name))[min(numbers)] if numbers else None


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > _SHORT else word


def _number_of(word: str, name: str) -> int | None:
    """The first class of which a word, in either number, is a cue; a whole word counts before its ends."""
    whole, _, prefixes, suffixes = _cues(name)
    single = _singular(word)
    found = {whole[each] for each in (word, single) if each in whole}
    if found:
        return min(found)
    found |= {number for part, number in prefixes if word.startswith(part)}
    found |= {number for part, number in suffixes if single.endswith(part) and len(single) > len(part) + 1}
    return min(found, default=None)
