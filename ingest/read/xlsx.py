"""Excel files to text: sheet by sheet the rows, then what is written over them and beside them.

Rows are taken as they are stored: how many a sheet says it has is never asked.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from ingest.documents import Unread
from ingest.read.office import Package, attribute, clear, lines_of, local_name, office_text, text_in, texts_of
from ingest.read.text import ReadText, aside

_FORMULA = Unread("formula", 1, "has no stored value; open the file in Excel and save it again")
_NAMED_CELLS = Unread(
    "defined name", 1, "names of cells and their values are not read; write them into cells"
)
# What is printed, filtered and the like.
_OF_EXCEL = "_xlnm."
_BAR = " | "
_WIDEST_GAP = 100
_DIGITS_OF_ROW = 9
# From 1900 to 9999.
_DAYS = 2_958_466
# Longer ones are no formats: this is what Excel takes.
_LONGEST_FORMAT = 255
_MARGINS = ("oddHeader", "evenHeader", "firstHeader", "oddFooter", "evenFooter", "firstFooter")
_MARGIN_CODE = re.compile(r'&(?:"[^"]*"|\d+|K[0-9A-F]{6}|[^&])')


@dataclass(frozen=True, slots=True)
class _Book:
    strings: Sequence[str] = field(repr=False)
    formats: Sequence[str] = field(repr=False)
    counts_from_1904: bool


def xlsx_text(stream: BinaryIO, place: str) -> ReadText:
    """The text: for each sheet its name, a line per row with cells separated by bars, and its comments.

    Empty cells keep their bars, and a merged cell stands in each row that it covers.

    Hints and choices of cells follow the rows. Hidden sheets, rows and columns are read, empty rows left out.
    Dates are ISO 8601, numbers plain, formulas their stored values. Unread are formulas without one, charts,
    pictures, macros, named cells, link targets and document properties.

    Raises:
        UnreadableDocument: It is no Excel file, or would unpack to more than ``MAX_UNPACKED_BYTES``.
    """
    return office_text(stream, place, "Excel", ".xlsx", _pieces)


def _pieces(package: Package, unread: list[Unread]) -> Iterator[str]:
    main = package.main("workbook")
    targets = {each.key: each for each in package.relations[main]}
    book = _book(package, main)
    for _, element in package.elements(main, "sheet"):
        sheet = targets[attribute(element, "id")]
        if sheet.kind == "worksheet":
            hidden = element.get("state", "visible") != "visible"
            name = [f"{element.get('name', '')}\n"]
            yield from aside(name, "hidden row", unread) if hidden else name
            yield from _sheet_pieces(package, sheet.target, book, unread, hidden=hidden)
            yield "\n"
    for _, element in package.elements(main, "definedName"):
        if not element.get("name", "").startswith(_OF_EXCEL):
            unread.append(_NAMED_CELLS)


def _book(package: Package, main: str) -> _Book:
    strings = [
        text for part in package.named_by(main, "sharedStrings") for text in texts_of(package, part, "si")
    ]
    properties = (each for _, each in package.elements(main, "workbookPr"))
    counts_from_1904 = any(each.get("date1904") in ("1", "true") for each in properties)
    return _Book(strings, _formats(package, main), counts_from_1904)


def _formats(package: Package, main: str) -> list[str]:
    """The form of each style's numbers, in the order in which cells count them."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    codes = {str(number): code for number, code in BUILTIN_FORMATS.items()}
    formats = []
    for part in package.named_by(main, "styles"):
        for _, element in package.elements(part, "numFmt", "xf"):
            if local_name(element) == "numFmt":
                codes[element.get("numFmtId", "")] = element.get("formatCode", "")[:_LONGEST_FORMAT]
            elif local_name(element.getparent()) == "cellXfs":
                formats.append(_form(codes.get(element.get("numFmtId", ""), "")))
    return formats


def _form(code: str) -> str:
    """The kind of a number format: "duration", "date", "%", zeros for its width, or ""."""
    from openpyxl.styles.numbers import is_date_format, is_timedelta_format

    if is_date_format(code):
        return "duration" if is_timedelta_format(code) else "date"
    if code.endswith("%"):
        return "%"
    return "" if code.strip("0") else code


