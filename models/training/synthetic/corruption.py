"""What happens to texts on their way: lost case, lost points, typing and reading errors.

Every change keeps the mentions exact: none begins or ends inside a piece that is replaced.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

from models.training.examples import Mention
from models.training.synthetic.marked import Marked, by_character

_FUNCTION_WORDS = re.compile(
    r"\b(the|and|with|from|have|that|this|please|because|your|would|there|their|about|which|when|been|after)\b"
)
_MISREAD = (
    ("rn", "m"),
    ("m", "rn"),
    ("l", "1"),
    ("1", "l"),
    ("O", "0"),
    ("0", "O"),
    ("I", "l"),
    ("S", "5"),
    ("e", "c"),
    ("cl", "d"),
    ("vv", "w"),
)
_VOWEL = re.compile(
    r"(?i:(?!uni|eu|one|use)[aeiou8]|1[18]\b|hour|honest|honor|heir)|[FHLMNRSX](?=[A-Z]*\b)(?![A-Z]*[AEIOU][A-Z])"
)
"""An hour, an RN, an 18-year-old; a NATO officer is said as a word."""
_MISREAD_SHARE = 0.02
_SPACE_SHARE = 0.03


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """``text[start:end]`` becomes ``new``."""

    start: int
    end: int
    new: str = field(repr=False)


def apply_edits(piece: Marked, edits: Iterable[Edit]) -> Marked:
    """The piece after those edits that neither overlap an earlier one nor reach over a mention's border.

    An edit that inserts at a border is left out too: whether it belongs to the mention, none could say.
    """
    borders = {place for mention in piece.mentions for place in (mention.start, mention.end)}
    kept: list[Edit] = []
    for edit in sorted(edits):
        free = not kept or edit.start >= kept[-1].end
        inner = range(edit.start + 1, edit.end) if edit.end > edit.start else (edit.start,)
        if free and not any(place in borders for place in inner):
            kept.append(edit)
    return _applied(piece, kept)


def _applied(piece: Marked, edits: list[Edit]) -> Marked:
    texts: list[str] = []
    place = 0
    for edit in edits:
        texts += [piece.text[place : edit.start], edit.new]
        place = edit.end
    texts.append(piece.text[place:])

    def moved(border: int) -> int:
        return border + sum(len(e.new) - (e.end - e.start) for e in edits if e.end <= border)

    mentions = tuple(Mention(moved(m.start), moved(m.end), m.label) for m in piece.mentions)
    return Marked("".join(texts), mentions)


def tidied(piece: Marked) -> Marked:
    """With "an" before a vowel, "a" before the rest, and no second point after a value that ends in one."""
    ends = {mention.end for mention in piece.mentions}
    points = [
        Edit(found.start(), found.end(), "")
        for found in re.finditer(r"(?<=\.)\.(?!\.)", piece.text)
        if found.start() in ends
    ]
    articles = [
        Edit(found.start(1), found.end(1), "an" if _VOWEL.match(found[2]) else "a")
        for found in re.finditer(r"\b(an?) (?=(\w+))", piece.text)
    ]
    return apply_edits(piece, points + articles)


def lower(piece: Marked, random: Random) -> Marked:
    """Everything in lower case."""
    return by_character(piece, str.lower)


def upper(piece: Marked, random: Random) -> Marked:
    """Everything in capitals."""
    return by_character(piece, str.upper)


def misread(piece: Marked, random: Random) -> Marked:
    """What a machine makes of a scan: letters for figures, lost spaces, lines broken anywhere."""
    edits = []
    for place, character in enumerate(piece.text):
        if character == " " and random.random() < _SPACE_SHARE:
            edits += _space(piece, place, random)
        elif random.random() < _MISREAD_SHARE:
            fitting = [(old, new) for old, new in _MISREAD if piece.text.startswith(old, place)]
            edits += [Edit(place, place + len(old), new) for old, new in fitting[:1]]
    return apply_edits(piece, edits)


def _space(piece: Marked, place: int, random: Random) -> list[Edit]:
    if random.random() < 0.6:
        return [Edit(place, place + 1, "\n")]
    # A word that has grown onto a mention would hide where the mention begins.
    beside = any(place in (mention.end, mention.start - 1) for mention in piece.mentions)
    return [] if beside else [Edit(place, place + 1, "")]


def unpointed(piece: Marked, random: Random) -> Marked:
    """Without most of the commas and points that stand outside of mentions, before a space."""
    edits = [
        Edit(found.start(), found.end(), "")
        for found in re.finditer(r"[.,;](?=\s|$)", piece.text)
        if not _inside(found.start(), piece) and random.random() < 0.8
    ]
    return apply_edits(piece, edits)


def mistyped(piece: Marked, random: Random) -> Marked:
    """With two neighboring letters exchanged, or one lost, in some of the small words."""
    edits = []
    for found in _FUNCTION_WORDS.finditer(piece.text):
        if _inside(found.start(), piece) or random.random() > 0.4:
            continue
        word = found[0]
        place = random.randrange(len(word) - 1)
        swapped = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        shorter = word[: place + 1] + word[place + 2 :]
        edits.append(Edit(found.start(), found.end(), random.choice((swapped, shorter))))
    return apply_edits(piece, edits)


def _inside(place: int, piece: Marked) -> bool:
    return any(mention.start <= place < mention.end for mention in piece.mentions)


_CORRUPTIONS: tuple[tuple[Callable[[Marked, Random], Marked], float], ...] = (
    (mistyped, 0.06),
    (unpointed, 0.05),
    (misread, 0.05),
    (lower, 0.08),
    (upper, 0.03),
)


def corrupted(piece: Marked, random: Random) -> Marked:
    """The piece with each kind of corruption at its own small probability, most often with none."""
    for change, share in _CORRUPTIONS:
        if random.random() < share:
            piece = change(piece, random)
    return piece
