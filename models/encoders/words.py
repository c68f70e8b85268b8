"""Words as the reader sees them: places, pieces, how they are written, what stands before them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BOS, PAD, EOS, UNK = 0, 1, 2, 3
"""Pieces with a meaning of their own."""
LONGEST_WORD = 64
"""Longer runs are read in parts, so that none overfills a window."""
GAPS = ("none", "space", "wide", "line", "blank line")
"""What stands before a word; the beginning of a text is a blank line."""
SHAPES = ("other", "lower", "Title", "CAPITALS", "Capital", "miXed", "digits", "sign")
"""How a word is written."""
_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_METASPACE = "\u2581"


@dataclass(frozen=True, slots=True)
class Need:
    """Falling probabilities that a place tells of a person, should be generalized, must be masked."""

    tells: float
    should: float
    must: float


NOTHING = Need(0.0, 0.0, 0.0)


def words_of(text: str) -> list[tuple[int, int]]:
    """Start and end of each word: a run of letters, a run of digits, or a sign."""
    return [
        (at, min(at + LONGEST_WORD, match.end()))
        for match in _WORD.finditer(text)
        for at in range(match.start(), match.end(), LONGEST_WORD)
    ]


def gap_before(text: str, end: int, start: int) -> int:
    """Which of ``GAPS`` lies between the end of one word and the start of the next."""
    if end == start:
        return 0 if start else 4
    between = text[end:start]
    lines = between.count("\n")
    if lines or end == 0:
        return 4 if lines > 1 or end == 0 else 3
    return 1 if len(between) == 1 and between != "\t" else 2


def shape_of(word: str) -> int:
    """Which of ``SHAPES`` a word has."""
    if not word[0].isalpha():
        return 6 if word[0].isdigit() else 7
    if word.islower():
        return 1
    if word.isupper():
        return 4 if len(word) == 1 else 3
    return 2 if word[0].isupper() and word[1:].islower() else 5 if word != word.lower() else 0


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text: places, pieces, and the numbers of ``GAPS`` and ``SHAPES`` of each."""

    places: Sequence[tuple[int, int]] = field(repr=False)
    pieces: Sequence[Sequence[int]] = field(repr=False)
    gaps: Sequence[int] = field(repr=False)
    shapes: Sequence[int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Splitter:
    """Splits texts into words and their pieces by a SentencePiece vocabulary (Kudo 2018).

    ``normalized`` has what stands for a code point. A word is split by itself, with the vocabulary's sign for
    a space if one stands before it, so that equal words have equal pieces and are split once.
    """

    tokenizer: "Tokenizer" = field(repr=False)
    normalized: Mapping[int, str] = field(repr=False)

    def words(self, texts: Sequence[str]) -> list[Words]:
        """The words of each text."""
        places = [words_of(text) for text in texts]
        gaps = [
            [gap_before(text, of_text[n - 1][1] if n else 0, start) for n, (start, _) in enumerate(of_text)]
            for text, of_text in zip(texts, places, strict=True)
        ]
        spelled = [
            [
                (_METASPACE if gap else "") + text[start:end].translate(self.normalized).replace(" ", "")
                for (start, end), gap in zip(of_text, before, strict=True)
            ]
            for text, of_text, before in zip(texts, places, gaps, strict=True)
        ]
        distinct = list(dict.fromkeys(word for of_text in spelled for word in of_text))
        encodings = self.tokenizer.encode_batch(distinct, add_special_tokens=False)
        ids = {word: encoding.ids or [UNK] for word, encoding in zip(distinct, encodings, strict=True)}
        pieces = [[ids[word] for word in words] for words in spelled]
        shapes = [
            [shape_of(text[start:end]) for start, end in of_text]
            for text, of_text in zip(texts, places, strict=True)
        ]
        return list(map(Words, places, pieces, gaps, shapes))
