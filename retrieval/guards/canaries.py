"""Strings that must never leave, however they are spaced, hyphenated or capitalized."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.documents import Span
from models.errors import ConfigurationError

FEWEST, MOST = 6, 200
"""Letters and digits of a canary. Shorter ones would stand in ordinary words."""


class Canaries:
    """Finds given strings by their letters and digits alone, without case, accents and width.

    Raises:
        ConfigurationError: One has too few or too many letters and digits.
    """

    def __init__(self, strings: Sequence[str] = ()) -> None:
        bare = {_letters(each)[0] for each in strings}
        if not all(FEWEST <= len(each) <= MOST for each in bare):
            raise ConfigurationError(
                f"A canary has {FEWEST} to {MOST} letters and digits, and one given has not: leave it out or "
                "choose another."
            )
        self.longest = max(map(len, bare), default=0)
        # The longest first: of two that begin at one place it is the one to remove.
        ordered = sorted(bare, key=lambda each: (-len(each), each))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if bare else None

    def __len__(self) -> int:
        """1 or more if there is any."""
        return self.longest

    def spans(self, text: str) -> Iterator[Span]:
        """Where one stands in ``text``."""
        if self._pattern is None:
            return
        letters, places = _letters(text)
        for found in self._pattern.finditer(letters):
            yield Span(places[found.start()], places[found.end() - 1] + 1)


def canaries_in(file: Path) -> Canaries:
    """The canaries of a file, one in each line.

    Raises:
        ConfigurationError: It cannot be read, holds none, or holds one that is too short or too long.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise ConfigurationError("generator.canaries is no text file in UTF-8 that can be read.") from None
    strings = [line for line in lines if line.strip()]
    if not strings:
        raise ConfigurationError("generator.canaries holds none: write one in each line.")
    return Canaries(strings)


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of ``text``, folded, and the place in it of each."""
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for each in unicodedata.normalize("NFKD", char).casefold():
            if each.isalnum():
                letters.append(each)
                places.append(place)
    return "".join(letters), places
