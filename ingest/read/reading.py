"""The inputs and outputs of reading, and the paths of a record's values."""

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.paths import canonical, os_problem, shown

ALL_BELOW = "..."
USUAL = "text"
"""The field of the text where none is named."""


def paths_in(fields: Mapping[str, object], wanted: str) -> list[str]:
    """The single paths in a user's request, given a record's fields."""
    # Between two signs there is no path: an empty one would be the whole record.
    return [wanted] if wanted in fields else [path for path in wanted.split("+") if path] or [wanted]


def may_be_absent(path: str) -> bool:
    """Whether the path matches any number of values, including none."""
    return "[*]" in path or path.endswith(ALL_BELOW)


def found(fields: Mapping[str, object], path: str) -> list[object]:
    """The values at ``path``, in order; empty if there are none.

    A path joins names by dots: "a.b". After a list, "[0]" takes one item and "[*]" all of them: "a[*].b". At
    the end "..." takes every value below, "a...", and alone the whole record. A field named exactly like the
    path comes first. "+" joins several paths: "a+b" (``paths_in``).
    """
    if path in fields:
        return [fields[path]]
    values: list[object] = [fields]
    for step in _steps(path):
        values = [inner for value in values for inner in _stepped(value, step)]
    return values


def begins_in(fields: Mapping[str, object], path: str) -> bool:
    """Whether the path's first field exists."""
    return path in fields or all(_stepped(fields, step) for step in _steps(path)[:1])


def below(value: object) -> Iterator[tuple[str, object]]:
    """Every leaf value, in order, with the name of its field."""
    # A stack, because a record may be nested deeper than calls.
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        name, each = stack.pop()
        if isinstance(each, dict):
            stack += reversed(each.items())
        elif isinstance(each, list):
            stack += ((name, item) for item in reversed(each))
        else:
            yield name, each


def count_values(value: object) -> int:
    """The number of non-empty values."""
    return sum(each is not None and bool(str(each).strip()) for _, each in below(value))


def _steps(path: str) -> list[str]:
    return [step for step in re.split(r"\.|(?=\[)", path.removesuffix(ALL_BELOW)) if step]


def _stepped(value: object, step: str) -> list[object]:
    if not step.startswith("["):
        return [value[step]] if isinstance(value, dict) and step in value else []
    if not isinstance(value, list):
        return []
    if step == "[*]":
        return value
    number = re.fullmatch(r"\[([0-9]{1,9})\]", step)
    return value[int(number[1]) : int(number[1]) + 1] if number else []


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

    text: str = USUAL
    id: str = "id"
    readers: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits per document: of reading it, and of its text; memory is on top of the reader's at its start.

    Without ``asides``, comments, notes and hidden rows are left out.
    """

    seconds: float = 60
    memory_bytes: int = 1 << 30
    characters: int = 5_000_000
    asides: bool = True


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
