"""Web pages to the text that a reader of them sees, line by line."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum

from ingest.documents import Unread
from ingest.errors import UnreadableDocument
from ingest.read.text import ReadText

MAX_DEPTH = 2_000
"""Maximum nesting depth in a page with more than this many end tags."""

_PARTS = frozenset(
    "address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol option p pre section summary"
    " table tbody tfoot thead title tr ul".split()
)
# Within a line, but a reader sees where they begin and end.
_APART = frozenset(
    "audio button canvas datalist desc embed foreignobject iframe img input label legend meter noembed"
    " noframes noscript object optgroup output progress rp rt select svg text textarea video".split()
)
_KEPT = frozenset({"pre", "textarea", "listing", "xmp", "plaintext"})
_SAID = ("alt", "title", "aria-label", "placeholder", "label", "summary")
"""Attributes that a reader sees or hears."""
_META = frozenset({"description", "keywords", "author"})
_UNSEEN = {
    "script": "script",
    "style": "",
    "template": "template",
    "iframe": "embedded page",
    "noembed": "embedded page",
    "noframes": "embedded page",
}
"""Elements without text of the page itself, and their names in reports."""
_EMBEDDED = frozenset({"iframe", "frame", "embed", "object", "applet"})
_REASONS = {
    "comment": "no browser shows it; save what it says as text of the page",
    "script": "programs are not run; save the page as it shows, e.g. as text or PDF",
    "template": "no browser shows it; save what it says as text of the page",
    "embedded page": "pages in pages are not fetched; save them on their own",
    "embedded picture": "only its description is read; save the picture on its own",
    "hidden field": "no browser shows its value; save it as text of the page",
    "end of the page": "the page breaks off within a tag, a comment or a script; save it again",
}
_PIECE_BYTES = 1 << 16
# Stands behind the page: where it does not come back as an element, the page broke off before.
_END = "lethe-end-of-page"


def html_text(markup: str, place: str) -> ReadText:
    """The text of ``markup``: a line per block and per table row, cells separated by bars.

    It includes descriptions of pictures, hints and values of form fields, and the page's own description.
    Unread are comments, scripts, templates, hidden fields and embedded pages. Time is linear in the markup.

    Raises:
        UnreadableDocument: The page is nested too deep.
    """
    from lxml import etree

    page = _Page(markup.count("</"))
    parser = etree.HTMLParser(target=page, encoding="utf-8", huge_tree=True)
    try:
        data = f"{markup}<{_END}>".encode("utf-8", "replace")
        # The parser hears of an error between two pieces only.
        for start in range(0, len(data), _PIECE_BYTES):
            parser.feed(data[start : start + _PIECE_BYTES])
        parser.close()
    except (_TooDeepError, etree.LxmlError) as error:
        reason = f"its HTML could not be parsed ({_parse_problem(error)}); save the page again"
        raise UnreadableDocument(place, reason) from None
    problems = {each.type_name for each in parser.error_log}
    if "ERR_NO_MEMORY" in problems:
        raise MemoryError
    if "ERR_RESOURCE_LIMIT" in problems:
        raise UnreadableDocument(place, "its HTML could not be parsed to its end; split the page")
    return ReadText(page.text(), page.unread())


class _TooDeepError(Exception):
    """Elements are nested too deep to be read in linear time."""


def _parse_problem(error: Exception) -> str:
    too_deep = isinstance(error, _TooDeepError)
    return f"more than {MAX_DEPTH:,} elements in each other" if too_deep else type(error).__name__


class _Mark(Enum):
    """A break, and what it is written as between lines and within a row of a table."""

    LINE = ("\n", " ")
    CELL_START = ("\n", "")
    CELL_END = ("\n", " | ")


class _Edge(Enum):
    """The edge of an inline element, visible to a reader or not."""

    APART = True
    RUNS_ON = False

    def parts(self, before: str, after: str) -> bool:
        """Whether a blank belongs between two characters that meet here.

        Elements that run on may cut a word, as in "<b>A</b>nna"; a page also sets names beside each other.
        """
        if self is _Edge.APART:
            return bool(re.fullmatch(r"\w\w", before + after))
        return before.islower() and after.isupper()


def _joined(pieces: Iterable["str | _Mark | _Edge"], *, in_row: bool) -> str:
    """The pieces as one text, with a blank where what stands at an edge would seem one word."""
    held = [""]
    edges: set[_Edge] = set()
    for piece in pieces:
        if isinstance(piece, _Edge):
            edges.add(piece)
        elif words := piece if isinstance(piece, str) else piece.value[in_row]:
            if any(edge.parts(held[-1][-1:], words[0]) for edge in edges):
                held.append(" ")
            edges.clear()
            held.append(words)
    return "".join(held)


class _Page:
    """The parser's target: collects a page's text in reading order.

    ``closing`` is how many end tags the page has: each may be looked for through all open elements.
    """

    def __init__(self, closing: int) -> None:
        self._closing = closing
        self._pieces: list[str | _Mark | _Edge] = []
        self._left_out: Counter[str] = Counter({"end of the page": 1})
        self._unseen: list[str] = []
        self._unseen_text = False
        self._depth = self._kept = self._cells = 0
        self._row: int | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH and self._closing > MAX_DEPTH:
            raise _TooDeepError
        if tag == _END:
            del self._left_out["end of the page"]
            return
        if not self._unseen:
            self._left_out["embedded page"] += tag in _EMBEDDED
            self._begin(tag)
            self._say(tag, attributes)
        if tag in _UNSEEN:
            self._unseen.append(tag)

    def end(self, tag: str) -> None:
        self._depth -= 1
        if self._unseen:
            if tag != self._unseen[-1]:
                return
            self._unseen.pop()
            if not self._unseen:
                self._left_out[_UNSEEN[tag]] += self._unseen_text and tag != "iframe"
                self._unseen_text = False
        elif tag in ("td", "th"):
            self._pieces.append(_Mark.CELL_END)
        else:
            self._kept -= tag in _KEPT
            self._end_row(tag)
            self._pieces.append(_Mark.LINE if tag in _PARTS else self._edge(tag))

    def data(self, text: str) -> None:
        if self._unseen:
            self._unseen_text = self._unseen_text or bool(text.strip())
        else:
            self._pieces.append(text if self._kept else re.sub(r"\s+", " ", text))

    def comment(self, text: str) -> None:
        # What stands in <? ?> and <! > also comes here; it names the kind of page and its encoding.
        self._left_out["comment"] += bool(text.strip()) and not text.startswith("?")

    def close(self) -> None:
        """Required by the parser; does nothing."""

    def text(self) -> str:
        """All collected text."""
        joined = _joined(self._pieces, in_row=False)
        # A page that breaks off within a title or a text field takes the mark behind it for text.
        joined = joined.replace(f"<{_END}>", "")
        tidied = (re.sub(r" {2,}", " ", line).strip(" ").removesuffix(" |") for line in joined.split("\n"))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(tidied)).strip("\n")

    def unread(self) -> tuple[Unread, ...]:
        """The omitted parts that may contain text."""
        found = ((kind, self._left_out[kind]) for kind in _REASONS)
        return tuple(Unread(kind, count, _REASONS[kind]) for kind, count in found if count)

    def _begin(self, tag: str) -> None:
        self._kept += tag in _KEPT
        if tag in ("td", "th"):
            self._cells += 1
            self._pieces.append(_Mark.CELL_START)
        elif tag != "br":
            self._pieces.append(_Mark.LINE if tag in _PARTS else self._edge(tag))
        if tag == "tr":
            self._row, self._cells = len(self._pieces), 0
        elif tag == "table":
            # Mail lays out its pages with tables in tables: only what holds none is a row of data.
            self._row = None

    def _edge(self, tag: str) -> _Edge | str:
        if tag in _APART:
            return _Edge.APART
        # What is kept as it stands has blanks where it wants them.
        return "" if self._kept else _Edge.RUNS_ON

    def _end_row(self, tag: str) -> None:
        if tag != "tr" or self._row is None:
            return
        if self._cells > 1:
            row = self._pieces[self._row :]
            in_line = (re.sub(r"\s+", " ", piece) if isinstance(piece, str) else piece for piece in row)
            self._pieces[self._row :] = [_joined(in_line, in_row=True)]
        self._row = None

    def _say(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take over the texts among the attributes of an element."""
        said = [attributes[name] for name in _SAID if attributes.get(name, "").strip()]
        value = attributes.get("value", "")
        if tag == "input" and value.strip():
            if attributes.get("type", "").lower() in ("hidden", "password"):
                self._left_out["hidden field"] += 1
            else:
                said.append(value)
        if tag == "img" and attributes.get("src", "").startswith("data:"):
            self._left_out["embedded picture"] += 1
        if tag == "meta" and attributes.get("name", "").lower() in _META:
            self._pieces += [_Mark.LINE, re.sub(r"\s+", " ", attributes.get("content", "")), _Mark.LINE]
        if said:
            self._pieces.append(re.sub(r"\s+", " ", f" {' '.join(said)} "))
