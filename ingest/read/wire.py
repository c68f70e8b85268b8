"""The protocol of the reading process: length-prefixed JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import IO, cast

from ingest.documents import Document, Unread
from ingest.errors import UnreadableDocument
from ingest.read.reading import File, Reading

OUT_OF_MEMORY = 70
"""The exit code of a reading process that needed more memory than it may have."""
_LENGTH_BYTES = 8


def framed(value: object) -> bytes:
    """One value on the wire: its length in bytes, then itself."""
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return len(data).to_bytes(_LENGTH_BYTES, "big") + data


def receive(stream: IO[bytes]) -> object:
    """Read one value.

    Raises:
        EOFError: The other process has ended, before a value or within one.
    """
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        raise EOFError
    data = stream.read(size := int.from_bytes(length, "big"))
    if len(data) < size:
        raise EOFError
    return json.loads(data)


def packed_file(file: File) -> Sequence[object]:
    """A file to read as JSON has it."""
    return [str(file.path), file.size, file.before, file.origin, file.root]


def unpacked_files(value: object) -> Iterator[File]:
    """The files that were packed in a list."""
    for path, size, before, origin, root in cast(list[tuple[str, int, int, str, str]], value):
        yield File(Path(path), size, before, origin, root)


def packed(reading: Reading) -> Sequence[object]:
    """A reading as JSON has it."""
    item = reading.item
    if isinstance(item, UnreadableDocument):
        return [reading.bytes_read, item.source, item.place, item.reason]
    unread = [astuple(part) for part in item.unread]
    readers = sorted(item.readers)
    return [reading.bytes_read, item.source, item.doc_id, item.text, dict(item.metadata), unread, readers]


def unpacked(value: object) -> Reading:
    """The reading that was packed."""
    match value:
        case [int(bytes_read), str(source), str(place), str(reason)]:
            return Reading(UnreadableDocument(place, reason, source), bytes_read)
        case [int(read), str(source), str(doc_id), str(text), dict(metadata), list(unread), list(readers)]:
            parts = tuple(Unread(*part) for part in unread)
            return Reading(Document(doc_id, text, metadata, parts, source, frozenset(readers)), read)
    raise ValueError("is no reading")
