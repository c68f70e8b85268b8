"""Files of many records: CSV, JSON and JSON lines, one record after the other.

A record that cannot be read is answered by an error with its place, and the next one is read.
"""

import csv
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.normalize import fixed_text
from ingest.read.text import MAX_CHARACTERS, Line, checked_text, contents, decoded, lines

_MISSING = object()
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}")


@dataclass(frozen=True, slots=True)
class Record:
    """One record and where it stands: its line, or in a JSON file its number, both counted from 1."""

    number: int
    place: str
    fields: dict[str, object] = field(repr=False)


def read_records(path: str, text_field: str = "text") -> Iterator[tuple[int, dict[str, object]]]:
    """The records of one file with their numbers, as they are written there: nothing is normalized.

    ``text_field`` only tells a JSON file that is one record from one that holds a list of them. Raises
    ``UnreadableDocument`` at the first record that cannot be read, ``OSError`` if the file cannot.
    """
    with Path(path).open("rb") as file:
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
            return delimited(lines(stream), place, ",")
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
            yield _parsed(stripped, here, line.number)
        first = first and not line.text.strip()


def _parsed(text: str, place: str, number: int) -> Record | UnreadableDocument:
    value = _json(text, place)
    return value if isinstance(value, UnreadableDocument) else _record(value, place, number)


def _json(text: str, place: str) -> object:
    # The parser's own errors carry the text, so they end here.
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"column {error.colno:,}" if error.lineno == 1 else f"line {error.lineno:,}"
        return UnreadableDocument(place, f"is broken JSON at {where}; correct it or leave it out")
    except (ValueError, RecursionError):
        return UnreadableDocument(place, "is JSON with a number too long or nesting too deep; simplify it")
    return value


def _record(value: object, place: str, number: int) -> Record | UnreadableDocument:
    if isinstance(value, dict):
        return Record(number, place, value)
    return UnreadableDocument(place, f"is {_kind(value)}, not a record; write {{...}} with named fields")


def _json_file(stream: BinaryIO, place: str, text_field: str) -> Iterator[Record | UnreadableDocument]:
    value = _json(decoded(contents(stream, place), place), place)
    if isinstance(value, UnreadableDocument):
        yield value
    elif isinstance(found := _listed(value, text_field), list):
        for number, item in enumerate(found, 1):
            yield _record(item, f"{place}, record {number:,}", number)
    else:
        yield _record(value, place, 1)


def _listed(value: object, text_field: str) -> object:
    """The list of records in a JSON value, or the value if it is itself a record."""
    if not isinstance(value, dict) or any(
        _found(value, n) is not _MISSING for n in _names(value, text_field)
    ):
        return value
    lists = [item for item in value.values() if isinstance(item, list) and item and isinstance(item[0], dict)]
    return lists[0] if len(lists) == 1 else value


def delimited(source: Iterator[Line], place: str, delimiter: str) -> Iterator[Record | UnreadableDocument]:
    """Records of a file whose first line names the columns; a quoted field may hold line ends."""
    header: list[str] = []
    for number, row in _rows(source, delimiter):
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
        except csv.Error:
            row = "has a quote never closed, or text behind a closed one; double the quotes within fields"
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
    return Record(number, place, dict(zip(header, row, strict=True)))


def _noting(source: Iterator[Line], problems: list[str]) -> Iterator[str]:
    for line in source:
        if line.problem:
            problems.append(line.problem)
        yield line.text or "\n"


def document_of(record: Record, source: str, text_field: str, id_field: str) -> Document:
    """The document in a record, or ``UnreadableDocument``.

    ``text_field`` may name a field within another ("a.b") and several to be joined by an empty line
    ("a+b"). Without an id the document is called after its file and its line.
    """
    texts = [_text(record, name) for name in _names(record.fields, text_field)]
    text = checked_text("\n\n".join(text for text in texts if text.strip()), record.place)
    doc_id = _id(record, id_field) or f"{source}#{record.number}"
    return Document(doc_id, text, {"source": source, "place": record.place})


def _id(record: Record, name: str) -> str:
    value = _found(record.fields, name)
    if value is _MISSING or value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise UnreadableDocument(
            record.place, f"has {_kind(value)} in field {name!r}; an id is text or a whole number"
        )
    return " ".join(fixed_text(str(value)).split())


def lacks(record: Record, text_field: str) -> str:
    """The first of the text fields that a record does not have, or nothing."""
    names = _names(record.fields, text_field)
    return next((name for name in names if _found(record.fields, name) is _MISSING), "")


def _names(fields: dict[str, object], text_field: str) -> list[str]:
    return [text_field] if text_field in fields else text_field.split("+")


def _text(record: Record, name: str) -> str:
    value = _found(record.fields, name)
    if value is _MISSING:
        raise UnreadableDocument(
            record.place, f"has no field {name!r}; {_there(record.fields)}; name the one that holds the text"
        )
    if not isinstance(value, str):
        raise UnreadableDocument(
            record.place, f"has {_kind(value)} in field {name!r}, not text; name a field that holds text"
        )
    return value


def _found(fields: dict[str, object], name: str) -> object:
    if name in fields:
        return fields[name]
    value: object = fields
    for step in name.split("."):
        if not isinstance(value, dict) or step not in value:
            return _MISSING
        value = value[step]
    return value


def _there(fields: dict[str, object]) -> str:
    """The names of fields, unless one could be data: a first line may be no header at all."""
    if fields and all(map(_PLAIN_NAME.fullmatch, fields)):
        return f"it has {', '.join(list(fields)[:20])}" + (" and more" if len(fields) > 20 else "")
    return f"the names of its {len(fields)} fields are not shown, because they could be data"


def _kind(value: object) -> str:
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
