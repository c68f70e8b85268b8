"""PDF files to text: their pages with the notes on them, their forms, and what is attached to them."""

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.formats import PICTURE, ReadText, added_up, joined
from ingest.read.ocr import find_tesseract
from ingest.read.pdf_extras import (
    attached_blocks,
    count_properties,
    counted_if_damaged,
    form_lines,
    note_lines,
)
from ingest.read.pdf_lines import page_lines
from ingest.read.pdf_scans import INSTALL, images_of, scan_text

OCR_SECONDS = 40.0
"""Time limit per file, after which further scanned pages are skipped."""
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
        lines += note_lines(page, files, unread)
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
