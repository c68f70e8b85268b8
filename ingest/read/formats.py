"""The result of reading one kind of file."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.text import MAX_CHARACTERS

DELETED = Unread("deleted passage", 1, "was deleted with changes tracked, and stays so")
EMBEDDED = Unread("embedded file", 1, "is not opened; name it as a file of its own")
LINK = Unread("link target", 1, "only the words of a link are read")
PICTURE = Unread("picture", 1, "may show text; write out what it says")
PROPERTY = Unread("document property", 1, "titles and keywords of a file are not taken as its text")
RECORDING = Unread("recording", 1, "may be speech; write out what is said")


@dataclass(frozen=True, slots=True)
class ReadText:
    """The text of a file or part of one, and its unread parts."""

    text: str = field(repr=False)
    unread: tuple[Unread, ...] = ()


def joined(pieces: Iterable[str], place: str) -> str:
    """All pieces as one text; ``UnreadableDocument`` as soon as they exceed ``MAX_CHARACTERS``.

    A small file can refer to one long text very often, so the pieces are counted as they come.
    """
    held: list[str] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_CHARACTERS:
            raise UnreadableDocument(place, f"holds more than {MAX_CHARACTERS:,} characters; split it")
        held.append(piece)
    return "".join(held)


def added_up(parts: Iterable[Unread]) -> tuple[Unread, ...]:
    """One ``Unread`` per kind and reason, with the sum of their counts if positive, in order."""
    counts: dict[tuple[str, str], int] = {}
    for part in parts:
        key = (part.kind, part.reason)
        counts[key] = counts.get(key, 0) + part.count
    return tuple(Unread(kind, count, reason) for (kind, reason), count in counts.items() if count)
