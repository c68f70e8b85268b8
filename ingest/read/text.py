"""Bytes to text: which encodings are read, what is refused, and how much of it fits in memory.

Nothing is guessed: a text in the wrong encoding reads almost right, and the letters that are wrong are
those of names. No message quotes what was read.
"""

import codecs
import io
import os
import stat
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.language.normalize import control_share, fixed_text
from ingest.read.paths import opened, shown

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
    counts: dict[tuple[str, str, bool], int] = {}
    for part in parts:
        key = (part.kind, part.reason, part.read)
        counts[key] = counts.get(key, 0) + part.count
    return tuple(Unread(kind, count, reason, read) for (kind, reason, read), count in counts.items() if count)


READS_ASIDES: ContextVar[bool] = ContextVar("reads asides", default=True)
"""Whether comments, notes and hidden rows are read as text of their document."""


def aside(lines: Iterable[str], kind: str, unread: list[Unread]) -> Iterator[str]:
    """Lines that stand beside a text and not in it, unless they are not to be read; both is noted."""
    read = READS_ASIDES.get()
    said = "is read as text; ingest.asides leaves it out" if read else "is left out, as ingest.asides says"
    for line in lines:
        unread += [Unread(kind, 1, said, read)] if line.strip() else []
        if read:
            yield line


MAX_CHARACTERS = 50_000_000
"""The longest text that is read as one document."""
MAX_BYTES = 4 * MAX_CHARACTERS
"""The longest line, message or whole file that is held in memory: as many characters, four bytes each."""

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MAGIC = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive or an Office document",
    b"\x1f\x8b": "compressed by gzip",
    b"\xd0\xcf\x11\xe0": "an Office document of the old or the encrypted kind",
}


_BINARY = "holds binary data, not text; give it the extension that it needs"


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its line end, counted from 1. ``problem`` says why its text is not to be trusted.

    ``end`` is the byte behind it, 0 where that is not known.
    """

    number: int
    text: str = field(repr=False)
    problem: str = ""
    end: int = 0


def open_file(path: Path, root: str = "") -> BinaryIO:
    """An ordinary file, opened for reading; ``root`` as for ``opened``.

    Raises:
        UnreadableDocument: It is a pipe, a device or another thing that is no ordinary file.
        OSError: It cannot be opened, or a link leads out of the root to it.
    """
    # Before it is opened, which may do something to a device, and after, when it can be no other any more.
    _refuse_others(path.stat(), path)
    file = os.fdopen(opened(path, root), "rb")
    try:
        _refuse_others(os.fstat(file.fileno()), path)
    except BaseException:
        file.close()
        raise
    return file


def _refuse_others(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableDocument(shown(path), "is no ordinary file; name a file or a folder")


def checked_text(raw: str, place: str) -> str:
    """``raw`` in its fixed form; ``UnreadableDocument`` if it is empty or too long."""
    if len(raw) > MAX_CHARACTERS:
        raise UnreadableDocument(
            place, f"holds {len(raw):,} characters, more than {MAX_CHARACTERS:,}; split it"
        )
    text = fixed_text(raw)
    if not text.strip():
        raise UnreadableDocument(place, "holds no text, or only white space; fill it in or leave it out")
    return text


def decoded(data: bytes, place: str) -> str:
    """UTF-8, or UTF-16 that says so by its first two bytes, without the mark; or ``UnreadableDocument``."""
    refuse_binary(data[:4096], place)
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from behind the mark that it skipped.
        mark = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        problem = wrong_encoding(error.encoding, error.start + mark)
    else:
        if "\0" in text or control_share(text) > 0.1:
            raise UnreadableDocument(place, _BINARY)
        return text
    raise UnreadableDocument(place, problem)


def wrong_encoding(encoding: str, byte: int) -> str:
    """The message for bytes in the wrong encoding."""
    if encoding.startswith("utf-16"):
        return f"starts like UTF-16 but breaks off at byte {byte:,}; save it again as UTF-8"
    return f"not UTF-8 at byte {byte:,}; convert it, e.g. iconv -f WINDOWS-1252 -t UTF-8"


def refuse_binary(head: bytes, place: str) -> None:
    """Raise ``UnreadableDocument`` if a file's first bytes are not text."""
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            raise UnreadableDocument(place, f"is {what}, not text; give it the extension that it needs")
    if b"\0" in head and not head.startswith(_UTF16_MARKS):
        raise UnreadableDocument(place, _BINARY)


def contents(stream: BinaryIO, place: str) -> bytes:
    """All that is left in ``stream``; ``UnreadableDocument`` beyond ``MAX_BYTES``."""
    chunks: list[bytes] = []
    room = MAX_BYTES
    while chunk := stream.read(1 << 20):
        room -= len(chunk)
        if room < 0:
            raise UnreadableDocument(place, f"is larger than {MAX_BYTES:,} bytes; split it")
        chunks.append(chunk)
    return b"".join(chunks)


def raw_lines(stream: BinaryIO) -> Iterator[tuple[bytes | None, int]]:
    r"""Lines up to and with ``\n``, and their sizes; None for a line that is longer than ``MAX_BYTES``."""
    while line := stream.readline(MAX_BYTES + 1):
        size = len(line)
        if size <= MAX_BYTES:
            yield line, size
            continue
        ended = line.endswith(b"\n")
        while not ended and (rest := stream.readline(1 << 20)):
            size += len(rest)
            ended = rest.endswith(b"\n")
        yield None, size


def lines(stream: BinaryIO) -> Iterator[Line]:
    r"""The lines of a UTF-8 stream, or of a seekable UTF-16 one, each with its ``\n``.

    A line that is too long has no text, one that cannot be decoded has some replaced; their ``problem``
    is set, and the lines after them are read.
    """
    if stream.seekable():
        start = stream.tell()
        wide = stream.read(2) in _UTF16_MARKS
        stream.seek(start)
        if wide:
            yield from _utf16_lines(stream)
            return
    start = 0
    for number, (raw, size) in enumerate(raw_lines(stream), 1):
        yield _line(number, raw, start, start + size)
        start += size


def _line(number: int, raw: bytes | None, start: int, end: int) -> Line:
    if raw is None:
        return Line(number, "", f"is longer than {MAX_BYTES:,} bytes; split it", end)
    problem = ""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        problem = wrong_encoding(error.encoding, start + error.start)
        text = raw.decode("utf-8", "replace")
    return Line(number, text.removeprefix("\ufeff") if number == 1 else text, problem, end)


def _utf16_lines(stream: BinaryIO) -> Iterator[Line]:
    wide = io.TextIOWrapper(stream, encoding="utf-16", newline="\n")
    number = 0
    try:
        while text := wide.readline(MAX_CHARACTERS):
            number += 1
            yield Line(number, text)
    except UnicodeDecodeError:
        yield Line(number + 1, "", "starts like UTF-16 but breaks off; save it again as UTF-8")
    finally:
        wide.detach()
