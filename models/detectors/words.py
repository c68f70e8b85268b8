"""Words as GLiNER counts them, the word pieces of each, and the spans that words inside mentions make."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from models.encoders.bert import UNK

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LONGEST_WORD = 64
"""Longer runs without a space are read in pieces, so that none overfills a window."""

_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")
"""The rule of the gliner library's splitter "whitespace"."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a place needs, in its context: three probabilities, none larger than the one before.

    That it tells of a protected person, that it should be generalized or masked, that it has to be masked.
    """

    tells: float
    should: float
    must: float


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """Characters ``start`` to ``end`` carry ``label``, with a score in [0, 1]."""

    start: int
    end: int
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class WordHit:
    """A word, by number, that is inside a mention of a label, and whether the mention begins there."""

    word: int
    label: str
    score: float
    begins: bool


def words_of(text: str) -> list[tuple[int, int]]:
    """Start and end, in characters, of each word; every character that is no space is in one."""
    return [
        (at, min(at + LONGEST_WORD, match.end()))
        for match in _WORD.finditer(text)
        for at in range(match.start(), match.end(), LONGEST_WORD)
    ]


def pieces_of(tokenizer: "Tokenizer", words: Sequence[str]) -> list[list[int]]:
    """The ids of each word by itself; never none, since a word that is nothing still has its place."""
    distinct = list(dict.fromkeys(words))
    encodings = tokenizer.encode_batch(distinct, add_special_tokens=False)
    ids = {word: encoding.ids or [UNK] for word, encoding in zip(distinct, encodings, strict=True)}
    return [ids[word] for word in words]


def spans_of(hits: Iterable[WordHit], words: Sequence[tuple[int, int]]) -> list[FoundSpan]:
    """Runs of neighboring words of one label, by start; a run ends before a word that begins another mention.

    A span's score is the mean of its words'. ``words`` are the places of the text's words; spans of one label
    do not overlap.
    """
    found = [span for label, of_label in by_label(hits).items() for span in _runs(label, of_label, words)]
    return sorted(found, key=lambda span: (span.start, span.end, span.label))


def by_label(hits: Iterable[WordHit]) -> dict[str, dict[int, WordHit]]:
    """For each label its words by number, each once; ``hits`` are in the order of the windows that gave them.

    A word that two windows saw has its higher score, and begins a mention if the first of them said so: the
    second cannot see what stands before it.
    """
    found: dict[str, dict[int, WordHit]] = {}
    for hit in hits:
        seen = found.setdefault(hit.label, {})
        before = seen.get(hit.word)
        if before is None or before.score < hit.score:
            seen[hit.word] = hit if before is None else replace(hit, begins=before.begins)
    return found


def _runs(label: str, hits: Mapping[int, WordHit], words: Sequence[tuple[int, int]]) -> Iterable[FoundSpan]:
    run: list[WordHit] = []
    for number in sorted(hits):
        if run and (number > run[-1].word + 1 or hits[number].begins):
            yield _span(label, run, words)
            run = []
        run.append(hits[number])
    if run:
        yield _span(label, run, words)


def _span(label: str, run: Sequence[WordHit], words: Sequence[tuple[int, int]]) -> FoundSpan:
    score = sum(hit.score for hit in run) / len(run)
    return FoundSpan(words[run[0].word][0], words[run[-1].word][1], label, score)
