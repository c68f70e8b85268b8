"""Reading files into documents, one at a time, whatever is wrong with some of them."""

import gzip
import io
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.docx import docx_text
from ingest.read.html import html_text
from ingest.read.mail import Mail, mail_of, mbox_messages
from ingest.read.paths import files_of, os_problem, shown
from ingest.read.pdf import pdf_text
from ingest.read.records import Record, document_of, json_lines, lacks, record_format, records
from ingest.read.text import MAX_BYTES, Line, checked_text, contents, decoded, lines, refuse_binary

STDIN = "-"
RECORD_EXTENSIONS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
EXTENSIONS = (".txt", ".md", ".html", ".htm", ".pdf", ".docx", ".eml", ".mbox", *RECORD_EXTENSIONS)
"""What can be read, the last five also compressed (``.gz``)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document or why there is none, and how much of the input has been used up to here, in bytes.

    ``bytes_read`` never falls and stays within ``total_bytes``, save for what comes from standard input.
    """

    item: Document | UnreadableDocument
    bytes_read: int


@dataclass(frozen=True, slots=True)
class _Fields:
    text: str
    id: str


def total_bytes(paths: Sequence[str]) -> int:
    """The size of all files in bytes, as they lie on the disk; standard input counts for nothing."""
    named = chain.from_iterable(files_of(path) for path in paths if path != STDIN)
    return sum(_size(path) for path in named if isinstance(path, Path))


def read_documents(
    paths: Sequence[str],
    *,
    text_field: str = "text",
    id_field: str = "id",
    stdin: TextIO | BinaryIO | None = None,
) -> Iterator[Reading]:
    """The documents of files, folders, patterns and of "-", standard input; nothing raises, errors are items.

    A file's id is its path as it was named, a record's is its ``id_field`` or the path with its line, a
    mail's is its Message-ID in angle brackets; ``ingest.read.doc_ids`` makes of them what an index may hold.
    ``text_field`` may be nested ("a.b") or several ("a+b"). Standard input holds JSON lines, or one text.
    Held in memory are one record, one message, or one whole file that is not a list of them.
    """
    fields = _Fields(text_field, id_field)
    before = 0
    for named in paths:
        if named == STDIN:
            used = 0
            for reading in _guarded(_stdin_readings(stdin, fields), "standard input", 0):
                used = max(used, reading.bytes_read)
                yield Reading(reading.item, before + used)
            before += used
            continue
        for path in files_of(named):
            if isinstance(path, UnreadableDocument):
                yield Reading(_bare(path), before)
                continue
            size = _size(path)
            for reading in _guarded(_file_readings(path, size, fields), shown(path), size):
                yield Reading(reading.item, before + reading.bytes_read)
            before += size


def _guarded(readings: Iterator[Reading], place: str, size: int) -> Iterator[Reading]:
    """Turn what is raised into a last item, so that the other files are read."""
    try:
        for reading in readings:
            if isinstance(reading.item, UnreadableDocument):
                _bare(reading.item)
            yield reading
    except UnreadableDocument as error:
        yield Reading(_bare(error), size)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        yield Reading(UnreadableDocument(place, "is damaged gzip data; compress it again"), size)
    except OSError as error:
        yield Reading(UnreadableDocument(place, os_problem(error)), size)
    except Exception as error:
        reason = f"could not be read ({type(error).__name__}); leave it out or save it again"
        yield Reading(UnreadableDocument(place, reason), size)


