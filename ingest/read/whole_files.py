"""The reader of each kind of file, for files and for attachments of mails and PDFs."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.docx import docx_text
from ingest.read.formats import ReadText
from ingest.read.html import html_text
from ingest.read.pdf import pdf_text
from ingest.read.pptx import pptx_text
from ingest.read.rtf import rtf_text
from ingest.read.text import decoded
from ingest.read.xlsx import xlsx_text

WHOLE_FILES: Mapping[str, Callable[[BinaryIO, str], ReadText]] = {
    ".pdf": pdf_text,
    ".docx": docx_text,
    ".xlsx": xlsx_text,
    ".xlsm": xlsx_text,
    ".pptx": pptx_text,
    ".rtf": rtf_text,
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
