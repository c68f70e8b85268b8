"""Numbers as people write and say them."""

import re

UNITS = tuple(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen".split()
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
VALUES = {
    **{word: number for number, word in enumerate(UNITS)},
    **{word: 10 * number for number, word in enumerate(TENS, 2)},
    "a": 1,
    "an": 1,
}
SCALES = {"hundred": 100, "thousand": 1_000, "k": 1_000, "million": 10**6, "mln": 10**6, "m": 10**6}
SCALES |= {"billion": 10**9, "bn": 10**9, "trillion": 10**12}
_FIGURES = re.compile(r"[0-9]{1,3}(?:[,  '][0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?")
_THOUSANDS = re.compile(r"[0-9]{1,3}\.[0-9]{3}")
"""61.500, which is one number in one language and another one in the next."""
_LONGEST = 18
"""Characters of figures, or words, that are read as a number."""
_WORD = re.compile(r"[a-z]+")


def number_of(said: str) -> float | None:
    """The number that the words say: "43", "1,200.50", "4.5 million", "forty-three", "two hundred and ten".

    None where they say none, more than one, or one that is not clear. Spoken digits ("four three") are none.
    """
    text = said.strip().casefold()
    figures = _FIGURES.findall(text)
    rest = _WORD.findall(_FIGURES.sub(" ", text))
    if len(figures) == 1 and all(word in SCALES for word in rest):
        if len(figures[0]) > _LONGEST or _THOUSANDS.fullmatch(figures[0]):
            return None
        value = float(re.sub(r"[,  ']", "", figures[0]))
        for word in rest[:2]:
            value *= SCALES[word]
        return value
    return None if figures or len(rest) > _LONGEST else _spoken(rest)


def _spoken(words: list[str]) -> float | None:
    total, part, last = 0, 0, 0
    for word in words:
        if word == "and" and (total or part):
            continue
        if word in SCALES:
            if not part:
                return None
            part *= SCALES[word]
            if SCALES[word] > 100:
                total, part = total + part, 0
            last = 0
        elif word in VALUES and not (last and not (last >= 20 and VALUES[word] < 10)):
            part += VALUES[word]
            last = VALUES[word]
        else:
            return None
    return float(total + part) if words and words != ["a"] and words != ["an"] else None
