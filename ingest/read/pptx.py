"""PowerPoint files to text: slide by slide what stands on it, in its notes and in its comments."""

from collections.abc import Iterator
from typing import BinaryIO

from ingest.documents import Unread
from ingest.read.formats import ReadText
from ingest.read.office import Package, clear, office_text
from ingest.read.office_lines import element_lines, lines_of, texts_of


def pptx_text(stream: BinaryIO, place: str) -> ReadText:
    """The text of all slides in order, hidden ones too, separated by empty lines.

    A line per paragraph and per table row, cells separated by bars. Written descriptions of pictures stand in
    square brackets. Text that masters repeat on every slide comes once, at the end. Unread are pictures,
    charts, recordings, embedded files, link targets and document properties.

    Raises:
        UnreadableDocument: It is no PowerPoint file, or would unpack to more than ``MAX_UNPACKED_BYTES``.
    """
    return office_text(stream, place, "PowerPoint", ".pptx", _lines)


def _lines(package: Package, unread: list[Unread]) -> Iterator[str]:
    main = package.main("presentation")
    targets = {each.key: each.target for each in package.relations[main]}
    layouts: dict[str, None] = {}
    for _, element in package.elements(main, "sldId"):
        # A slide has an id of its own too, without a namespace; the one with a namespace names its part.
        slide = targets[next(value for key, value in element.attrib.items() if key.endswith("}id"))]
        yield from lines_of(package, slide, unread)
        for part in package.named_by(slide, "diagramData", "notesSlide", "comments"):
            yield from lines_of(package, part, unread)
            # Older versions write comments as bare text, newer ones as paragraphs.
            yield from (f"{text}\n" for text in texts_of(package, part, "text") if text.strip())
        yield "\n"
        layouts.update(dict.fromkeys(package.named_by(slide, "slideLayout")))
    masters = dict.fromkeys(part for each in layouts for part in package.named_by(each, "slideMaster"))
    for part in [*layouts, *masters]:
        yield from _repeated_lines(package, part)


def _repeated_lines(package: Package, part: str) -> Iterator[str]:
    """The text of a layout that shows on its slides: a placeholder says only what belongs in it."""
    for _, shape in package.elements(part, "sp"):
        if next(shape.iter("{*}ph"), None) is None:
            yield from element_lines(shape)
        clear(shape)
