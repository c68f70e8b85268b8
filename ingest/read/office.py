"""Word and PowerPoint files to text, and what all office files share: archives of parts that name each other.

The markup is read directly, part by part. Libraries for these programs keep every element as an object, and
miss text in unusual places. Word and the drawings of all three programs use the same names: ``p`` holds
``t``, ``tr`` holds ``tc``.
"""

import posixpath
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.text import (
    DELETED,
    EMBEDDED,
    LINK,
    PICTURE,
    PROPERTY,
    RECORDING,
    ReadText,
    added_up,
    aside,
    joined,
)

MAX_UNPACKED_BYTES = 200_000_000
"""Maximum unpacked size of one file's parts, in bytes."""

_CHART = Unread("chart", 1, "its labels and figures are not read; write them out")
_MACRO = Unread("macro", 1, "is neither run nor read")

# By the last word of the relation's type.
_NOT_READ = {
    "image": PICTURE,
    "chart": _CHART,
    "chartEx": _CHART,
    "oleObject": EMBEDDED,
    "package": EMBEDDED,
    "aFChunk": EMBEDDED,
    "audio": RECORDING,
    "media": RECORDING,
    "video": RECORDING,
    "vbaProject": _MACRO,
    "xlMacrosheet": _MACRO,
    "xlIntlMacrosheet": _MACRO,
    "control": Unread("form control", 1, "its value is not read; type it into the document"),
    "pivotCacheRecords": Unread("pivot cache", 1, "copies of rows from elsewhere are not read"),
    "externalLink": Unread("linked workbook", 1, "copies of cells from elsewhere are not read"),
}
_WRITTEN_PROPERTIES = frozenset({"title", "subject", "keywords", "description", "category", "property"})


@dataclass(frozen=True, slots=True)
class Relation:
    """That one part names another: ``kind`` is the last word of its type, "slide" or "image"."""

    key: str = field(repr=False)
    kind: str
    target: str = field(repr=False)
    external: bool


@dataclass(frozen=True, slots=True)
class Package:
    """An open file: its parts by name, and what each of them names. ``""`` names the main part."""

    archive: zipfile.ZipFile = field(repr=False)
    relations: dict[str, list[Relation]] = field(repr=False)

    def main(self, root: str) -> str:
        """The name of the part that all others hang on; ``ValueError`` if its root is not named ``root``."""
        part = self.named_by("", "officeDocument")[0]
        if next(self.elements(part, root, start=True), None) is None:
            raise ValueError("a file of another program")
        return part

    def named_by(self, part: str, *kinds: str) -> list[str]:
        """The parts of these kinds that ``part`` names, each once, in order."""
        named = (each for each in self.relations.get(part, ()) if each.kind in kinds and not each.external)
        return list(dict.fromkeys(each.target for each in named))

    def elements(self, part: str, *tags: str, start: bool = False) -> Iterator[tuple[str, Any]]:
        """Events ("start", if asked for, and "end") of the elements with these local names, in order.

        Who takes them clears them: an element stays in memory until then.
        """
        from lxml import etree

        with self.archive.open(part) as opened:
            parsed = etree.iterparse(
                opened,
                events=("start", "end") if start else ("end",),
                tag=[f"{{*}}{tag}" for tag in tags],
                resolve_entities=False,
                no_network=True,
                remove_comments=True,
                remove_pis=True,
            )
            yield from parsed
            # Its entities would be missing in the text, with what stands behind them.
            if parsed.root is not None and parsed.root.getroottree().docinfo.internalDTD is not None:
                raise ValueError("a document type of its own")


def office_text(
    stream: BinaryIO,
    place: str,
    program: str,
    extension: str,
    pieces: Callable[[Package, list[Unread]], Iterator[str]],
) -> ReadText:
    """The text that ``pieces`` finds in a file; it adds what it leaves out to the list that it is given.

    ``UnreadableDocument`` if the file is none of ``program``, is damaged, or would unpack to more than
    ``MAX_UNPACKED_BYTES``.
    """
    unread: list[Unread] = []
    try:
        with zipfile.ZipFile(stream) as archive:
            _refuse_bomb(archive, place)
            package = Package(archive, _relations(archive))
            text = joined(pieces(package, unread), place)
            unread += _left_out(package)
    except (UnreadableDocument, MemoryError):
        raise
    except Exception:
        article = "an" if program == "Excel" else "a"
        reason = f"is not {article} {program} file, or is encrypted or damaged"
        raise UnreadableDocument(place, f"{reason}; save it again as {extension} without password") from None
    return ReadText(text.rstrip("\n"), added_up(unread))


