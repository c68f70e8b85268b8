"""PDF files to the text of their pages."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ingest.errors import UnreadableDocument


def pdf_text(stream: BinaryIO, place: str) -> tuple[str, int, int]:
    """The text, the number of pages, and how many of them hold no text; pages are parted by an empty line.

    ``UnreadableDocument`` if the file is damaged or encrypted, or if no page holds text.
    """
    if b"%PDF-" not in stream.read(1024):
        raise UnreadableDocument(place, "is not a PDF; give it the extension that it needs")
    stream.seek(0)
    try:
        with _silenced():
            pages = _pages(stream, place)
    except UnreadableDocument:
        raise
    except Exception as error:
        reason = f"is a damaged PDF ({type(error).__name__}); repair it, e.g. qpdf in.pdf out.pdf"
        raise UnreadableDocument(place, reason) from None
    held = [page for page in pages if page.strip()]
    if not held:
        raise UnreadableDocument(
            place, f"has no text on its {len(pages)} pages (scanned?); run OCR first, e.g. ocrmypdf"
        )
    return "\n\n".join(held), len(pages), len(pages) - len(held)


def _pages(stream: BinaryIO, place: str) -> list[str]:
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
    return [page.extract_text() for page in reader.pages]


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
