"""Detokenization: running text from tokens, with the span of every token."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_OPENERS = frozenset("([{$£€“‘«")
_CLOSERS = frozenset(".,;:!?)]}%…”»")
_CLITIC = re.compile(r"['’](?:s|re|ve|ll|d|m|t)|n['’]t", re.IGNORECASE)
# The tail of a contraction whose apostrophe is a separate token.
_TAIL = re.compile(r"s|re|ve|ll|d|m|t", re.IGNORECASE)
_EMOTICON = re.compile(r"[:;=][-'o]?[()DPpOo/\\|*3\[\]dXxSs]+|:{2,}\w+")
_WORD = re.compile(r"\w")
_WORD_END = re.compile(r"\w$")
_THOUSANDS = re.compile(r"\d{3}(?!\d)")


@dataclass(frozen=True, slots=True)
class Style:
    """How a corpus was tokenized: which marks inside words are separate tokens.

    ``hyphens``: those between words. ``numbers``: points and commas between digits. ``dashes``: long dashes.
    """

    hyphens: bool = False
    numbers: bool = False
    dashes: bool = False


PLAIN = Style()
SPLIT = Style(hyphens=True, numbers=True)


def joined(tokens: Sequence[str], style: Style = PLAIN) -> tuple[str, list[tuple[int, int]]]:
    """The text of ``tokens`` and the half-open place of each in it, in code points."""
    trimmed = [token.strip() for token in tokens]
    sides = _quote_sides(trimmed)
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    end = 0
    for number, token in enumerate(trimmed):
        if number and end and _spaced(trimmed, sides, number, style):
            parts.append(" ")
            end += 1
        parts.append(token)
        places.append((end, end + len(token)))
        end += len(token)
    return "".join(parts), places


def _quote_sides(tokens: Sequence[str]) -> list[int]:
    """1 for a quotation mark that opens, -1 for one that closes, 0 for every other token."""
    sides = [0] * len(tokens)
    for mark in ('"', "'"):
        places = [number for number, token in enumerate(tokens) if token == mark]
        if mark == "'":
            places = [number for number in places if not _apostrophe(tokens, number)]
        side = _first_side(tokens, places)
        for place in places:
            sides[place] = side
            side = -side
    for number, token in enumerate(tokens):
        if token in ("``", "''", "’") and not _apostrophe(tokens, number):
            sides[number] = 1 if token == "``" else -1
    return sides


def _first_side(tokens: Sequence[str], places: Sequence[int]) -> int:
    """A single mark belongs to a quotation that goes on in the next sentence, or began in an earlier one."""
    if len(places) % 2 == 0 or places[0] == 0:
        return 1
    after = tokens[places[0] + 1 : places[0] + 2]
    return 1 if len(places) == 1 and after and after[0][:1].isupper() else -1


def _apostrophe(tokens: Sequence[str], number: int) -> bool:
    """Whether the mark at ``number`` stands inside or at the end of a word (Parkinson ' s; Galois ')."""
    if number == 0 or not _WORD_END.search(tokens[number - 1]):
        return False
    after = tokens[number + 1] if number + 1 < len(tokens) else ""
    if _TAIL.fullmatch(after):
        return True
    return tokens[number - 1].endswith("s") and not _quoting(tokens, number)


def _quoting(tokens: Sequence[str], number: int) -> bool:
    """Whether a single quotation mark before ``number`` may still be open."""
    return any(
        tokens[place] == "'"
        and not (place and tokens[place - 1].endswith("s"))
        and not _TAIL.fullmatch(tokens[place + 1])
        for place in range(number)
    )


def _spaced(tokens: Sequence[str], sides: Sequence[int], number: int, style: Style) -> bool:
    left, right = tokens[number - 1], tokens[number]
    if not left or not right or sides[number] == -1 or sides[number - 1] == 1:
        return False
    if _after_opener(left, right) or _before_closer(right) or _contracted(tokens, number):
        return False
    return not any(_glued(tokens, middle, number, style) for middle in (number, number - 1))


def _after_opener(left: str, right: str) -> bool:
    last = left[-1]
    if last in _OPENERS or (last == '"' and left[0] in _OPENERS):
        return True
    return left in ("#", "@") and bool(_WORD.match(right))


def _before_closer(right: str) -> bool:
    if len(right) > 1 and (_EMOTICON.fullmatch(right) or _WORD.search(right)):
        return False
    return right[0] in _CLOSERS or (right[0] == '"' and len(right) > 1)


def _contracted(tokens: Sequence[str], number: int) -> bool:
    left, right = tokens[number - 1], tokens[number]
    if _CLITIC.fullmatch(right) or (len(left) == 1 and re.fullmatch(r"['’]\w+", right)):
        return bool(_WORD_END.search(left))
    if right in ("'", "’") and _apostrophe(tokens, number):
        return True
    if left in ("'", "’") and number > 1 and _apostrophe(tokens, number - 1):
        return bool(_TAIL.fullmatch(right))
    negated = "".join(tokens[number : number + 3])
    return bool(re.fullmatch(r"n['’]t", negated, re.IGNORECASE)) and bool(_WORD_END.search(left))


def _glued(tokens: Sequence[str], middle: int, number: int, style: Style) -> bool:
    """Whether the token at ``middle`` joins its neighbors; ``number`` is the later of the two asked about."""
    if not 0 < middle < len(tokens) - 1:
        return False
    before, mark, after = tokens[middle - 1], tokens[middle], tokens[middle + 1]
    if not (_WORD_END.search(before) or before.endswith((".", ")"))) or not _WORD.match(after):
        return False
    if mark == "/" or (mark == "-" and style.hyphens) or (mark in ("--", "—") and style.dashes):
        return True
    digits = before[-1].isdigit() and after[0].isdigit()
    if mark in ("-", "–"):
        return digits
    if not (digits and style.numbers and number == middle + 1):
        return False
    return mark == "." or (mark == "," and len(before) <= 3 and bool(_THOUSANDS.match(after)))
