"""Annotated pieces of text, how they are joined, and how they are corrupted.

Corruptions drop case and punctuation and add typing and OCR errors. All keep the mentions exact, as no
mention begins or ends inside a replaced piece.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from models.corpora.examples import Edit, Mention, edited

_PART = re.compile(r"\{(\w+)\}")
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


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """A text and its mentions; offsets in code points."""

    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = field(default=(), repr=False)


def join(pieces: Iterable[MarkedPiece]) -> MarkedPiece:
    """The pieces one after the other."""
    texts: list[str] = []
    mentions: list[Mention] = []
    length = 0
    for piece in pieces:
        mentions.extend(Mention(m.start + length, m.end + length, m.label) for m in piece.mentions)
        texts.append(piece.text)
        length += len(piece.text)
    return MarkedPiece("".join(texts), tuple(mentions))


def mark(piece: MarkedPiece | str, *labels: str) -> MarkedPiece:
    """The piece, marked as a whole with each of the labels."""
    inner = piece if isinstance(piece, MarkedPiece) else MarkedPiece(piece)
    whole = tuple(Mention(0, len(inner.text), label) for label in labels)
    return MarkedPiece(inner.text, whole + inner.mentions)


def compose(layout: str, parts: Mapping[str, MarkedPiece]) -> MarkedPiece:
    """The layout with every ``{name}`` in it replaced by the part of that name."""
    return join(
        parts[piece] if place % 2 else MarkedPiece(piece) for place, piece in enumerate(_PART.split(layout))
    )


def by_character(piece: MarkedPiece, change: Callable[[str], str]) -> MarkedPiece:
    """The piece with every character changed; a change that is not one character long is left out.

    Lower-casing a dotted capital I gives two characters, for one, and the mentions must stay in place.
    """
    changed = ((character, change(character)) for character in piece.text)
    return MarkedPiece("".join(new if len(new) == 1 else old for old, new in changed), piece.mentions)


def capitalized(piece: MarkedPiece) -> MarkedPiece:
    """The piece with its first character in upper case."""
    first, rest = piece.text[:1], piece.text[1:]
    return MarkedPiece((first.upper() if len(first.upper()) == 1 else first) + rest, piece.mentions)


def apply_edits(piece: MarkedPiece, edits: Iterable[Edit]) -> MarkedPiece:
    """The piece after those edits that neither overlap an earlier one nor reach over a mention's border.

    An edit that inserts at a border is dropped too, since it may or may not belong to the mention.
    """
    borders = {place for mention in piece.mentions for place in (mention.start, mention.end)}
    kept: list[Edit] = []
    for edit in sorted(edits):
        free = not kept or edit.start >= kept[-1].end
        inner = range(edit.start + 1, edit.end) if edit.end > edit.start else (edit.start,)
        if free and not any(place in borders for place in inner):
            kept.append(edit)
    return MarkedPiece(*edited(piece.text, piece.mentions, kept))


def tidied(piece: MarkedPiece) -> MarkedPiece:
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


def lower(piece: MarkedPiece, random: Random) -> MarkedPiece:
    """Everything in lower case."""
    return by_character(piece, str.lower)


def upper(piece: MarkedPiece, random: Random) -> MarkedPiece:
    """Everything in capitals."""
    return by_character(piece, str.upper)


def misread(piece: MarkedPiece, random: Random) -> MarkedPiece:
    """With OCR errors: letters for digits, lost spaces, line breaks anywhere."""
    edits = []
    for place, character in enumerate(piece.text):
        if character == " " and random.random() < _SPACE_SHARE:
            edits += _space(piece, place, random)
        elif random.random() < _MISREAD_SHARE:
            fitting = [(old, new) for old, new in _MISREAD if piece.text.startswith(old, place)]
            edits += [Edit(place, place + len(old), new) for old, new in fitting[:1]]
    return apply_edits(piece, edits)


def _space(piece: MarkedPiece, place: int, random: Random) -> list[Edit]:
    if random.random() < 0.6:
        return [Edit(place, place + 1, "\n")]
    # A word that has grown onto a mention would hide where the mention begins.
    beside = any(place in (mention.end, mention.start - 1) for mention in piece.mentions)
    return [] if beside else [Edit(place, place + 1, "")]


def unpointed(piece: MarkedPiece, random: Random) -> MarkedPiece:
    """Without most of the commas and points that stand outside of mentions, before a space."""
    edits = [
        Edit(found.start(), found.end(), "")
        for found in re.finditer(r"[.,;](?=\s|$)", piece.text)
        if not _inside(found.start(), piece) and random.random() < 0.8
    ]
    return apply_edits(piece, edits)


def mistyped(piece: MarkedPiece, random: Random) -> MarkedPiece:
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


def _inside(place: int, piece: MarkedPiece) -> bool:
    return any(mention.start <= place < mention.end for mention in piece.mentions)


_CORRUPTIONS: tuple[tuple[Callable[[MarkedPiece, Random], MarkedPiece], float], ...] = (
    (mistyped, 0.06),
    (unpointed, 0.05),
    (misread, 0.05),
    (lower, 0.08),
    (upper, 0.03),
)


def corrupted(piece: MarkedPiece, random: Random) -> MarkedPiece:
    """The piece with each kind of corruption at its own small probability, most often with none."""
    for change, share in _CORRUPTIONS:
        if random.random() < share:
            piece = change(piece, random)
    return piece