def _bare(error: UnreadableDocument) -> UnreadableDocument:
    """Take from an error what led to it: causes and frames hold on to the text that was read."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _size(path: Path) -> int:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _file_readings(path: Path, size: int, fields: _Fields) -> Iterator[Reading]:
    place = shown(path)
    kind = _kind(path, place)
    # Opening a pipe would wait for somebody to write into it.
    if not stat.S_ISREG(path.stat().st_mode):
        raise UnreadableDocument(place, "is no ordinary file; name a file or a folder")
    with path.open("rb") as file:
        if size == 0:
            raise UnreadableDocument(place, "is empty (0 bytes); fill it in or leave it out")
        if kind in (".pdf", ".docx"):
            yield Reading(_packed_document(file, kind, place), size)
            return
        opened = gzip.GzipFile(fileobj=file) if place.lower().endswith(".gz") else file
        stream = cast(BinaryIO, opened)
        refuse_binary(stream.read(4096), place)
        stream.seek(0)
        for item in _items(stream, kind, place, fields):
            yield Reading(item, min(file.tell(), size))


def _kind(path: Path, place: str) -> str:
    name = path.name.lower()
    kind = record_format(name)
    if kind in (RECORD_EXTENSIONS if name.endswith(".gz") else EXTENSIONS):
        return kind
    raise UnreadableDocument(
        place,
        f"has an extension that is not read; convert it to one of {' '.join(EXTENSIONS)}"
        f" (gzip: {' '.join(f'{extension}.gz' for extension in RECORD_EXTENSIONS)})",
    )


def _packed_document(stream: BinaryIO, kind: str, place: str) -> Document:
    if kind == ".docx":
        return Document(place, checked_text(docx_text(stream, place), place), {"source": place})
    text, pages, empty = pdf_text(stream, place)
    metadata = {"source": place, "pages": str(pages), "pages_without_text": str(empty)}
    return Document(place, checked_text(text, place), metadata)


def _items(
    stream: BinaryIO, kind: str, place: str, fields: _Fields
) -> Iterator[Document | UnreadableDocument]:
    if kind in RECORD_EXTENSIONS:
        stop_at_gap = kind in (".csv", ".tsv")
        yield from _record_items(records(stream, place, kind, fields.text), place, fields, stop_at_gap)
    elif kind == ".mbox":
        for number, mail in enumerate(mbox_messages(stream, place), 1):
            yield (
                mail if isinstance(mail, UnreadableDocument) else _mail_item(mail, place, f"{place}#{number}")
            )
    elif kind == ".eml":
        yield _mail_item(mail_of(contents(stream, place), place), place, place)
    else:
        text = decoded(contents(stream, place), place)
        text = html_text(text, place) if kind in (".html", ".htm") else text
        yield Document(place, checked_text(text, place), {"source": place})


def _record_items(
    found: Iterator[Record | UnreadableDocument], source: str, fields: _Fields, stop_at_gap: bool = False
) -> Iterator[Document | UnreadableDocument]:
    """Documents of records. A field that a table lacks is missing in all its rows: told once."""
    for record in found:
        if isinstance(record, UnreadableDocument):
            yield record
            continue
        try:
            yield document_of(record, source, fields.text, fields.id)
        except UnreadableDocument as error:
            yield error
            if stop_at_gap and lacks(record, fields.text):
                return


def _mail_item(mail: Mail, source: str, otherwise: str) -> Document | UnreadableDocument:
    try:
        text = checked_text(mail.text, mail.place)
    except UnreadableDocument as error:
        return error
    return Document(mail.message_id or otherwise, text, {"source": source, "place": mail.place})


def _stdin_readings(stdin: TextIO | BinaryIO | None, fields: _Fields) -> Iterator[Reading]:
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
        items = _record_items(json_lines(every, "standard input"), "stdin", fields)
    else:
        items = iter([_plain_item(every)])
    for item in items:
        yield Reading(item, used)


def _plain_item(source: Iterator[Line]) -> Document:
    """All lines as one text."""
    place = "standard input"
    texts = []
    size = 0
    for line in source:
        size += len(line.text)
        if line.problem:
            raise UnreadableDocument(place, f"{line.problem} (line {line.number:,})")
        if size > MAX_BYTES:
            raise UnreadableDocument(place, f"is larger than {MAX_BYTES:,} bytes; split it")
        texts.append(line.text)
    text = decoded("".join(texts).encode("utf-8", "surrogatepass"), place)
    return Document("stdin", checked_text(text, place), {"source": "stdin"})


def _binary(stdin: TextIO | BinaryIO | None) -> BinaryIO:
    if stdin is None:
        return sys.stdin.buffer
    if not isinstance(stdin, io.TextIOBase):
        return cast(BinaryIO, stdin)
    beneath: BinaryIO | None = getattr(stdin, "buffer", None)
    return beneath or io.BytesIO(stdin.read().encode("utf-8", "surrogatepass"))
