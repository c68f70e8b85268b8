"""Read files into documents, one at a time; errors do not stop the others."""

import gzip
import io
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.html import html_text
from ingest.read.known import entries, known_kind, mail_kind
from ingest.read.paths import FOLDERS_ALONE, Walk, files_of, origin, shown
from ingest.read.reading import Fields, File, Reading, ReadLimits, bare, for_readers, guarded, placed, within
from ingest.read.reading_process import ReadFiles, reading_process
from ingest.read.record_text import documents_of
from ingest.read.records import json_lines, record_format, records
from ingest.read.text import (
    MAX_BYTES,
    Line,
    ReadText,
    checked_text,
    contents,
    decoded,
    lines,
    open_file,
    refuse_binary,
)
from ingest.read.whole_files import WHOLE_FILES

if TYPE_CHECKING:
    from ingest.read.mail import Mail


# What frames a message on a wire: a vertical tab before it, a file separator and a carriage return behind it.
_FRAME = re.compile("[\x0b\x1c]")
_MESSAGE = re.compile(r"^MSH(?=[^\w\s])", re.MULTILINE)


def is_hl7(text: str) -> bool:
    """Whether a text begins as a message does."""
    return text.lstrip("\x0b").startswith("MSH|")


def hl7_messages(text: str) -> Sequence[str]:
    """The messages, each with its segments as they are written, a line each; one for a text that has none.

    What stands before the first message, the head of a batch, goes with it.
    """
    lined = _FRAME.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    starts = [match.start() for match in _MESSAGE.finditer(lined)][1:]
    return [lined[start:end] for start, end in zip([0, *starts], [*starts, len(lined)], strict=True)]


PLACE = "standard input"


def stdin_readings(stdin: TextIO | BinaryIO | None, fields: Fields) -> Iterator[Reading]:
    """The documents of a stream, of the process's own standard input without one."""
    return guarded(_readings(stdin, fields), PLACE, 0)


def _readings(stdin: TextIO | BinaryIO | None, fields: Fields) -> Iterator[Reading]:
    used = 0

    def counted() -> Iterator[Line]:
        nonlocal used
        for line in lines(_binary(stdin)):
            used = max(used, line.end)
            yield line

    source = counted()
    head = []
    for line in source:
        head.append(line)
        if line.text.strip():
            break
    every = chain(head, source)
    if head and head[-1].text.lstrip().startswith("{"):
        items = documents_of(json_lines(every, PLACE), "stdin", fields)
    else:
        items = iter([_plain_item(every)])
    for item in items:
        yield Reading(item, used)


def _plain_item(source: Iterator[Line]) -> Document:
    """All lines as one text."""
    texts = []
    size = 0
    for line in source:
        size += len(line.text)
        if line.problem:
            raise UnreadableDocument(PLACE, f"{line.problem} (line {line.number:,})")
        if size > MAX_BYTES:
            raise UnreadableDocument(PLACE, f"is larger than {MAX_BYTES:,} bytes; split it")
        texts.append(line.text)
    text = decoded("".join(texts).encode("utf-8", "surrogatepass"), PLACE)
    return Document("stdin", checked_text(text, PLACE), {"source": "stdin"})


def _binary(stdin: TextIO | BinaryIO | None) -> BinaryIO:
    if stdin is None:
        return sys.stdin.buffer
    if not isinstance(stdin, io.TextIOBase):
        return cast(BinaryIO, stdin)
    beneath: BinaryIO | None = getattr(stdin, "buffer", None)
    return beneath or io.BytesIO(stdin.read().encode("utf-8", "surrogatepass"))


STDIN = "-"
DEFAULT_FIELDS, DEFAULT_LIMITS = Fields(), ReadLimits()
RECORD_EXTENSIONS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
EXTENSIONS = (
    *(".txt", ".md", ".log", ".hl7", ".html", ".htm", *WHOLE_FILES, ".eml", ".mbox", ".vcf", ".ics"),
    *RECORD_EXTENSIONS,
)
"""The supported extensions, the last five also compressed (``.gz``)."""

