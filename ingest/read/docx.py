"""Word files to text: headers, body with tables, footers, notes, comments and diagrams."""

from collections.abc import Iterator
from typing import BinaryIO

from ingest.documents import Unread
from ingest.read.formats import ReadText
from ingest.read.office import Package, office_text
from ingest.read.office_lines import lines_of

_AFTER_THE_BODY = ("footer", "footnotes", "endnotes", "comments", "diagramData")


def docx_text(stream: BinaryIO, place: str) -> ReadText:
    """The text: a line per paragraph and per table row, cells separated by bars.

    Written descriptions of pictures stand in square brackets. Unread are pictures, charts, embedded files,
    link targets, deleted passages and document properties.

    Raises:
        UnreadableDocument: It is no Word file, or would unpack to more than ``MAX_UNPACKED_BYTES``.
    """
    return office_text(stream, place, "Word", ".docx", _lines)


def _lines(package: Package, unread: list[Unread]) -> Iterator[str]:
    main = package.main("document")
    parts = [package.named_by(main, "header"), [main]]
    parts += [package.named_by(main, kind) for kind in _AFTER_THE_BODY]
    for part in (each for group in parts for each in group):
        yield from lines_of(package, part, unread)
