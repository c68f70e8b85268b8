"""The class of a mention, from the cue words that it has."""

import re
from functools import cache

from ingest.ladders.classes import table
from ingest.language.vocabulary import fold

_WORDS = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@cache
def _cues(
    name: str,
) -> tuple[dict[str, int], dict[str, int], tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
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
    return whole, ends, tuple(prefixes), tuple(suffixes)


def class_of(said: str, name: str, *, last: bool = False) -> str | None:
    """The class of the words in the table ``name``; None where no word of theirs is a cue.

    The last word with a cue counts if ``last``, as the head of a noun phrase; else the first class of the
    table.
    """
    whole, ends, prefixes, suffixes = _cues(name)
    folded = [fold(word) for word in _WORDS.findall(said)]
    tried = [*folded, *(f"{one} {other}" for one, other in zip(folded, folded[1:], strict=False))]
    numbers = []
    for word in tried:
        single = word[:-1] if word.endswith("s") and len(word) > 4 else word
        found = {whole[each] for each in (word, single) if each in whole}
        found |= {number for part, number in prefixes if word.startswith(part)}
        found |= {
            number for part, number in suffixes if single.endswith(part) and len(single) > len(part) + 1
        }
        if folded and word == folded[-1]:
            found |= {ends[each] for each in (word, single) if each in ends}
        if found:
            numbers.append(min(found))
    if not numbers:
        return None
    return list(table(name))[numbers[-1] if last else min(numbers)]