MAX_ERRORS = 1_000
"""Maximum number of consecutive unreadable records reported individually."""


_NO_RECORD = "holds no record; fill it in or leave it out"
_NO_ROW = (
    "holds no row behind the line that names its columns; write that line and a row for each document, or "
    "name a text .txt"
)


def total_bytes(paths: Sequence[str], walk: Walk = FOLDERS_ALONE) -> int:
    """The size of all files on disk in bytes; standard input counts as 0."""
    named = chain.from_iterable(files_of(path, walk) for path in paths if path != STDIN)
    return sum(_size(path) for path in named if isinstance(path, Path))


def read_documents(
    paths: Sequence[str],
    *,
    fields: Fields = DEFAULT_FIELDS,
    stdin: TextIO | BinaryIO | None = None,
    limits: ReadLimits | None = DEFAULT_LIMITS,
    walk: Walk = FOLDERS_ALONE,
) -> Iterator[Reading]:
    """The documents of files, folders, patterns and of "-", standard input. Errors are items, not raised.

    The id of a file is its canonical path, however it was named. A record has its field of the id, or path
    and line; a mail its Message-ID in angle brackets. ``ingest.read.doc_ids`` makes them fit for an index.
    ``fields`` are paths (``ingest.read.record_text``). Standard input holds JSON lines or one
    text. Memory holds one record, one message, or one whole file of another kind.

    A separate process reads the files; it starts with the first and ends with the iterator. A document beyond
    the ``limits`` is an error, and so is the rest of its file. Without limits this process reads, and a
    ``MemoryError`` is raised.
    """
    before = 0

    def sources(named: Iterable[str]) -> Iterator[File | Reading]:
        nonlocal before
        for each in sources_of(named, walk, before):
            if isinstance(each, File):
                before = each.before + each.size
            yield each

    with reading_process(limits, fields) if limits else nullcontext(_read_here(fields)) as read:
        for is_stdin, named in groupby(paths, STDIN.__eq__):
            if not is_stdin:
                yield from read(sources(named))
                continue
            for _ in named:
                start = before
                for reading in stdin_readings(stdin, fields):
                    before = max(before, start + reading.bytes_read)
                    item = Reading(for_readers(reading.item, fields), before)
                    yield within(item, limits) if limits else item


def sources_of(paths: Iterable[str], walk: Walk = FOLDERS_ALONE, before: int = 0) -> Iterator[File | Reading]:
    """The files behind paths and patterns, in order, and errors where there are none.

    ``before`` are the bytes of what comes before them.
    """
    for each, path in ((one, path) for one in paths for path in files_of(one, walk)):
        if isinstance(path, UnreadableDocument):
            yield Reading(bare(path), before)
        else:
            yield File(path, size := _size(path), before, origin(path, each), walk.root_of(each))
            before += size


def _read_here(fields: Fields) -> ReadFiles:
    def read(sources: Iterator[File | Reading]) -> Iterator[Reading]:
        for source in sources:
            yield from [source] if isinstance(source, Reading) else file_readings(source, fields)

    return read


def file_readings(file: File, fields: Fields) -> Iterator[Reading]:
    """The documents of one file, read in this process; errors are items.

    Raises:
        MemoryError: There is no more memory.
    """
    readings = guarded(_file_readings(file, fields), shown(file.path), file.before + file.size)
    return (replace(each, item=placed(for_readers(each.item, fields), file)) for each in readings)


def _size(path: Path) -> int:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _file_readings(file: File, fields: Fields) -> Iterator[Reading]:
    place = shown(file.path)
    # Before its name is looked at: of a file that is not there, that says nothing.
    file.path.stat()
    kind = _kind(file.path, place)
    with open_file(file.path, file.root) as raw:
        if file.size == 0:
            raise UnreadableDocument(place, "is empty (0 bytes); fill it in or leave it out")
        if not kind:
            kind = _kind_within(raw, place)
        if kind in WHOLE_FILES:
            document = _document(WHOLE_FILES[kind](raw, place), place)
            yield Reading(document, file.before + file.size)
            return
        opened = gzip.GzipFile(fileobj=raw) if place.lower().endswith(".gz") else raw
        stream = cast(BinaryIO, opened)
        head = stream.read(4096)
        refuse_binary(head, place)
        stream.seek(0)
        kind = (mail_kind(head) if kind == ".txt" else "") or kind
        empty = True
        for item in _abridged(_items(stream, kind, place, fields), place):
            empty = False
            yield Reading(item, file.before + min(raw.tell(), file.size))
        if empty:
            raise UnreadableDocument(place, _NO_ROW if kind in (".csv", ".tsv") else _NO_RECORD)


