"""The inputs and outputs of reading."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.fields import ALL_BELOW
from ingest.read.paths import canonical, os_problem, shown

# What libxml2 calls it; lxml raises it as an error of syntax.
_NO_MEMORY = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """A document or an error, and the number of input bytes read so far.

    ``bytes_read`` never falls and stays within ``total_bytes``, save for what comes from standard input.
    """

    item: Document | UnreadableDocument
    bytes_read: int


@dataclass(frozen=True, slots=True)
class File:
    """A file, its size in bytes, the total bytes of the files before it, and its origin.

    ``origin`` is as ``ingest.read.paths.origin`` has it, ``root`` as ``Walk.root_of``.
    """

    path: Path
    size: int
    before: int
    origin: str = field(repr=False)
    root: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Fields:
    """The record fields with text, id and readers, as named by the user; records name no readers if empty."""

    text: str = "text"
    id: str = "id"
    readers: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits per document: of reading it, and of its text; memory is on top of the reader's at its start."""

    seconds: float = 60
    memory_bytes: int = 1 << 30
    characters: int = 5_000_000


def within(reading: Reading, limits: ReadLimits) -> Reading:
    """The reading, or an error in place of a document that is too long."""
    item = reading.item
    if isinstance(item, UnreadableDocument) or len(item.text) <= limits.characters:
        return reading
    error = UnreadableDocument(
        item.place,
        f"has {len(item.text):,} characters, more than {limits.characters:,}; split it or raise "
        "LETHE_INGEST__DOCUMENT_CHARACTERS",
        item.source,
    )
    return replace(reading, item=error)


def placed(item: Document | UnreadableDocument, file: File) -> Document | UnreadableDocument:
    """The item with its file's origin; an id derived from the file begins with its canonical path."""
    if isinstance(item, UnreadableDocument):
        item.source = file.origin
        return item
    place = shown(file.path)
    own = item.doc_id.removeprefix(place)
    named = own != item.doc_id and (not own or own.startswith("#"))
    return replace(item, source=file.origin, doc_id=canonical(file.path) + own if named else item.doc_id)


def for_readers(item: Document | UnreadableDocument, fields: Fields) -> Document | UnreadableDocument:
    """The item, or an error where all documents have to name readers, and this one is no record that does."""
    if isinstance(item, UnreadableDocument) or item.readers or not fields.readers:
        return item
    if fields.readers.endswith(ALL_BELOW):
        return item
    return UnreadableDocument(
        item.place,
        f"is no record with the field {fields.readers!r}, so nothing says who may read it; give "
        f"{fields.readers}{ALL_BELOW} if what names no readers is for all, or for those of --readers",
    )


def guarded(readings: Iterator[Reading], place: str, end: int) -> Iterator[Reading]:
    """Turn what is raised into a last item, ``end`` bytes into the input, so that the other files are read.

    Raises:
        MemoryError: There is no more memory.
    """
    try:
        for reading in readings:
            if isinstance(reading.item, UnreadableDocument):
                bare(reading.item)
            yield reading
    except UnreadableDocument as error:
        yield Reading(bare(error), end)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        yield Reading(UnreadableDocument(place, "is damaged gzip data; compress it again"), end)
    except OSError as error:
        yield Reading(UnreadableDocument(place, os_problem(error)), end)
    except MemoryError:
        raise MemoryError from None
    except Exception as error:
        reason = f"could not be read ({type(error).__name__}); leave it out or save it again"
        yield Reading(UnreadableDocument(place, reason), end)


def bare(error: UnreadableDocument) -> UnreadableDocument:
    """Strip an error of its causes and frames, which reference the text.

    Raises:
        MemoryError: It was the cause. A reader would report it as a damaged file.
    """
    led_to = error.__cause__ or error.__context__
    while led_to:
        if isinstance(led_to, MemoryError) or getattr(led_to, "code", None) == _NO_MEMORY:
            raise MemoryError from None
        led_to = led_to.__cause__ or led_to.__context__
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
