"""PDF files to text, and the reader of each kind of file, for files and for attachments of mails and PDFs."""

import io
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.html import html_text
from ingest.read.office import docx_text, pptx_text
from ingest.read.pdf_pages import (
    INSTALL,
    OCR_SECONDS,
    find_tesseract,
    image_text,
    images_of,
    page_lines,
    scan_text,
)
from ingest.read.rtf import rtf_text
from ingest.read.text import LINK, PICTURE, PROPERTY, RECORDING, ReadText, added_up, aside, decoded, joined
from ingest.read.xlsx import xlsx_text

_XFA = Unread("form", 1, "is of the kind XFA, whose values are not read; print it to a PDF")
# A widget shows the value of a form, a pop-up repeats the note that it belongs to.
_SHOWN_ELSEWHERE = ("/Widget", "/Popup")
_RECORDINGS = ("/3D", "/Movie", "/RichMedia", "/Screen", "/Sound")


@contextmanager
def counted_if_damaged(kind: str, unread: list[Unread]) -> Iterator[None]:
    """Count an error in one part of a file, so that the other parts are read."""
    try:
        yield
    except MemoryError:
        raise
    except Exception:
        unread.append(Unread(kind, 1, "is damaged; repair the file, e.g. qpdf in.pdf out.pdf"))


def form_lines(reader: Any, unread: list[Unread]) -> Iterator[str]:
    """A line for each field of a form that is filled in: its label, or else its name, and its value."""
    with counted_if_damaged("form", unread):
        form = reader.root_object.get("/AcroForm")
        if form is not None and "/XFA" in form.get_object():
            unread.append(_XFA)
        for name, held in (reader.get_fields() or {}).items():
            if value := _value(held.get("/V")):
                yield f"{held.get('/TU') or name}: {value}"


def note_lines(page: Any, files: list[Any], unread: list[Unread]) -> Iterator[str]:
    """The text of the notes on a page; files attached to it are added to ``files``."""
    with counted_if_damaged("note", unread):
        notes = page.get("/Annots")
        for note in (each.get_object() for each in (notes.get_object() if notes is not None else ())):
            kind = note.get("/Subtype")
            if kind in _RECORDINGS:
                unread.append(RECORDING)
            if kind == "/FileAttachment" and "/FS" in note:
                files.append(note["/FS"])
            action = note.get("/A")
            if action is not None and "/URI" in action.get_object():
                unread.append(LINK)
            if kind not in _SHOWN_ELSEWHERE and (text := str(note.get("/Contents", "")).strip()):
                yield text


def attached_blocks(
    reader: Any, files: list[Any], place: str, depth: int, unread: list[Unread]
) -> Iterator[str]:
    """The texts of the files that are attached to the document, and of ``files``, each as a block."""
    from pypdf.generic import EmbeddedFile

    with counted_if_damaged("attachment", unread):
        for each in (*reader.attachment_list, *(EmbeddedFile("", each) for each in files)):
            name = str(each.alternative_name or each.name)
            read = attached_text(each.content, str(each.subtype or "").strip("/"), name, place, depth + 1)
            unread += read.unread
            yield read.text


def count_properties(reader: Any, unread: list[Unread]) -> None:
    """Count the properties that a person wrote; the file's creator and software do not count."""
    with counted_if_damaged(PROPERTY.kind, unread):
        held = reader.metadata or {}
        keys = ("/Title", "/Subject", "/Keywords")
        unread += [PROPERTY for key in keys if str(held.get(key) or "").strip()]


def _value(held: Any) -> str:
    """The value of a field; empty for an unticked box or a signature."""
    if held is None:
        return ""
    held = held.get_object() if hasattr(held, "get_object") else held
    if isinstance(held, list):
        return ", ".join(filter(None, map(_value, held)))
    text = "" if isinstance(held, dict) else " ".join(str(held).split())
    return "" if text == "/Off" else text.removeprefix("/")


ATTACHED_OCR_SECONDS = 10.0
"""The same for a file that is attached to a document, which may have several."""


def pdf_text(stream: BinaryIO, place: str, depth: int = 0) -> ReadText:
    """The text: pages with their notes, separated by empty lines, then values of forms, then attachments.

    Tesseract, if installed, reads a page that shows an image and has no text. Unread are scanned pages,
    recognized or not, damaged pages, pictures, link targets, recordings and attachments of other kinds.
    ``depth`` is the number of files around this one.

    Raises:
        UnreadableDocument: The file is damaged or encrypted, or nothing in it holds text.
    """
    if b"%PDF-" not in stream.read(1024):
        raise UnreadableDocument(place, "is not a PDF; give it the extension that it needs")
    stream.seek(0)
    unread: list[Unread] = []
    try:
        with _silenced():
            reader = _opened(stream, place)
            blocks = (block.strip("\n") for block in _blocks(reader, place, depth, unread))
            text = joined((f"{block}\n\n" for block in blocks if block), place).rstrip("\n")
            pages = len(reader.pages)
    except (UnreadableDocument, MemoryError):
        raise
    except Exception as error:
        reason = f"is a damaged PDF ({type(error).__name__}); repair it, e.g. qpdf in.pdf out.pdf"
        raise UnreadableDocument(place, reason) from None
    if text.strip():
        return ReadText(text, added_up(unread))
    if any(part.kind == "page" for part in unread):
        raise UnreadableDocument(place, "is a damaged PDF; repair it, e.g. qpdf in.pdf out.pdf")
    remedy = "run OCR first, e.g. ocrmypdf" if find_tesseract() else INSTALL
    raise UnreadableDocument(place, f"has no text on its {pages} pages (scanned?); {remedy}")


