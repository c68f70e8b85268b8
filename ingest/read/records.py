"""Files of many records: CSV, JSON and JSON lines, read one record at a time.

A record that cannot be read yields an error with its position; reading goes on with the next one.
"""

import csv
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from ingest.errors import UnreadableDocument
from ingest.read.known import conversation, listed_in
from ingest.read.reading import begins_in, paths_in
from ingest.read.text import MAX_CHARACTERS, Line, contents, decoded, lines, open_file

SEPARATORS = (",", ";", "\t", "|")


def separator_of(first_lines: Sequence[str]) -> str:
    """The column separator, by the first lines of a table, the header among them; a comma if unsure.

    Only separators that split the header outside quotes count. Those that split all lines into equally many
    columns are preferred; of the rest, the most frequent in the header is taken.
    """
    if not first_lines:
        return SEPARATORS[0]
    named = re.sub(r'"[^"]*"', "", first_lines[0])
    parting = [each for each in SEPARATORS if each in named]
    even = [each for each in parting if _parts_evenly(first_lines, each)]
    return max(even or parting or SEPARATORS[:1], key=named.count)


def _parts_evenly(lines: Sequence[str], separator: str) -> bool:
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return False
    # A quoted field may go on behind the lines that are looked at, so the last row is left aside.
    return len({len(row) for row in rows[:-1] or rows}) == 1


COLUMN = "column"
"""The part of a record of a table."""
# As a spreadsheet writes it for others of its kind.
_NAMED_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)
_SNIFFED_LINES = 10
_SNIFFED_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class Record:
    """One record and where it stands: its line, or in a JSON file its number, both counted from 1.

    ``part`` is what its format calls a part of it: a field or a column.
    """

    number: int
    place: str
    fields: dict[str, object] = field(repr=False)
    part: str = "field"


def read_records(path: str, text_field: str = "text") -> Iterator[tuple[int, dict[str, object]]]:
    """The records of one file with their numbers, not normalized.

    ``text_field`` only tells a JSON file with one record from one with a list of them.

    Raises:
        UnreadableDocument: A record cannot be read; those before it were yielded.
        OSError: The file cannot be read.
    """
    with open_file(Path(path)) as file:
        opened = gzip.GzipFile(fileobj=file) if path.lower().endswith(".gz") else file
        for record in records(cast(BinaryIO, opened), path, record_format(path), text_field):
            if isinstance(record, UnreadableDocument):
                raise record
            yield record.number, record.fields


def record_format(path: str) -> str:
    """The extension that says how records are written, ``.gz`` left aside: ``.csv``, ``.jsonl``, ..."""
    return Path(path.lower().removesuffix(".gz")).suffix


def records(
    stream: BinaryIO, place: str, kind: str, text_field: str
) -> Iterator[Record | UnreadableDocument]:
    """The records of an open file of the given extension, streamed unless it is ``.json``."""
    match kind:
        case ".csv":
            delimiter, source = _sniffed(lines(stream))
            return delimited(source, place, delimiter)
        case ".tsv":
            return delimited(lines(stream), place, "\t")
        case ".json":
            return _json_file(stream, place, text_field)
        case ".jsonl" | ".ndjson":
            return json_lines(lines(stream), place)
    return iter([UnreadableDocument(place, "holds no records; name a csv, tsv, json or jsonl file")])


def json_lines(source: Iterator[Line], place: str) -> Iterator[Record | UnreadableDocument]:
    """One JSON object a line; blank lines are passed over."""
    first = True
    for line in source:
        here = f"{place}, line {line.number:,}"
        if line.problem:
            yield UnreadableDocument(here, line.problem)
        elif stripped := line.text.strip():
            if first and stripped in ("{", "["):
                yield UnreadableDocument(
                    here, "starts a JSON text of several lines; name the file .json, or write a record a line"
                )
                return
            value = _json(stripped, here)
            yield value if isinstance(value, UnreadableDocument) else _record(value, here, line.number)
        first = first and not line.text.strip()


def _json(text: str, place: str) -> object:
    # The parser's own errors carry the text, so they end here.
    try:
        value: object = json.loads(text, object_pairs_hook=_named_once)
    except _NamedTwiceError:
        return UnreadableDocument(place, "names a field twice in one record; give each field its own name")
    except json.JSONDecodeError as error:
        where = f"column {error.colno:,}" if error.lineno == 1 else f"line {error.lineno:,}"
        return UnreadableDocument(place, f"is broken JSON at {where}; correct it or leave it out")
    except (ValueError, RecursionError):
        return UnreadableDocument(place, "is JSON with a number too long or nesting too deep; simplify it")
    return value


