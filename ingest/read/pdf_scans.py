"""Pages of a PDF that are images of text."""

import io
import re
import time
from collections.abc import Iterator
from typing import Any

from ingest.documents import Unread
from ingest.read.formats import ReadText
from ingest.read.ocr import find_tesseract, recognized

INSTALL = "install tesseract, e.g. apt-get install tesseract-ocr, or run OCR first, e.g. ocrmypdf"

_SCAN = "scanned page"
_UNKNOWN = Unread(_SCAN, 1, f"has no text; {INSTALL}")
_READ = Unread(_SCAN, 1, "was recognized by tesseract, which makes mistakes")
_LATE = Unread(_SCAN, 1, "was not recognized in time; run OCR first, e.g. ocrmypdf")
_FAILED = Unread(_SCAN, 1, "could not be recognized; run OCR first, e.g. ocrmypdf")
_DRAWN = Unread(
    "drawn page", 1, "shows drawings and no text; if these are letters, run OCR first, e.g. ocrmypdf"
)
# The operators that paint what was outlined.
_PAINTED = re.compile(rb"(?:^|\s)(?:[fFBbSs]|[fBb]\*|sh)(?:\s|$)")
_WORDLESS = Unread(_SCAN, 1, "shows no text that tesseract recognizes")


def scan_text(page: Any, deadline: float) -> ReadText:
    """The OCR text of a page without text, until ``deadline`` on the monotonic clock.

    A page on which nothing is drawn is blank: no text, and nothing unread.
    """
    images = [image for _, image in images_of(page)]
    if not images:
        return ReadText("", _drawn(page))
    program = find_tesseract()
    if program is None:
        return ReadText("", (_UNKNOWN,))
    texts: list[str] = []
    for image in images:
        left = deadline - time.monotonic()
        if left <= 0:
            return ReadText("\n".join(texts), (_LATE,))
        picture = _picture(image, page.rotation)
        text = None if picture is None else recognized(picture, program, left)
        if text is None:
            return ReadText("\n".join(texts), (_FAILED if time.monotonic() < deadline else _LATE,))
        texts.append(text.strip("\n\f"))
    text = "\n".join(texts)
    return ReadText(text, (_READ if text.strip() else _WORDLESS,))


def _drawn(page: Any) -> tuple[Unread, ...]:
    # Images within the page's own drawing are rare, and cannot be taken out of it safely.
    if len(page.images):
        return (_FAILED,)
    drawing = page.get_contents()
    return (_DRAWN,) if drawing is not None and _PAINTED.search(drawing.get_data()) else ()


def images_of(page: Any) -> Iterator[tuple[int, Any]]:
    """The images that a page refers to, each once, with the numbers of their objects."""
    stack, seen = [page], set()
    while stack:
        resources = stack.pop().get("/Resources")
        named = resources.get_object().get("/XObject") if resources is not None else None
        for reference in named.get_object().values() if named is not None else ():
            found = reference.get_object()
            number = getattr(found.indirect_reference, "idnum", id(found))
            if number in seen:
                continue
            seen.add(number)
            if found.get("/Subtype") == "/Image":
                yield number, found
            else:
                stack.append(found)


def _picture(image: Any, rotation: int) -> bytes | None:
    """The image as PNG, upright; None if it cannot be decoded in memory."""
    # The library would give such images to another program, through a file.
    if any("JBIG2" in str(each.get("/Filter")) for each in (image, *_masks(image))):
        return None
    try:
        decoded = image.decode_as_image()
        out = io.BytesIO()
        decoded.convert("L").rotate(-rotation, expand=True).save(out, "PNG", compress_level=1)
    except MemoryError:
        raise
    except Exception:
        return None
    return out.getvalue()


def _masks(image: Any) -> list[Any]:
    masks = (image.get(key) for key in ("/SMask", "/Mask"))
    return [mask.get_object() for mask in masks if hasattr(mask, "get_object")]
