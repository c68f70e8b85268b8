"""From a record to its document, by the names of the fields of text, id and readers.

No message quotes a field name from the data: it may be a person's name, in a table without a header line or
in a file with patients' names as keys.
"""

import json
from collections.abc import Iterator

from ingest.documents import Document, Unread
from ingest.errors import UnreadableDocument
from ingest.language.normalize import fixed_text
from ingest.read.html import html_text
from ingest.read.known import CONVERSATIONS, conversation, path_of
from ingest.read.reading import ALL_BELOW, USUAL, Fields, below, count_values, found, may_be_absent, paths_in
from ingest.read.records import COLUMN, Record, kind_of
from ingest.read.text import ReadText, added_up, checked_text
from ingest.readers import RULE, groups_in
from models.errors import ConfigurationError

_LEFT_OUT = "only the named field of the text is read; name several as a+b"


def document_of(record: Record, source: str, fields: Fields) -> Document:
    """The document in a record.

    ``fields`` are paths (``ingest.read.reading``), and the text may have several; unless another is named,
    records of a known form (``ingest.read.known``) are read without a field of text. An empty line joins the
    texts of several paths, a line break those of one; values below a path each get a line with their name. A
    value that begins with "<div" is HTML. Without an id, the file and line name the document. Without
    readers it is an error, unless their path ends with "...": nobody must read more than was meant.

    Raises:
        UnreadableDocument: A field holds something else, or text or readers are missing.
    """
    wanted, said = fields.text, ""
    if wanted == USUAL and wanted not in record.fields:
        wanted, said = path_of(record.fields) or wanted, conversation(record.fields)
    paths = list(CONVERSATIONS) if said else paths_in(record.fields, wanted)
    read = [ReadText(said)] if said else [_text(record, path) for path in paths]
    texts = [each.text for each in read if each.text.strip()]
    if not texts and (missing := [path for path in paths if not found(record.fields, path)]):
        raise _lacking(record, missing[0])
    text = checked_text("\n\n".join(texts), record.place)
    doc_id = _id(record, fields.id) or f"{source}#{record.number}"
    asked = {*paths, fields.id, fields.readers} - {""}
    used = sum(count_values(each) for path in asked for each in found(record.fields, path))
    others = Unread(record.part, max(0, count_values(record.fields) - used), _LEFT_OUT)
    unread = added_up([*(part for each in read for part in each.unread), others])
    readers = _readers(record, fields.readers) if fields.readers else frozenset[str]()
    return Document(doc_id, text, {"source": source, "place": record.place}, unread, readers=readers)


def documents_of(
    given: Iterator[Record | UnreadableDocument], source: str, fields: Fields
) -> Iterator[Document | UnreadableDocument]:
    """The documents of records. A missing column is reported once per table, not once per row."""
    for record in given:
        if isinstance(record, UnreadableDocument):
            yield record
            continue
        try:
            yield document_of(record, source, fields)
        except UnreadableDocument as error:
            yield error
            if record.part == COLUMN and _lacks(record, fields.text):
                return


def _lacks(record: Record, text_field: str) -> bool:
    """Whether a record lacks a field that one of the paths needs."""
    paths = paths_in(record.fields, text_field)
    return any(not may_be_absent(path) and not found(record.fields, path) for path in paths)


def _lacking(record: Record, path: str) -> UnreadableDocument:
    count = len(record.fields)
    among = f"{count:,} fields" if count > 1 else "only field"
    where = f" among its {among}" if count else ""
    return UnreadableDocument(
        record.place,
        f"has no field {path!r}{where}; name that of the text with --text-field, or {ALL_BELOW} for all",
    )


def _text(record: Record, path: str) -> ReadText:
    values = found(record.fields, path)
    if not values and not may_be_absent(path):
        raise _lacking(record, path)
    whole = path.endswith(ALL_BELOW) and path not in record.fields
    texts: list[str] = []
    unread: list[Unread] = []
    for name, value in [pair for each in values for pair in (below(each) if whole else [("", each)])]:
        if value is None and may_be_absent(path):
            continue
        if not isinstance(value, str) and not whole:
            raise UnreadableDocument(record.place, _no_text(value, path))
        read = _said(value, record.place)
        texts.append(f"{name}: {read.text}" if name else read.text)
        unread += read.unread
    return ReadText("\n".join(texts), tuple(unread))


def _said(value: object, place: str) -> ReadText:
    if not isinstance(value, str):
        return ReadText(json.dumps(value))
    # FHIR keeps the text of a resource as a piece of a page.
    return html_text(value, place) if value.lstrip().startswith("<div") else ReadText(value)


def _no_text(value: object, path: str) -> str:
    remedy = "name a field that holds text"
    if isinstance(value, (dict, list)):
        remedy += f", or all that is below this one as {path}{ALL_BELOW}"
    return f"has {kind_of(value)} in field {path!r}, not text; {remedy}"


def _id(record: Record, path: str) -> str:
    value = next(iter(found(record.fields, path)), None)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise UnreadableDocument(
            record.place, f"has {kind_of(value)} in field {path!r}; an id is text or a whole number"
        )
    return " ".join(fixed_text(str(value)).split())


def _readers(record: Record, path: str) -> frozenset[str]:
    values = [value for each in found(record.fields, path) for _, value in below(each)]
    named = [str(value) for value in values if value is not None and str(value).strip()]
    if not named and not path.endswith(ALL_BELOW):
        raise UnreadableDocument(
            record.place,
            f"names no readers in field {path!r}; name them, or give {path}{ALL_BELOW} if all may read those "
            "that name none",
        )
    try:
        return groups_in(named)
    except ConfigurationError:
        raise UnreadableDocument(
            record.place, f"names readers in field {path!r} that are no groups; {RULE}"
        ) from None
