"""PDF content besides page text: form values, notes, links, attached files."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ingest.documents import Unread
from ingest.read.formats import LINK, PROPERTY, RECORDING

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

    # The other way round these modules would import each other.
    from ingest.read.whole_files import attached_text

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