def _abridged(
    items: Iterator[Document | UnreadableDocument], place: str
) -> Iterator[Document | UnreadableDocument]:
    """The items; consecutive errors beyond ``MAX_ERRORS`` are combined into one."""
    for is_error, run in groupby(items, lambda item: isinstance(item, UnreadableDocument)):
        number = 0
        for number, item in enumerate(run, 1):
            if number <= MAX_ERRORS or not is_error:
                yield item
        if number > MAX_ERRORS and is_error:
            more = f"{number - MAX_ERRORS:,} more records behind those"
            yield UnreadableDocument(place, f"holds {more} that cannot be read; correct or leave them out")


def _kind(path: Path, place: str) -> str:
    """The extension that says how a file is read; empty where it has none."""
    name = path.name.lower()
    kind = record_format(name)
    if kind in (RECORD_EXTENSIONS if name.endswith(".gz") else ("", *EXTENSIONS)):
        return kind
    raise UnreadableDocument(
        place,
        f"has an extension that is not read; convert it to one of {' '.join(EXTENSIONS)}"
        f" (gzip: {' '.join(f'{extension}.gz' for extension in RECORD_EXTENSIONS)})",
    )


def _kind_within(stream: BinaryIO, place: str) -> str:
    """The extension that a file without one should have."""
    kind = known_kind(stream.read(4096), stream)
    stream.seek(0)
    if not kind:
        raise UnreadableDocument(
            place,
            "has no extension, and its beginning does not tell what it is; name it .txt or so",
        )
    return kind


def _document(read: ReadText, place: str) -> Document:
    return Document(place, checked_text(read.text, place), {"source": place}, read.unread)


def _items(
    stream: BinaryIO, kind: str, place: str, fields: Fields
) -> Iterator[Document | UnreadableDocument]:
    if kind in RECORD_EXTENSIONS:
        return documents_of(records(stream, place, kind, fields.text), place, fields)
    if kind in (".eml", ".mbox"):
        return _mail_items(stream, kind, place)
    text = decoded(contents(stream, place), place)
    if kind in (".html", ".htm"):
        return iter([_document(html_text(text, place), place)])
    if kind in (".hl7", ".vcf", ".ics") or is_hl7(text):
        messages = entries(text) if kind in (".vcf", ".ics") else hl7_messages(text)
        alone = len(messages) == 1
        return (
            Document(place if alone else f"{place}#{n}", checked_text(each, place), {"source": place})
            for n, each in enumerate(messages, 1)
        )
    return iter([Document(place, checked_text(text, place), {"source": place})])


def _mail_items(stream: BinaryIO, kind: str, place: str) -> Iterator[Document | UnreadableDocument]:
    # Late, because Python's own reader of mail takes as long to import as all the rest.
    from ingest.read.mail import mail_of, mbox_messages

    if kind == ".eml":
        yield _mail_item(mail_of(contents(stream, place), place), place, place)
        return
    for number, mail in enumerate(mbox_messages(stream, place), 1):
        if isinstance(mail, UnreadableDocument):
            yield mail
        else:
            yield _mail_item(mail, place, f"{place}#{number}")


def _mail_item(mail: "Mail", source: str, otherwise: str) -> Document | UnreadableDocument:
    try:
        text = checked_text(mail.text, mail.place)
    except UnreadableDocument as error:
        return error
    return Document(mail.message_id or otherwise, text, {"source": source, "place": mail.place}, mail.unread)
