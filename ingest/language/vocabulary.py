"""The word lists, loaded lazily and once.

A list is a text file beside this module: one entry a line, lower case, without accents; a line that
starts with ``#`` is a comment. Words of a text are folded the same way before they are looked up.
"""

import re
import unicodedata
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "vocabulary"
WORD = re.compile(r"[^\W_]+")
"""A word: letters and digits. Hyphens, apostrophes and points stand between words."""

_UNDECOMPOSED = str.maketrans(
    {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ß": "ss", "þ": "th"}
)


def fold(word: str) -> str:
    """``word`` in lower case and without accents."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.lower())
    kept = "".join(char for char in decomposed if not unicodedata.combining(char))
    return kept.translate(_UNDECOMPOSED)


def entries(name: str) -> tuple[str, ...]:
    """The entries of the list ``name`` in file order, comments left out."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


@cache
def words(*names: str) -> frozenset[str]:
    """The one-word entries of the lists ``names``, together."""
    return frozenset(entry for name in names for entry in entries(name) if WORD.fullmatch(entry) is not None)


def plurals(phrase: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """``phrase`` and its plural, made regularly from its last word."""
    last = phrase[-1]
    if last.endswith("s") or last.isdigit():
        return (phrase,)
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        plural = last[:-1] + "ies"
    else:
        plural = last + ("es" if last.endswith(("x", "ch", "sh")) else "s")
    return phrase, (*phrase[:-1], plural)