def _sheet_pieces(
    package: Package, sheet: str, book: _Book, unread: list[Unread], *, hidden: bool
) -> Iterator[str]:
    beside: list[str] = []
    merged = _merged(package, sheet)
    row: dict[int, str] = {}
    # What holds for cells below it: its column, its text, and the last row.
    reaching: dict[int, tuple[str, int]] = {}
    number, column = 1, 0
    for _, element in package.elements(sheet, "c", "row", "dataValidation", *_MARGINS):
        match local_name(element):
            case "c":
                column = _column(element.get("r", "")) or column + 1
                if text := _cell(element, book, unread):
                    row[column] = text
            case "row":
                number = int(element.get("r") or number)
                reaching = {at: (text, last) for at, (text, last) in reaching.items() if last >= number}
                line = "".join(_row_pieces({at: text for at, (text, _) in reaching.items()} | row))
                is_hidden = hidden or element.get("hidden") in ("1", "true")
                yield from aside([line], "hidden row", unread) if is_hidden else [line]
                reaching |= {at: (row[at], last) for at, last in merged.get(number, ()) if at in row}
                row, column, number = {}, 0, number + 1
            case "dataValidation":
                beside += _hints(element)
            case _:
                beside.append(_MARGIN_CODE.sub(" ", element.text or ""))
                continue
        clear(element)
    yield from (f"{' '.join(line.split())}\n" for line in beside if line.strip())
    for part in package.named_by(sheet, "comments"):
        texts = (f"{text.strip()}\n" for text in texts_of(package, part, "comment") if text.strip())
        yield from aside(texts, "comment", unread)
    for part in package.named_by(sheet, "drawing"):
        yield from lines_of(package, part, unread)


def _merged(package: Package, sheet: str) -> Mapping[int, Sequence[tuple[int, int]]]:
    """By row the columns of the cells that reach further down, each with its last row."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for _, element in package.elements(sheet, "mergeCell", "row"):
        first, _, last = element.get("ref", "").partition(":")
        if (top := _row(first)) and _row(last) > top:
            found[top].append((_column(first), _row(last)))
        clear(element)
    return found


def _row(reference: str) -> int:
    """The number of the row in a reference such as "AB12"; 0 where there is none."""
    digits = reference.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < _DIGITS_OF_ROW else 0


def _row_pieces(row: Mapping[int, str]) -> Iterator[str]:
    """The cells of a row with a bar for each column from the first one."""
    written = 0
    for column, text in sorted(row.items()):
        gap = max(1, min(column - written, _WIDEST_GAP)) if written else min(column - 1, _WIDEST_GAP)
        yield (_BAR * gap if written else (_BAR * gap).lstrip()) + text
        written = column
    yield "\n" if row else ""


def _hints(check: Any) -> Iterator[str]:
    """The hints of a cell with data validation, and its allowed values if listed."""
    yield from (check.get(name, "") for name in ("promptTitle", "prompt", "errorTitle", "error"))
    yield from (text.strip('"') for text in check.itertext() if text.startswith('"'))


def _column(reference: str) -> int:
    """The number of the column in a reference such as "AB12", from 1; 0 where there is none."""
    number = 0
    for letter in reference[:3]:
        if not "A" <= letter <= "Z":
            break
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _cell(element: Any, book: _Book, unread: list[Unread]) -> str:
    """The displayed value of the cell, in one line."""
    kind = element.get("t", "n")
    raw = next((each.text or "" for each in element if local_name(each) == "v"), "")
    if kind == "inlineStr":
        raw = text_in(element)
    elif not raw:
        if any(local_name(each) == "f" for each in element):
            unread.append(_FORMULA)
    elif kind == "s":
        raw = book.strings[int(raw)]
    elif kind == "b":
        raw = "TRUE" if raw == "1" else "FALSE"
    elif kind == "n":
        style = int(element.get("s", "0"))
        raw = _number(raw, book.formats[style] if style < len(book.formats) else "", book.counts_from_1904)
    return " ".join(raw.split())


def _number(raw: str, form: str, counts_from_1904: bool) -> str:
    number = float(raw)
    if not math.isfinite(number):
        return raw
    if form in ("date", "duration"):
        return _moment(number, form, counts_from_1904)
    if form == "%":
        return f"{100 * number:.15g}%"
    return (
        str(int(number)).zfill(len(form)) if number.is_integer() and abs(number) < 1e17 else f"{number:.15g}"
    )


def _moment(number: float, form: str, counts_from_1904: bool) -> str:
    """A date, a time of day or a length of time from a number of days; outside its years Excel has none."""
    from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

    if not 0 <= number < _DAYS:
        return f"{number:.15g}"
    epoch = MAC_EPOCH if counts_from_1904 else WINDOWS_EPOCH
    moment = from_excel(number, epoch, timedelta=form == "duration")
    return str(moment).removesuffix(" 00:00:00") if isinstance(moment, datetime) else str(moment)
