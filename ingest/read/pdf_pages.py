"""The lines of a page of a PDF, also where it was drawn piece by piece, and the text of a scanned one."""

import io
import os
import re
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby, pairwise
from math import hypot
from statistics import median
from typing import Any, BinaryIO

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.text import ReadText

_MOST_LANGUAGES = 4


def find_tesseract() -> str | None:
    """The path of the program, or None."""
    return shutil.which("tesseract")


def recognized(png: bytes, program: str, seconds: float) -> str | None:
    """The text in an image; None if the program fails or takes longer than ``seconds``."""
    try:
        command = [program, "stdin", "stdout", *_languages(program)]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        ) as running:
            _lift_limits(running.pid)
            try:
                text, _ = running.communicate(png, timeout=seconds)
            finally:
                running.kill()
    except (OSError, subprocess.SubprocessError):
        return None
    return text.decode("utf-8", "replace") if running.returncode == 0 else None


@cache
def _languages(program: str) -> list[str]:
    """English if it is installed, and others that are; each more takes as much time again."""
    asked = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=10)
    installed = [line for line in asked.stdout.splitlines() if line.replace("_", "").isalpha()]
    ordered = sorted(set(installed) - {"osd"}, key=lambda name: (name != "eng", name))
    return ["-l", "+".join(ordered[:_MOST_LANGUAGES])] if ordered else []


def _lift_limits(pid: int) -> None:
    """Let a child use what this process may use at most, and not what it has set for itself."""
    if sys.platform == "linux":
        import resource

        for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            highest = resource.getrlimit(limit)[1]
            resource.prlimit(pid, limit, (highest, highest))


OCR_SECONDS = 40.0
"""Time limit per file, after which further scanned pages are skipped."""
INSTALL = "install tesseract, e.g. apt-get install tesseract-ocr, or run OCR first, e.g. ocrmypdf"

_SCAN = "scanned page"
_UNKNOWN = Unread(_SCAN, 1, f"has no text; {INSTALL}")
_READ = Unread(_SCAN, 1, "was recognized by tesseract, which makes mistakes", read=True)
_WORDLESS = Unread(_SCAN, 1, "shows no text that tesseract recognizes")
_LATE = Unread(_SCAN, 1, "was not recognized in time; run OCR first, e.g. ocrmypdf")
_FAILED = Unread(_SCAN, 1, "could not be recognized; run OCR first, e.g. ocrmypdf")
_DRAWN = Unread(
    "drawn page", 1, "shows drawings and no text; if these are letters, run OCR first, e.g. ocrmypdf"
)
# The operators that paint what was outlined.
_PAINTED = re.compile(rb"(?:^|\s)(?:[fFBbSs]|[fBb]\*|sh)(?:\s|$)")


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