def _opened(stream: BinaryIO, place: str) -> Any:
    from pypdf import PasswordType, PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(stream)
        # Many files are locked against editing only: an empty password opens them.
        opened = not reader.is_encrypted or reader.decrypt("") != PasswordType.NOT_DECRYPTED
    except (DependencyError, RuntimeError):
        opened = False
    if not opened:
        raise UnreadableDocument(place, "is encrypted; take the password off first, e.g. qpdf --decrypt")
    return reader


def _blocks(reader: Any, place: str, depth: int, unread: list[Unread]) -> Iterator[str]:
    deadline = time.monotonic() + (ATTACHED_OCR_SECONDS if depth else OCR_SECONDS)
    files: list[Any] = []
    seen: set[int] = set()
    for page in reader.pages:
        lines = []
        with counted_if_damaged("page", unread):
            lines.append(_page_text(page, deadline, seen, unread))
        lines += aside(note_lines(page, files, unread), "note", unread)
        yield "\n".join(line.strip("\n") for line in lines if line.strip())
    count_properties(reader, unread)
    yield "\n".join(form_lines(reader, unread))
    yield from attached_blocks(reader, files, place, depth, unread)


def _page_text(page: Any, deadline: float, seen: set[int], unread: list[Unread]) -> str:
    """The text of a page. Pictures beside text are counted once in a file: a letterhead is on every page."""
    text = page_lines(page)
    if not text.strip():
        read = scan_text(page, deadline)
        unread += read.unread
        return read.text
    with counted_if_damaged(PICTURE.kind, unread):
        for number in (number for number, _ in images_of(page) if number not in seen):
            seen.add(number)
            unread.append(PICTURE)
    return text


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep the library from logging or warning: its messages can quote what it reads."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


WHOLE_FILES: Mapping[str, Callable[[BinaryIO, str], ReadText]] = {
    ".pdf": pdf_text,
    ".docx": docx_text,
    ".xlsx": xlsx_text,
    ".xlsm": xlsx_text,
    ".pptx": pptx_text,
    ".rtf": rtf_text,
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff"), image_text),
}
"""By its extension, the function that reads a kind of file as a whole."""

MAX_DEPTH = 2
"""Maximum nesting depth of attached files."""

_TEXTS = frozenset(
    ".csv .eml .hl7 .ics .json .jsonl .log .md .ndjson .text .tsv .txt .vcf .xml .yaml .yml".split()
)
_OFFICE = "application/vnd.openxmlformats-officedocument"
_EXTENSIONS = {
    "application/csv": ".csv",
    "application/ics": ".ics",
    "application/json": ".json",
    "application/fhir+json": ".json",
    "application/pdf": ".pdf",
    "application/rtf": ".rtf",
    "application/vnd.ms-excel.sheet.macroenabled.12": ".xlsm",
    "application/x-pdf": ".pdf",
    "application/xhtml+xml": ".html",
    "application/xml": ".xml",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    "message/rfc822": ".eml",
    "text/html": ".html",
    "text/richtext": ".rtf",
    "text/rtf": ".rtf",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/tiff": ".tif",
}


def attached_text(data: bytes, content_type: str, name: str, place: str, depth: int) -> ReadText:
    """An attachment as a block of text under a line with its kind; or no text, and why it was not read.

    The content type says what it is; where it says nothing of use, the extension of ``name`` does.
    ``depth`` is 1 for what is attached to a document itself.
    """
    extension = _extension(content_type, name)
    try:
        read = _read(data, extension, place, depth)
    except UnreadableDocument as error:
        return _unread(error.reason)
    if not read.text.strip():
        return ReadText("", read.unread or _unread("holds no text").unread)
    return ReadText(f"--- attachment: {extension.removeprefix('.')} ---\n{read.text}", read.unread)


def shown_text(text: str, *, html: bool, place: str) -> ReadText:
    """Text as it stands, or what a reader sees of it if it is a web page."""
    return html_text(text, place) if html else ReadText(text)


def _extension(content_type: str, name: str) -> str:
    if content_type in _EXTENSIONS:
        return _EXTENSIONS[content_type]
    extension = Path(name).suffix.lower()
    if content_type.startswith("text/") and extension not in (".rtf", ".html", ".htm"):
        return ".txt"
    return extension


def _read(data: bytes, extension: str, place: str, depth: int) -> ReadText:
    if depth > MAX_DEPTH:
        return _unread(f"is packed into more than {MAX_DEPTH} other files; name it as a file of its own")
    if extension == ".pdf":
        return pdf_text(io.BytesIO(data), place, depth)
    if extension in WHOLE_FILES:
        return WHOLE_FILES[extension](io.BytesIO(data), place)
    if extension in _TEXTS or extension in (".html", ".htm"):
        return shown_text(decoded(data, place), html=extension in (".html", ".htm"), place=place)
    return _unread("is of a kind that is not read")


def _unread(reason: str) -> ReadText:
    return ReadText("", (Unread("attachment", 1, reason),))
