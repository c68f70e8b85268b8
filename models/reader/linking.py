"""What two names have in common as strings, and which mentions of a text are worth comparing."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

Features = tuple[float, ...]

REACH = 250
"""Words between mentions whose names only begin alike; the network learned from no wider pairs."""
NEAR = 60
"""Words between mentions whose names have nothing in common, a name and a pet name."""
DOUBT = 2.0
"""What the log odds of such a pair must exceed; 0 is enough for the others."""
MOST = 40
"""Earlier mentions in reach, and earlier names with a word in common, that a mention is compared with."""
_SHARED, _BY_INITIALS, _BEGINS = 4, 5, 6
"""Places among the features."""
_LETTERS = re.compile(r"[^\W\d_]+")


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters."""
    return tuple(word.casefold() for word in _LETTERS.findall(name))


def features_of(one: Sequence[str], other: Sequence[str], apart: int) -> Features:
    """Ten numbers in [0, 1] about the ``name_words`` of two mentions that many words ``apart``; symmetric."""
    short, long = sorted((tuple(one), tuple(other)), key=lambda words: (len(words), words))
    shared = set(short) & set(long)
    full_short, full_long = ([word for word in words if len(word) > 1] for words in (short, long))
    initials = [word[0] for word in long]
    by_initials = bool(short) and (
        _in_order([letter for word in short for letter in word], initials)
        if len(short) == 1 and len(short[0]) <= 3
        else all(
            any(
                w == v or (len(w) == 1 and v.startswith(w)) or (len(v) == 1 and w.startswith(v)) for v in long
            )
            for w in short
        )
    )
    begins = any(
        len(a) >= 3 and len(b) >= 3 and a != b and (a.startswith(b[:3]) or b.startswith(a[:3]))
        for a in full_short
        for b in full_long
    )
    return (
        float(short == long),
        float(bool(short) and set(short) <= set(long)),
        float(bool(full_short) and bool(full_long) and full_short[-1] == full_long[-1]),
        float(bool(full_short) and bool(full_long) and full_short[0] == full_long[0]),
        float(bool(shared)),
        float(by_initials),
        float(begins),
        float(len(short) > 1),
        float(not shared and len(short) > 1 and len(long) > 1),
        min(apart, 300) / 300,
    )


def _in_order(letters: Sequence[str], initials: Sequence[str]) -> bool:
    rest = iter(initials)
    return len(letters) <= len(initials) and all(letter in rest for letter in letters)


def comparable(
    names: Sequence[tuple[str, ...]], firsts: Sequence[int]
) -> Iterator[tuple[int, int, Features, float]]:
    """Later and earlier mention, features and least log odds of the pairs that can be the same.

    ``names`` are the ``name_words`` of mentions in text order and ``firsts`` their first words. The number of
    pairs grows in step with that of mentions.
    """
    known = dict[tuple[tuple[str, ...], tuple[str, ...]], Features]()
    latest = dict[tuple[str, ...], int]()
    by_word = dict[str, dict[tuple[str, ...], int]]()
    for later, name in enumerate(names):
        earlier = {latest[name]} if name in latest else set[int]()
        earlier.update(n for n in range(max(0, later - MOST), later) if firsts[later] - firsts[n] < REACH)
        for word in set(name):
            earlier.update(islice(reversed(by_word.get(word, {}).values()), MOST))
        for other in sorted(earlier):
            pair, apart = (names[other], name), firsts[later] - firsts[other]
            if pair not in known:
                known[pair] = features_of(*pair, 0)
            features = known[pair]
            alike = features[_SHARED] or (apart < REACH and (features[_BY_INITIALS] or features[_BEGINS]))
            if alike or apart < NEAR:
                yield later, other, (*features[:-1], min(apart, 300) / 300), 0.0 if alike else DOUBT
        latest[name] = later
        for word in set(name):
            # The latest stands last.
            by_word.setdefault(word, {}).pop(name, None)
            by_word[word][name] = later
