"""The words of a text as GLiNER counts them, and the word pieces behind each."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from models.bert import UNK

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LONGEST_WORD = 64
"""Longer runs without a space are read in pieces, so that none overfills a window."""

_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")
"""The rule of the gliner library's splitter "whitespace"."""


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
