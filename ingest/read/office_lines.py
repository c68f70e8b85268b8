"""The lines of a part of an office file: paragraphs and rows of tables, wherever they stand in it.

Word and the drawings of all three programs use the same names: ``p`` holds ``t``, ``tr`` holds ``tc``.
"""

from collections.abc import Iterator
from typing import Any

from ingest.documents import Unread
from ingest.read.formats import DELETED, LINK
from ingest.read.office import Package, attribute, clear, local_name

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
            unread += _left_out(element, name)
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


def _left_out(element: Any, name: str) -> list[Unread]:
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
