"""Hand-annotated entities of records, by document id."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.paths import canonical, os_problem, shown
from ingest.read.reading import Fields
from ingest.read.record_text import document_of
from ingest.read.records import Record, read_records, record_format
from ingest.read.sources import STDIN
from models.errors import ConfigurationError

GoldRows = Mapping[str, Sequence[Mapping[str, object]]]
"""Annotated entities by document id, as read."""


def gold_rows(paths: Sequence[str], field_name: str, fields: Fields) -> GoldRows:
    """The annotated entities of each record, by the ids that ``read_documents`` gives.

    A record that makes no document is skipped.

    Raises:
        ConfigurationError: No record has the field, or the records come from standard input.
        UnreadableDocument: A file or record cannot be read, a record lacks the field or has no list of
            entities there, has another record's id, or counts characters of a text that was changed.
    """
    rows: dict[str, Sequence[Mapping[str, object]]] = {}
    texts: dict[str, int] = {}
    unmarked: list[Record] = []
    for source, record in _records(paths, fields.text):
        try:
            document = document_of(record, source, fields)
        except UnreadableDocument:
            continue
        if field_name not in record.fields:
            unmarked.append(record)
            continue
        marked = _marked(record, field_name)
        _check_places(document, record, marked)
        if texts.setdefault(document.doc_id, hash(document.text)) != hash(document.text):
            raise UnreadableDocument(
                record.place, "has the id of an earlier record with another text; give each its own"
            )
        rows.setdefault(document.doc_id, marked)
    if unmarked:
        raise _lacking(unmarked[0], field_name, everywhere=not rows)
    return rows


def persons_in(paths: Sequence[str], field_name: str, fields: Fields) -> dict[str, str]:
    """What each record says of whom it is about, by the ids that ``read_documents`` gives; a private value.

    Raises:
        ConfigurationError: No record has the field, or the records come from standard input.
        UnreadableDocument: A file or record cannot be read.
    """
    found: dict[str, str] = {}
    for source, record in _records(paths, fields.text):
        value = record.fields.get(field_name)
        if isinstance(value, str | int) and str(value).strip():
            try:
                found[document_of(record, source, fields).doc_id] = str(value)
            except UnreadableDocument:
                continue
    if not found:
        raise ConfigurationError(
            f"No record has a word or number in a field {field_name!r}. Name the one that says whom it is "
            "about."
        )
    return found


def fields_in(paths: Sequence[str], field_name: str, fields: Fields) -> dict[str, Mapping[str, object]]:
    """What each record says of its person, by the names of attributes; private values.

    Raises:
        ConfigurationError: No record has named values in the field, or the records come from standard input.
        UnreadableDocument: A file or record cannot be read.
    """
    found: dict[str, Mapping[str, object]] = {}
    for source, record in _records(paths, fields.text):
        value = record.fields.get(field_name)
        if isinstance(value, dict) and value:
            try:
                found[document_of(record, source, fields).doc_id] = value
            except UnreadableDocument:
                continue
    if not found:
        raise ConfigurationError(
            f"No record has named values in a field {field_name!r}. Name the one that holds attributes of a "
            'person, such as {"age": 41, "occupation": "nurse"}.'
        )
    return found


def _records(paths: Sequence[str], text_field: str) -> Iterator[tuple[str, Record]]:
    """Records with the name of their file in ids."""
    for named in paths:
        if named == STDIN:
            raise ConfigurationError(
                "Marked entities cannot be taken from standard input, which is read only once: name a file."
            )
        path = Path(named)
        place, unit = shown(path), ("record" if record_format(str(path)) == ".json" else "line")
        try:
            for number, fields in read_records(str(path), text_field):
                yield canonical(path), Record(number, f"{place}, {unit} {number:,}", fields)
        except OSError as error:
            raise UnreadableDocument(place, os_problem(error)) from None


def _marked(record: Record, field_name: str) -> list[Mapping[str, object]]:
    marked = record.fields[field_name]
    if not isinstance(marked, list):
        raise UnreadableDocument(record.place, f"{field_name} is not a list of entities")
    for number, row in enumerate(marked):
        if not isinstance(row, dict):
            raise UnreadableDocument(
                record.place, f"row {number} of {field_name} is no entity; write {{...}} with named fields"
            )
    return marked


def _check_places(document: Document, record: Record, marked: Sequence[Mapping[str, object]]) -> None:
    """Refuse offsets if reading changed the text: they count characters of the text in the file."""
    by_place = any(not row.get("text") and ("start" in row or "end" in row) for row in marked)
    if by_place and not _holds(record.fields, document.text):
        raise UnreadableDocument(
            record.place,
            "its entities are given by start and end, and its text was changed on reading (line ends, "
            "invisible characters, accents, or several fields joined); give the entities as text, or "
            "clean the file first",
        )


def _holds(value: object, text: str) -> bool:
    if isinstance(value, dict):
        return any(_holds(each, text) for each in value.values())
    return value == text


def _lacking(record: Record, field_name: str, everywhere: bool) -> ConfigurationError | UnreadableDocument:
    # Field names are not shown: the first line may be data instead of a header.
    count = len(record.fields)
    among = f"among {count:,} field{'s' * (count != 1)}"
    if everywhere:
        return ConfigurationError(
            f"No record has a field {field_name!r} {among}. Name the one that holds the marked entities."
        )
    return UnreadableDocument(
        record.place,
        f"has no field {field_name!r} {among}, which other records have; write an empty list where there is "
        "nothing to mark",
    )