def image_text(stream: BinaryIO, place: str) -> ReadText:
    """The text in a picture by tesseract, of every page where it has several.

    Raises:
        UnreadableDocument: It is damaged or too large, no text is found in it, or tesseract is not installed.
    """
    from PIL import Image, ImageOps, ImageSequence

    program, texts, deadline = find_tesseract(), list[str](), time.monotonic() + OCR_SECONDS
    if program is None:
        raise UnreadableDocument(place, f"is a picture; {INSTALL}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            for page in ImageSequence.Iterator(Image.open(stream)):
                out = io.BytesIO()
                ImageOps.exif_transpose(page.convert("L")).save(out, "PNG", compress_level=1)
                text = recognized(out.getvalue(), program, max(0.0, deadline - time.monotonic()))
                if text is None:
                    raise UnreadableDocument(place, "could not be recognized in time; run OCR first")
                texts.append(text.strip("\n\f"))
    except (UnreadableDocument, MemoryError):
        raise
    except Exception as error:
        reason = f"is a damaged or too large picture ({type(error).__name__}); save it again"
        raise UnreadableDocument(place, reason) from None
    whole = "\n\n".join(filter(None, texts))
    if not whole.strip():
        raise UnreadableDocument(place, f"{_WORDLESS.reason}; leave it out or type what it says")
    return ReadText(whole, (replace(_READ, count=len(texts)),))


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
    masks = (image.get(key) for key in ("/SMask", "/Mask"))
    parts = [image, *(mask.get_object() for mask in masks if hasattr(mask, "get_object"))]
    # The library would give such images to another program, through a file.
    if any("JBIG2" in str(each.get("/Filter")) for each in parts):
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


_BAR = " | "
_BLANK, _WIDE = 0.15, 1.5
"""Gaps from which there is a blank, and a new column, in heights of the letters."""
_LEVEL = 0.2
"""How far two baselines of one line may be apart, in heights of the letters."""
_FEWEST_LINES, _FEWEST_WORDS = 3, 3
"""From which columns hold running text; those of tables hold fewer words."""
_OVER = 0.6
"""How far a piece may reach back over the estimated end of the last."""
_NARROW_ONES, _BROAD_ONES = frozenset("iIjlftr.,:;'|!()[]- "), frozenset("mwMW@%")
_FEWEST_LETTERS, _FAR = 2, 1.5
_NARROW, _USUAL, _BROAD, _OF_TYPEWRITER = 0.3, 0.55, 0.85, 0.6


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text that is drawn at once: its baseline from ``x`` to ``end``, both at ``y``, and its height."""

    text: str = field(repr=False)
    x: float
    end: float
    y: float
    height: float
    parts: int = 1
    starts: tuple[float, ...] = ()
    """Where each of its letters begins, if they were drawn one by one."""


def page_lines(page: Any) -> str:
    """The text of a page. Letters drawn one by one are words, and what stands side by side is in one line.

    Bars part the columns of a table; columns of running text follow one another. All this holds for what the
    file draws one after the other: other pieces stay where the file has them.
    """
    rows: list[list[_Piece]] = []

    def visit(text: str, around: Sequence[float], own: Sequence[float], font: Any, size: float) -> None:
        said = text.strip("\n")
        if not said:
            return
        height = abs(size) * hypot(own[2], own[3]) * hypot(around[2], around[3])
        level = not (own[1] or own[2] or around[1] or around[2] or "\n" in said) and height > 0
        if not level:
            rows.extend([_Piece(line, 0, 0, 0, 0)] for line in said.split("\n"))
            return
        x, y = own[4] * around[0] + around[4], own[5] * around[3] + around[5]
        piece = _Piece(said, x, x + _width(said, font) * height, y, height)
        if rows and _is_beside(rows[-1][-1], piece):
            rows[-1][-1:] = _joined(rows[-1][-1], piece)
        elif said.strip():
            rows.append([piece])

    text: str = page.extract_text(visitor_text=visit)
    # Where nothing stands beside anything, the library knows more of blanks and breaks.
    beside = any(len(row) > 1 or row[0].parts > 1 for row in rows)
    return "\n".join(_lines(rows)) if beside else text


def _is_beside(last: _Piece, piece: _Piece) -> bool:
    """Whether a piece goes on in the line of the last one, and not over it."""
    level = abs(last.y - piece.y) <= _LEVEL * piece.height
    return level and last.height > 0 and piece.x >= last.end - _OVER * piece.height


def _joined(last: _Piece, piece: _Piece) -> list[_Piece]:
    gap = (piece.x - last.end) / piece.height
    if gap >= _WIDE and last.text.strip():
        return [last, piece]
    starts = (
        (*(last.starts or (last.x,)), piece.x)
        if len(piece.text) == 1 and last.parts == len(last.text)
        else ()
    )
    if starts:
        return [
            _Piece(last.text + piece.text, last.x, piece.end, piece.y, piece.height, last.parts + 1, starts)
        ]
    blank = " " if gap >= _BLANK and not last.text.endswith(" ") and not piece.text.startswith(" ") else ""
    return [
        _Piece(f"{last.text}{blank}{piece.text}", last.x, piece.end, piece.y, piece.height, last.parts + 1)
    ]


def _lines(rows: Sequence[Sequence[_Piece]]) -> Iterator[str]:
    for starts, block in groupby(rows, lambda row: tuple(round(piece.x) for piece in row)):
        lines = list(block)
        cells = [len(piece.text.split()) for row in lines for piece in row]
        running = len(lines) >= _FEWEST_LINES and median(cells) >= _FEWEST_WORDS
        if len(starts) > 1 and running:
            yield from (_said(row[column]) for column in range(len(starts)) for row in lines)
        else:
            yield from (_BAR.join(map(_said, row)) for row in lines)


def _said(piece: _Piece) -> str:
    """The text of a piece; in letters drawn one by one, a blank where the next is farther than usual."""
    if len(piece.starts) <= _FEWEST_LETTERS or " " in piece.text:
        return piece.text.strip()
    steps = [after - before for before, after in pairwise(piece.starts)]
    usual = median(steps)
    even = sum(abs(step - usual) < usual / 10 for step in steps) > len(steps) / 2
    gaps = (
        step >= _FAR * usual if even else step >= (_width(char, None) + _BLANK) * piece.height
        for step, char in zip(steps, piece.text, strict=False)
    )
    return piece.text[0] + "".join(
        f" {char}" if gap else char for gap, char in zip(gaps, piece.text[1:], strict=True)
    )


def _width(said: str, font: Any) -> float:
    """About how wide a text is, in heights of its letters."""
    held = font or {}
    widths = held.get("/Widths")
    if "Courier" in str(held.get("/BaseFont")):
        return _OF_TYPEWRITER * len(said)
    if widths is None or held.get("/Encoding") is None:
        return sum(
            _NARROW if char in _NARROW_ONES else _BROAD if char in _BROAD_ONES else _USUAL for char in said
        )
    first = int(held.get("/FirstChar", 0))
    known = [float(each) / 1000 for each in widths.get_object()]
    return sum(known[ord(char) - first] if 0 <= ord(char) - first < len(known) else _USUAL for char in said)