def clear(element: Any) -> None:
    """Take from memory an element that has been read, and what stands before it in the same parent."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def local_name(element: Any) -> str:
    """The name without its namespace: two editions of the standard differ in these."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """The attribute of this local name, or an empty string."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _refuse_bomb(archive: zipfile.ZipFile, place: str) -> None:
    unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > MAX_UNPACKED_BYTES:
        raise UnreadableDocument(
            place, f"would unpack to {unpacked:,} bytes, more than {MAX_UNPACKED_BYTES:,}; split it"
        )
    # Other methods unpack a block at a time, however large it becomes, and no office program uses them.
    if any(
        part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for part in archive.infolist()
    ):
        raise zipfile.BadZipFile


def _relations(archive: zipfile.ZipFile) -> dict[str, list[Relation]]:
    found: dict[str, list[Relation]] = {}
    bare = Package(archive, {})
    for name in archive.namelist():
        folder, file = posixpath.split(name)
        if posixpath.basename(folder) != "_rels" or not file.endswith(".rels"):
            continue
        base = posixpath.dirname(folder)
        relations = found.setdefault(posixpath.join(base, file.removesuffix(".rels")), [])
        for _, element in bare.elements(name, "Relationship"):
            external = element.get("TargetMode") == "External"
            target = element.get("Target", "")
            if not external:
                target = posixpath.normpath(posixpath.join("/", base, target)).lstrip("/")
            kind = element.get("Type", "").rpartition("/")[2]
            relations.append(Relation(element.get("Id", ""), kind, target, external))
            clear(element)
    return found


def _left_out(package: Package) -> Iterator[Unread]:
    """The unread content of parts, each part counted once."""
    seen: set[tuple[str, str]] = set()
    for relation in (each for relations in package.relations.values() for each in relations):
        part = LINK if relation.kind == "hyperlink" and relation.external else _NOT_READ.get(relation.kind)
        if part and (part.kind, relation.target) not in seen:
            seen.add((part.kind, relation.target))
            yield part
    yield from _properties(package)


def _properties(package: Package) -> Iterator[Unread]:
    """Written properties only: who saved the file and when says nothing that a reader would ask about."""
    parts = package.named_by("", "core-properties", "custom-properties")
    for part in (each for each in parts if each in package.archive.namelist()):
        for _, element in package.elements(part, *_WRITTEN_PROPERTIES):
            if any(text.strip() for text in element.itertext()):
                yield PROPERTY


_WHITE = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# What was moved away stands where it was moved to; a fallback repeats a drawing for older programs.
_REPEATED = ("moveFrom", "Fallback")
_PICTURES = ("docPr", "cNvPr")
_TABLE_TEXTS = ("tblCaption", "tblDescription")
_WATCHED = ("p", "tr", "del", "instrText", *_REPEATED, *_PICTURES, *_TABLE_TEXTS)


def lines_of(package: Package, part: str, unread: list[Unread]) -> Iterator[str]:
    """Each paragraph, row and alternative text of a part with its line end, empty ones left out.

    In memory is one outermost paragraph or row at a time. Deleted passages are added to ``unread``.
    """
    inside = repeated = 0
    for event, element in package.elements(part, *_WATCHED, start=True):
        name = local_name(element)
        step = 1 if event == "start" else -1
        if name in _REPEATED:
            repeated += step
        elif name in ("p", "tr"):
            inside += step
        if event == "start":
            continue
        if name in ("del", "instrText"):
            unread += _tracked(element, name)
        elif (
            not inside and not repeated and name not in _REPEATED and (block := _block(element, name)).strip()
        ):
            yield f"{block}\n"
        if not inside and name in ("p", "tr"):
            clear(element)


def element_lines(element: Any) -> Iterator[str]:
    """The same of an element in memory."""
    return (f"{block}\n" for block in _blocks(element) if block.strip())


def texts_of(package: Package, part: str, tag: str) -> Iterator[str]:
    """The text of each element of this name, without its form fields."""
    for _, element in package.elements(part, tag):
        yield text_in(element)
        clear(element)


def text_in(element: Any) -> str:
    """The text of a cell or comment; what only says how its signs are read aloud is left out."""
    texts = element.iter("{*}t", "{*}text")
    return "".join(each.text or "" for each in texts if local_name(each.getparent()) != "rPh")


def _tracked(element: Any, name: str) -> list[Unread]:
    if name == "del":
        return [DELETED] if next(element.iter("{*}delText"), None) is not None else []
    return [LINK] if "HYPERLINK" in (element.text or "") else []


def _block(element: Any, name: str) -> str:
    match name:
        case "p":
            return _paragraph(element)
        case "tr":
            return " | ".join(_cells(element))
        case "docPr" | "cNvPr":
            return _alternative(element).strip()
        case "tblCaption" | "tblDescription":
            return attribute(element, "val")
    return ""


