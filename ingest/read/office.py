"""Shared reading of Word, Excel and PowerPoint files: zip archives of parts that reference each other.

The markup is read directly, part by part. Libraries for these programs keep every element as an object, and
miss text in unusual places.
"""

import posixpath
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.formats import EMBEDDED, LINK, PICTURE, PROPERTY, RECORDING, ReadText, added_up, joined

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
            yield from etree.iterparse(
                opened,
                events=("start", "end") if start else ("end",),
                tag=[f"{{*}}{tag}" for tag in tags],
                resolve_entities=False,
                no_network=True,
                remove_comments=True,
                remove_pis=True,
            )


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
