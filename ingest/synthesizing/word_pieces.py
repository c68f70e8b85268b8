"""Texts as the word pieces of the embedded encoder, a public vocabulary of lower-case pieces, and back."""

import re
from collections.abc import Iterator, Sequence

from models.encoders.minilm import released

BREAK = -3
"""The end of a line."""
_UNKNOWN = "[UNK]"
_JOINT = re.compile(r" (['’/_-]) ")


def tokens_of(text: str) -> list[int]:
    """The word pieces of each line; what the vocabulary cannot spell is left out, and so are empty lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    tokens: list[int] = []
    for encoding in released().tokenizer.encode_batch(lines, add_special_tokens=False):
        pieces = zip(encoding.ids, encoding.tokens, strict=True)
        tokens += [*([BREAK] if tokens else []), *(number for number, piece in pieces if piece != _UNKNOWN)]
    return tokens


def text_of(tokens: Sequence[int]) -> str:
    """The text of word pieces, in lower case."""
    lines = (released().tokenizer.decode(line) for line in _lines(tokens))
    return "\n".join(_JOINT.sub(r"\1", line).replace(" :", ":") for line in lines)


def _lines(tokens: Sequence[int]) -> Iterator[list[int]]:
    line: list[int] = []
    for token in tokens:
        if token == BREAK:
            yield line
            line = []
        else:
            line.append(token)
    yield line
