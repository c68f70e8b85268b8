"""Word files to text: headers, body with tables, footers, notes and comments.

The paragraphs are read from the markup and not through the library's own text property, which passes over
inserted passages, content controls and text boxes, and so would lose text.
"""

import warnings
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from ingest.errors import UnreadableDocument

MAX_UNPACKED_BYTES = 200_000_000
"""What the parts of one file may unpack to."""

_NOT_A_WORD_FILE = "is not a Word file, or is encrypted or damaged; save it again as .docx without password"
_SIDE_PARTS = ("header", "footer", "footnotes", "endnotes", "comments")
_WHITE = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# What was moved away stands where it was moved to; a fallback repeats a drawing for older programs.
_REPEATED = ("moveFrom", "Fallback")


def docx_text(stream: BinaryIO, place: str) -> str:
    """The text, a line for each paragraph and each row of a table, whose cells are parted by bars.

    ``UnreadableDocument`` if it is no Word file, or if it would unpack to more than ``MAX_UNPACKED_BYTES``.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except Exception:
        raise UnreadableDocument(place, _NOT_A_WORD_FILE) from None
    if unpacked > MAX_UNPACKED_BYTES:
        raise UnreadableDocument(
            place, f"would unpack to {unpacked:,} bytes, more than {MAX_UNPACKED_BYTES:,}; split it"
        )
    stream.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "\n".join(block for block in _all_blocks(stream) if block.strip())
    except Exception:
        raise UnreadableDocument(place, _NOT_A_WORD_FILE) from None


def _all_blocks(stream: BinaryIO) -> Iterator[str]:
    import docx
    from docx.oxml import parse_xml

    document = docx.Document(stream)
    sides: dict[str, list[bytes]] = {name: [] for name in _SIDE_PARTS}
    for relation in document.part.rels.values():
        name = relation.reltype.rpartition("/")[2]
        if name in sides and not relation.is_external:
            sides[name].append(relation.target_part.blob)
    for blob in sides.pop("header"):
        yield from _blocks(parse_xml(blob))
    yield from _blocks(document.element.body)
    for blobs in sides.values():
        for blob in blobs:
            yield from _blocks(parse_xml(blob))


def _name(element: Any) -> str:
    # Comments and processing instructions have a function where elements have a name.
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _blocks(element: Any) -> Iterator[str]:
    for child in element:
        match _name(child):
            case "p":
                yield _paragraph(child)
            case "tr":
                yield " | ".join(_cells(child))
            case name if name and name not in _REPEATED:
                yield from _blocks(child)


def _cells(element: Any) -> Iterator[str]:
    for child in element:
        if _name(child) == "tc":
            yield " ".join(" ".join(_blocks(child)).split())
        else:
            yield from _cells(child)


def _paragraph(element: Any) -> str:
    pieces: list[str] = []
    for child in element:
        name = _name(child)
        if name == "t":
            pieces.append(child.text or "")
        elif name in _WHITE:
            pieces.append(_WHITE[name])
        elif name == "txbxContent":
            pieces += ["\n", "\n".join(_blocks(child)), "\n"]
        elif name not in _REPEATED and name != "pPr":
            pieces.append(_paragraph(child))
    return "".join(pieces)
