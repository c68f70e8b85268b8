"""Reasons why detection may miss mentions in a text: kinds of text rare in the detector's training data."""

import re
from collections.abc import Sequence

from ingest.language.identification import languages_of

UNKNOWN_LANGUAGE = "language unknown: too short, or a list of values"
CAPITALS = "mostly capitals"
TABLE = "mostly a table"
CODE = "looks like program code"
GLUED = "words without blanks between them"

_FEWEST_LETTERS = 40
_FEWEST_GLUED = 200
"""Letters from which a text has a blank at least every ``_LONGEST_RUN`` characters."""
_LONGEST_RUN = 25
_FEWEST_LINES = 4
_ROW = re.compile(r"[^|\t;]+(?:[|\t;][^|\t;]*){2,}")
_CODE_LINE = re.compile(
    r".*[;{}]\s*|\s*(?:def|class|import|from|return|if|for|while|#include|var|let|const)\b.*[(:;{].*"
)


def doubts_of(text: str) -> tuple[str, ...]:
    """The reasons; empty for ordinary prose in an accepted language. None quotes the text."""
    languages = languages_of(text)
    found: list[str] = []
    if languages.foreign:
        found.append(f"in {languages.foreign}" if languages.is_foreign else f"partly in {languages.foreign}")
    elif languages.is_unknown:
        found.append(UNKNOWN_LANGUAGE)
    letters = [char for char in text if char.isalpha()]
    if len(letters) >= _FEWEST_LETTERS and sum(map(str.isupper, letters)) > 0.6 * len(letters):
        found.append(CAPITALS)
    if len(letters) >= _FEWEST_GLUED and _LONGEST_RUN * sum(map(str.isspace, text)) < len(text):
        found.append(GLUED)
    lines = [line for line in text.splitlines() if line.strip()]
    if _mostly(lines, _ROW):
        found.append(TABLE)
    elif _mostly(lines, _CODE_LINE):
        found.append(CODE)
    return tuple(found)


def _mostly(lines: Sequence[str], shape: re.Pattern[str]) -> bool:
    return len(lines) >= _FEWEST_LINES and 2 * sum(map(bool, map(shape.fullmatch, lines))) > len(lines)
