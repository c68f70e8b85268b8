"""Standard input to documents: JSON lines, or one text. It is read in this process."""

import io
import sys
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO, TextIO, cast

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.reading import Fields, Reading, guarded
from ingest.read.record_text import documents_of
from ingest.read.records import json_lines
from ingest.read.text import MAX_BYTES, Line, checked_text, decoded, lines

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
