"""From marked texts to what the detector's network reads."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from models.bert import CLS, SEP
from models.gliner_forward import WIDEST
from models.minilm import Released
from models.training.examples import Example, Mention
from models.words import pieces_of, words_of

MOST_TOKENS = 250
"""Word pieces of a row; what is longer is cut to a random run of words."""

Target = tuple[int, int, str]
"""First word, how many words more, and the label."""


@dataclass(frozen=True, slots=True)
class Row:
    """One text of a batch: its tokens, where each word begins among them, and what is to be found."""

    ids: list[int] = field(repr=False)
    firsts: list[int] = field(repr=False)
    targets: list[Target] = field(repr=False)
    asked: tuple[str, ...]


def row_of(example: Example, model: Released, chance: random.Random) -> Row:
    """The example as a row; of a long one a run of words that ``chance`` chooses."""
    places = words_of(example.text)
    pieces = pieces_of(model.tokenizer, [example.text[start:end] for start, end in places])
    first, last = _run(pieces, chance)
    ids, firsts = [CLS], []
    for of_word in pieces[first:last]:
        firsts.append(len(ids))
        ids += of_word
    ids.append(SEP)
    return Row(ids, firsts, targets_of(example.mentions, places[first:last]), example.asked)


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


def targets_of(mentions: Sequence[Mention], places: Sequence[tuple[int, int]]) -> list[Target]:
    """The mentions in words; one that is wider than a span may be becomes several that touch.

    A mention that the run of words cuts is left with what is in it.
    """
    found = set()
    for mention in mentions:
        inside = [i for i, (start, end) in enumerate(places) if start < mention.end and mention.start < end]
        if not inside:
            continue
        for first in range(inside[0], inside[-1] + 1, WIDEST):
            last = min(first + WIDEST - 1, inside[-1])
            found.add((first, last - first, mention.label))
    return sorted(found)
