"""Web pages to the text that a reader of them sees, line by line."""

import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ingest.errors import UnreadableDocument

if TYPE_CHECKING:
    from bs4 import Tag

_UNSEEN = frozenset({"script", "style", "template"})
_CELLS = frozenset({"td", "th"})
_PARTS = frozenset(
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol option p pre section summary"
    " table tbody tfoot thead title tr ul".split()
)
_CELL_END = " | "


def html_text(markup: str, place: str) -> str:
    """The text of ``markup``: a line for each block and each row of a table, whose cells are parted by bars.

    Scripts, styles and comments are left out. ``UnreadableDocument`` if the parser gives up.
    """
    from bs4 import BeautifulSoup

    try:
        with warnings.catch_warnings():
            # It warns of markup that looks like something else, which is no reason not to read it.
            warnings.simplefilter("ignore")
            soup = BeautifulSoup(markup, "html.parser")
        joined = "".join(_pieces(soup))
    except Exception as error:
        reason = f"its HTML could not be parsed ({type(error).__name__}); save the page again"
        raise UnreadableDocument(place, reason) from None
    tidied = (re.sub(r" {2,}", " ", line).strip(" ").removesuffix(" |") for line in joined.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(tidied)).strip("\n")


def _pieces(soup: "Tag") -> Iterator[str]:
    """Text and breaks in reading order; a stack, because markup may be nested deeper than calls."""
    from bs4.element import NavigableString, PreformattedString, Tag

    stack: list[tuple[object, bool, bool]] = [(soup, False, False)]
    while stack:
        node, in_row, kept = stack.pop()
        if isinstance(node, str) and not isinstance(node, NavigableString):
            yield node
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
            yield str(node) if kept else re.sub(r"\s+", " ", node)
        elif isinstance(node, Tag) and node.name not in _UNSEEN:
            kept = (kept or node.name in ("pre", "textarea")) and not in_row
            inner = _is_row(node) or (in_row and node.name != "table")
            before, after = _breaks(node, in_row)
            stack.append((after, False, False))
            stack += [(child, inner, kept) for child in reversed(node.contents)]
            stack.append((before, False, False))


def _breaks(node: "Tag", in_row: bool) -> tuple[str, str]:
    if node.name in _CELLS:
        return ("", _CELL_END) if in_row else ("\n", "\n")
    if node.name == "br":
        return "", " " if in_row else "\n"
    if node.name not in _PARTS:
        return "", ""
    return (" ", " ") if in_row and node.name != "table" else ("\n", "\n")


def _is_row(node: "Tag") -> bool:
    """Whether this is a row of data; mail lays out its pages with rows of one cell and tables in tables."""
    if node.name != "tr":
        return False
    cells = sum(getattr(child, "name", None) in _CELLS for child in node.contents)
    return cells > 1 and node.find("table") is None