def _blocks(element: Any) -> Iterator[str]:
    for child in element:
        name = local_name(child)
        if name in ("p", "tr", *_PICTURES, *_TABLE_TEXTS):
            yield _block(child, name)
        elif name not in _REPEATED:
            yield from _blocks(child)


def _cells(element: Any) -> Iterator[str]:
    for child in element:
        if local_name(child) == "tc":
            yield " ".join(" ".join(_blocks(child)).split())
        else:
            yield from _cells(child)


def _paragraph(element: Any) -> str:
    pieces: list[str] = []
    for child in element:
        name = local_name(child)
        if name == "t":
            pieces.append(child.text or "")
        elif name in _WHITE:
            pieces.append(_WHITE[name])
        elif name == "txbxContent":
            pieces += ["\n", "\n".join(_blocks(child)), "\n"]
        elif name == "ffData":
            pieces.append(_form_value(child))
        elif name not in _REPEATED and name != "pPr" and child.get("type") != "slidenum":
            shown = _alternative(child) if name in ("docPr", "shape") else ""
            pieces += [shown, _paragraph(child)]
    return "".join(pieces)


def _alternative(element: Any) -> str:
    """The alternative text of a picture or drawing."""
    texts = dict.fromkeys(element.get(key, "").strip() for key in ("title", "descr", "alt"))
    return "".join(f" [{text}] " for text in texts if text)


def _form_value(data: Any) -> str:
    """The value of a form's box or list; typed values are in the following text."""
    for child in data:
        if local_name(child) == "checkBox":
            values = {local_name(each): attribute(each, "val") or "1" for each in child}
            return "[x]" if values.get("checked", values.get("default")) in ("1", "true", "on") else "[ ]"
        if local_name(child) == "ddList":
            entries = [attribute(each, "val") for each in child if local_name(each) == "listEntry"]
            chosen = [attribute(each, "val") for each in child if local_name(each) == "result"]
            return entries[int(chosen[0]) if chosen else 0]
    return ""


_AFTER_THE_BODY = ("footer", "footnotes", "endnotes", "comments", "diagramData")


def docx_text(stream: BinaryIO, place: str) -> ReadText:
    """The text: a line per paragraph and per table row, cells separated by bars.

    Written descriptions of pictures stand in square brackets. Unread are pictures, charts, embedded files,
    link targets, deleted passages and document properties.

    Raises:
        UnreadableDocument: It is no Word file, or would unpack to more than ``MAX_UNPACKED_BYTES``.
    """
    return office_text(stream, place, "Word", ".docx", _document_lines)


def _document_lines(package: Package, unread: list[Unread]) -> Iterator[str]:
    main = package.main("document")
    parts = [package.named_by(main, "header"), [main]]
    parts += [package.named_by(main, kind) for kind in _AFTER_THE_BODY]
    comments = package.named_by(main, "comments")
    for part in (each for group in parts for each in group):
        lines = lines_of(package, part, unread)
        yield from aside(lines, "comment", unread) if part in comments else lines


def pptx_text(stream: BinaryIO, place: str) -> ReadText:
    """The text of all slides in order, hidden ones too, separated by empty lines.

    A line per paragraph and per table row, cells separated by bars. Written descriptions of pictures stand in
    square brackets. Text that masters repeat on every slide comes once, at the end. Unread are pictures,
    charts, recordings, embedded files, link targets and document properties.

    Raises:
        UnreadableDocument: It is no PowerPoint file, or would unpack to more than ``MAX_UNPACKED_BYTES``.
    """
    return office_text(stream, place, "PowerPoint", ".pptx", _slide_lines)


def _slide_lines(package: Package, unread: list[Unread]) -> Iterator[str]:
    main = package.main("presentation")
    targets = {each.key: each.target for each in package.relations[main]}
    layouts: dict[str, None] = {}
    for _, element in package.elements(main, "sldId"):
        # A slide has an id of its own too, without a namespace; the one with a namespace names its part.
        slide = targets[next(value for key, value in element.attrib.items() if key.endswith("}id"))]
        yield from lines_of(package, slide, unread)
        for kind, name in (("diagramData", ""), ("notesSlide", "speaker note"), ("comments", "comment")):
            for part in package.named_by(slide, kind):
                # Older versions write comments as bare text, newer ones as paragraphs.
                old = (f"{text}\n" for text in texts_of(package, part, "text") if text.strip())
                lines = chain(lines_of(package, part, unread), old)
                yield from aside(lines, name, unread) if name else lines
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
