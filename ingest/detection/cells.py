"""Values that stand under a name: in JSON, in key=value pairs, in lines of a form, in columns of a table."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ingest.documents import Span
from ingest.language.json_text import json_values

IsName = Callable[[str], bool]
"""Whether words are what a field is usually called."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A name and its value, if it has one. Cells with the same ``group`` and ``path`` are of one field."""

    group: str
    path: tuple[str, ...] = field(repr=False)
    name: Span
    value: Span | None


_PAIR = re.compile(
    r"(?<![\w.-])(?P<name>[A-Za-z_][\w.-]{0,40})="
    r"(?:\"(?P<quoted>[^\"\n$({]{1,80})\"|(?P<bare>[^\s\"'&;,|$({<\[]{1,80}+)(?![({]))"
)
_KEY = r"[^\W\d_][\w.'’/()#-]{0,30}+(?:[ \t][\w.'’/()#-]{1,30}+){0,4}"
_LINE = re.compile(
    rf"(?:^[ \t>*•-]{{0,8}}|[;|,(][ \t]{{0,8}}|[ \t]{{2,8}})(?P<name>{_KEY})[ \t]{{0,4}}[:=](?=[ \t]|$)", re.M
)
_ENDS = re.compile(r"[ \t]{2}|[;|)]|$", re.M)
_NAME = re.compile(r"[^\W\d_][\w .'’/()#&-]{0,40}")
_SEPARATORS = ("\t", "|", ";", ",")
_HL7 = re.compile(r"[A-Z][A-Z0-9]{2}\|")
_RULE = re.compile(r"[\s|:+=-]*")
_LONGEST = 200
_FEWEST = {"\t": 2, "|": 2, ";": 2, ",": 3}
"""Columns from which lines with a separator may be a table."""


def cells_of(text: str, is_name: IsName) -> list[Cell]:
    """The cells of a text, in order of their values, empty ones of their names; none overlaps another."""
    found = [Cell("json", each.names, each.name, each.span) for each in json_values(text) if each.name]
    found += [*_in_tables(text, is_name), *_in_pairs(text), *_in_lines(text)]
    found.sort(key=lambda cell: (cell.value or cell.name, -len(cell.path)))
    kept: list[Cell] = []
    end = 0
    for cell in found:
        place = cell.value or cell.name
        if end <= place.start:
            kept.append(cell)
            end = place.end
    return kept


def _in_pairs(text: str) -> Iterator[Cell]:
    for match in _PAIR.finditer(text) if "=" in text else ():
        group = "quoted" if match["quoted"] else "bare"
        yield Cell("pairs", (match["name"],), Span(*match.span("name")), Span(*match.span(group)))


def _in_lines(text: str) -> Iterator[Cell]:
    """Town: Ashdale. A value ends where the next name begins, at a bar, a semicolon or a wide gap."""
    names = list(_LINE.finditer(text))
    for number, match in enumerate(names):
        line_end = text.find("\n", match.end())
        end = min(
            line_end if line_end >= 0 else len(text),
            names[number + 1].start() if number + 1 < len(names) else len(text),
        )
        start = match.end() + len(text[match.end() : end]) - len(text[match.end() : end].lstrip())
        stop = _ENDS.search(text, start, end)
        span = _trimmed(text, start, min(end, stop.start()) if stop else end)
        short = span if span and len(span) <= _LONGEST else None
        yield Cell("lines", (match["name"],), Span(*match.span("name")), short)


def _in_tables(text: str, is_name: IsName) -> Iterator[Cell]:
    at = 0
    lines: list[tuple[int, str]] = []
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1
    for separator, block in groupby(lines, lambda each: _separator(each[1])):
        if separator:
            rows = [_split(start, line, separator) for start, line in block if not _RULE.fullmatch(line)]
            yield from _of_table(text, rows, separator, is_name)


def _separator(line: str) -> str:
    """What parts a line into columns, "" if nothing does."""
    if len(line) > 20_000 or _HL7.match(line) or line.lstrip().startswith(("{", "[")):
        return ""
    return next((each for each in _SEPARATORS if line.count(each) + 1 >= _FEWEST[each]), "")


def _split(start: int, line: str, separator: str) -> list[Span | None]:
    """The places of the cells of a line, None for an empty one; a quoted cell may hold separators."""
    sign = re.escape(separator)
    cells: list[Span | None] = []
    at = 0
    for match in re.finditer(rf'[ ]*"(?P<quoted>(?:[^"]|"")*)"[ ]*(?={sign}|$)|[^{sign}]*', line):
        if match.start() < at:
            continue
        first, last = match.span("quoted") if match["quoted"] is not None else match.span()
        cells.append(_trimmed(line, first, last))
        at = match.end() + 1
    if separator == "|" and cells and cells[0] is None and line.strip()[:1] == line.strip()[-1:] == "|":
        cells = cells[1:]
    return [Span(start + each.start, start + each.end) if each else None for each in cells]


def _of_table(
    text: str, rows: Sequence[Sequence[Span | None]], separator: str, is_name: IsName
) -> Iterator[Cell]:
    """The cells under the names in a table's first rows; without these, pairs of a name and a value."""

    def said(span: Span) -> str:
        return text[span.start : span.end]

    head: list[list[Span]] = []
    body = 0
    for number, row in enumerate(rows[:6]):
        names = [span for span in row if span]
        known = [span for span in names if _NAME.fullmatch(said(span)) and is_name(said(span))]
        enough = len(known) >= len(names) / 2 if head else len(known) > max(1, len(names) / 2)
        if enough and known and all(map(_NAME.fullmatch, map(said, names))):
            wide = [*row, *[None] * (len(head) - len(row))]
            above = [list(_over(head, place)) for place in range(len(wide))]
            head = [[*names, *([span] if span else [])] for names, span in zip(above, wide, strict=True)]
            body = number + 1
        elif head or (len(names) > 1 and number):
            break
    if body == len(rows) or not head:
        yield from _labels_in_rows(text, rows, is_name)
        return
    even = separator in "\t|" or all(len(row) == len(head) for row in rows[body:])
    group = f"table {head[0][0].start if head[0] else 0}"
    for row in [[None] * len(head), *(rows[body:] if even else ())]:
        for names, span in zip(head, row, strict=False):
            if names:
                yield Cell(group, tuple(map(said, names)), names[-1], span)


def _over(head: Sequence[Sequence[Span]], place: int) -> Sequence[Span]:
    """The names over a column; where a cell was merged with those beside it they stand to the left."""
    return next((names for names in reversed(head[: place + 1]) if names), ())


def _labels_in_rows(text: str, rows: Sequence[Sequence[Span | None]], is_name: IsName) -> Iterator[Cell]:
    """Surname | Oster | Town | Ashdale."""
    for row in rows:
        cells = [span for span in row if span]
        names, values = cells[::2], cells[1::2]
        said = [text[each.start : each.end] for each in names]
        if len(names) == len(values) and all(_NAME.fullmatch(each) and is_name(each) for each in said):
            for name, value in zip(names, values, strict=True):
                yield Cell("labels", (text[name.start : name.end],), name, value)


def _trimmed(text: str, first: int, last: int) -> Span | None:
    while first < last and text[first] in ' \t"':
        first += 1
    while first < last and text[last - 1] in ' \t",;':
        last -= 1
    return Span(first, last) if first < last else None
