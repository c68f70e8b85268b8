"""A judge of sentences: whether one gives orders to whoever answers from it, or speaks in the place of that.

A linear model over hashed words, pairs of words and parts of words, learned from invented sentences by
``python -m benchmarks.orders``. It reads what a sentence shows: spelled words are joined, look-alikes and
digits written for letters are letters. It is no protection by itself: new wordings pass.
"""

import re
from functools import cache
from importlib.resources import as_file, files
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ingest.language.disguises import undisguised
from ingest.language.normalize import fixed_text
from ingest.language.plain_letters import plain

LONGEST = 1_000
"""How many characters of a sentence are read; ``split_sentences`` makes none so long."""
LIMIT = 1.0
"""The log odds from which a sentence is an order."""
LIMIT_BEHIND = -0.5
"""The same for a sentence behind an order, which may go on."""
BUCKETS = 32_768
"""Places of parts: some share one. The last weight, behind them, is the prior."""
_SIZES = (3, 4, 5)
"""Lengths of the parts of words."""
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]+")
_LETTERED = re.compile(r"[\w@$]*[^\W\d_][\w@$]*")
_LETTERS = str.maketrans("013457@$", "oieastas")


def gives_orders(sentence: str, *, behind: bool = False) -> bool:
    """Whether a sentence of a document speaks to whoever answers from it, or in the place of that.

    Such a text was put there to be obeyed, and says nothing to a question. ``behind`` another one less is
    enough.
    """
    places = places_of(sentence)
    if not places:
        return False
    weights = _weights()
    score = weights[places].sum() / len(places) ** 0.5 + weights[BUCKETS]
    return bool(score >= (LIMIT_BEHIND if behind else LIMIT))


def places_of(sentence: str) -> list[int]:
    """The places of a sentence's parts, each once, in order; none where it has no words or signs."""
    return sorted({crc32(part.encode("utf-8", "replace")) % BUCKETS for part in _parts(sentence)})


@cache
def _weights() -> NDArray[np.float64]:
    from safetensors.numpy import load_file

    with as_file(files(__package__).joinpath("orders.safetensors")) as path:
        return load_file(path)["weights"].astype(np.float64)


def _parts(sentence: str) -> set[str]:
    """Words and signs, pairs of these, and parts of words, all in small letters."""
    shown = plain(undisguised(fixed_text(sentence[:LONGEST]))).casefold()
    tokens = _TOKEN.findall(_LETTERED.sub(lambda word: word[0].translate(_LETTERS), shown))
    if not tokens:
        return set()
    pairs = map(" ".join, zip(["^", *tokens], [*tokens, "$"], strict=True))
    marked = [f"<{token}>" for token in tokens]
    inner = (word[n : n + size] for word in marked for size in _SIZES for n in range(len(word) - size + 1))
    return {*tokens, *pairs, *map("#".__add__, inner)}