class _NamedTwiceError(Exception):
    """An object of JSON has two values of one name: a reader would keep the last alone."""


def _named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    named = dict(pairs)
    if len(named) < len(pairs):
        raise _NamedTwiceError
    return named


def _record(value: object, place: str, number: int) -> Record | UnreadableDocument:
    if isinstance(value, dict):
        return Record(number, place, value)
    return UnreadableDocument(place, f"is {kind_of(value)}, not a record; write {{...}} with named fields")


def _json_file(stream: BinaryIO, place: str, text_field: str) -> Iterator[Record | UnreadableDocument]:
    value = _json(decoded(contents(stream, place), place), place)
    if isinstance(value, UnreadableDocument):
        yield value
    elif isinstance(listed := _listed(value, text_field), list):
        for number, item in enumerate(listed, 1):
            yield _record(item, f"{place}, record {number:,}", number)
    else:
        yield _record(value, place, 1)


def _listed(value: object, text_field: str) -> object:
    """The list of records in a JSON value, or the value if it is itself a record."""
    if not isinstance(value, dict) or any(begins_in(value, path) for path in paths_in(value, text_field)):
        return value
    if (entries := listed_in(value)) is not None:
        return entries
    if conversation(value):
        return value
    lists = [item for item in value.values() if isinstance(item, list) and item and isinstance(item[0], dict)]
    return lists[0] if len(lists) == 1 else value


def _sniffed(source: Iterator[Line]) -> tuple[str, Iterator[Line]]:
    """The separator of a table, and all its lines."""
    head: list[Line] = []
    size = 0
    first = next(source, None)
    if first and (named := _NAMED_SEPARATOR.fullmatch(first.text)):
        # An empty line in its place keeps the numbers of those behind it.
        return named[1], chain([replace(first, text="")], source)
    source = chain([first] if first else [], source)
    while len(head) < _SNIFFED_LINES and size < _SNIFFED_CHARACTERS and (line := next(source, None)):
        head.append(line)
        size += len(line.text)
    return separator_of([line.text for line in head if line.text.strip()]), chain(head, source)


def delimited(source: Iterator[Line], place: str, delimiter: str) -> Iterator[Record | UnreadableDocument]:
    """Records of a file whose first line names the columns; a quoted field may hold line ends.

    A title above that line is left out.
    """
    header: list[str] = []
    for number, row in _without_title(_rows(source, delimiter)):
        here = f"{place}, line {number:,}"
        if isinstance(row, str):
            yield UnreadableDocument(here, row)
            if not header:
                return
        elif header:
            yield _row_record(row, header, here, number)
        elif len(set(row)) < len(row):
            yield UnreadableDocument(here, "names a column twice; give each column its own name")
            return
        else:
            header = row


def _without_title(rows: Iterator[tuple[int, list[str] | str]]) -> Iterator[tuple[int, list[str] | str]]:
    """The rows but for the first ones in which one cell of several is filled: these name no columns."""
    titles = True
    for number, row in rows:
        titles = (
            titles and isinstance(row, list) and len(row) > 1 and sum(map(bool, map(str.strip, row))) <= 1
        )
        if not titles:
            yield number, row


def _rows(source: Iterator[Line], delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """Rows, or what is wrong with them, with the line where they start; empty lines are passed over."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CHARACTERS + 1))
    problems: list[str] = []
    rows = csv.reader(_noting(source, problems), delimiter=delimiter, strict=True)
    while True:
        number = rows.line_num + 1
        try:
            row: list[str] | str = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            row = "has a quote never closed, or text behind a closed one; double the quotes within fields"
            if "new-line" in str(error):
                row = (
                    "has carriage returns that end no line; save it with line feeds, as tables for Unix have"
                )
        if problems:
            row = problems[0]
            problems.clear()
        if row:
            yield number, row


def _row_record(row: list[str], header: list[str], place: str, number: int) -> Record | UnreadableDocument:
    if len(row) != len(header):
        return UnreadableDocument(
            place,
            f"has {len(row)} fields where the first line names {len(header)}; quote what holds separators",
        )
    return Record(number, place, dict(zip(header, row, strict=True)), COLUMN)


def _noting(source: Iterator[Line], problems: list[str]) -> Iterator[str]:
    for line in source:
        if line.problem:
            problems.append(line.problem)
        yield line.text or "\n"


def kind_of(value: object) -> str:
    """The JSON type of a value, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "an object"
    return "a text"
