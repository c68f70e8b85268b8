"""A piece of text with the mentions in it, and how pieces are put together."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from models.training.examples import Mention

_PART = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Marked:
    """A text and what is marked in it; offsets in code points."""

    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = field(default=(), repr=False)


def join(pieces: Iterable[Marked]) -> Marked:
    """The pieces one after the other."""
    texts: list[str] = []
    mentions: list[Mention] = []
    length = 0
    for piece in pieces:
        mentions.extend(Mention(m.start + length, m.end + length, m.label) for m in piece.mentions)
        texts.append(piece.text)
        length += len(piece.text)
    return Marked("".join(texts), tuple(mentions))


def mark(piece: Marked | str, *labels: str) -> Marked:
    """The piece, marked as a whole with each of the labels."""
    inner = piece if isinstance(piece, Marked) else Marked(piece)
    whole = tuple(Mention(0, len(inner.text), label) for label in labels)
    return Marked(inner.text, whole + inner.mentions)


def compose(layout: str, parts: Mapping[str, Marked]) -> Marked:
    """The layout with every ``{name}`` in it replaced by the part of that name."""
    return join(
        parts[piece] if place % 2 else Marked(piece) for place, piece in enumerate(_PART.split(layout))
    )


def by_character(piece: Marked, change: Callable[[str], str]) -> Marked:
    """The piece with every character changed; a change that is not one character long is left out.

    Lower-casing a dotted capital I gives two characters, for one, and the mentions must stay in place.
    """
    changed = ((character, change(character)) for character in piece.text)
    return Marked("".join(new if len(new) == 1 else old for old, new in changed), piece.mentions)


def capitalized(piece: Marked) -> Marked:
    """The piece with its first character in upper case."""
    first, rest = piece.text[:1], piece.text[1:]
    return Marked((first.upper() if len(first.upper()) == 1 else first) + rest, piece.mentions)
