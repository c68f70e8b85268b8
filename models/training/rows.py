"""From marked texts to what the detector's network reads."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from models.bert import CLS, SEP
from models.minilm import Released
from models.training.absences import MEDICAL, surely_absent
from models.training.examples import SYNTHETIC, Example, Mention
from models.words import pieces_of, words_of

MOST_TOKENS = 250
"""Word pieces of a row; what is longer is cut to a random run of words."""

OF_MEDICINE = ("bc5cdr", "ncbi_disease", "medquad", "crossner")
"""Corpora with more medicine and chemistry than a list of words knows: there no absence of it is claimed."""

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
    targets = targets_in(example.mentions, places[first:last])
    return Row(ids, firsts, targets, asked_of(example, places[first:last], targets))


def asked_of(
    example: Example, places: Sequence[tuple[int, int]], targets: Sequence[Target]
) -> tuple[str, ...]:
    """What is asked of a run of words: what the example answers, and what the run surely does not hold."""
    if not places or example.corpus == SYNTHETIC:  # whose texts say themselves what they hold
        return example.asked
    known = {label for _, _, label in targets}
    if example.corpus in OF_MEDICINE:
        known |= set(MEDICAL)
    absent = surely_absent(example.text[places[0][0] : places[-1][1]])
    return tuple(dict.fromkeys([*example.asked, *(label for label in absent if label not in known)]))


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


def targets_in(mentions: Sequence[Mention], places: Sequence[tuple[int, int]]) -> list[Target]:
    """The mentions in words; one that the run of words cuts is left with what is in it."""
    found = set()
    for mention in mentions:
        inside = [i for i, (start, end) in enumerate(places) if start < mention.end and mention.start < end]
        if inside:
            found.add((inside[0], inside[-1] - inside[0], mention.label))
    return sorted(found)
