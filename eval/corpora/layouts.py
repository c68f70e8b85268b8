"""The files of published corpora, and reading them with errors that name the place."""

import zlib
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.corpora.corpus import Corpus, GoldRows, Question, Selection, bounded
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.language.normalize import fixed_text
from ingest.read.paths import os_problem, shown
from ingest.read.records import Record, read_records, record_format
from models.errors import ConfigurationError, ModelUnavailable


@dataclass(frozen=True, slots=True)
class Layout:
    """A published corpus: fields, and file name patterns, of which the first match counts."""

    corpus: str
    fields: tuple[str, ...]
    source: str
    license: str
    files: tuple[str, ...] = ("data.jsonl", "data.jsonl.gz")


def files_in(path: Path, layout: Layout) -> list[Path]:
    """The files of a corpus in its folder, by name; the path may also be a file.

    Raises:
        ConfigurationError: There is none.
    """
    if path.is_file():
        return [path]
    for pattern in layout.files:
        if found := sorted(path.glob(pattern)):
            return found
    raise ConfigurationError(
        f"{shown(path)} holds no file of the corpus {layout.corpus}: put {' or '.join(layout.files)} there, "
        f"whose records have the fields {', '.join(layout.fields)}."
    )


SPLIT = "official_split"


def records_in(path: Path, layout: Layout, split: str | None = None) -> Iterator[Record]:
    """The records of a corpus in the order of its files, each with all fields of its layout.

    With ``split``, only those whose ``official_split`` contains this word, such as "test" in "test1".

    Raises:
        ConfigurationError: There is no file of the corpus.
        ModelUnavailable: The files are Parquet and pyarrow is not installed.
        UnreadableDocument: A file or a record cannot be read, or a record lacks a field.
    """
    needed = layout.fields if split is None else (*layout.fields, SPLIT)
    for file in files_in(path, layout):
        for record in _records(file):
            if lacking := [name for name in needed if record.fields.get(name) is None]:
                raise UnreadableDocument(
                    record.place,
                    f"has no field {lacking[0]!r}; a record of {layout.corpus} has "
                    f"{', '.join(needed)}: take the corpus as it was published",
                )
            if split is None or split in text_of(record, SPLIT):
                yield record


def text_of(record: Record, name: str) -> str:
    """The text in a field in its fixed form, stripped of white space.

    Raises:
        UnreadableDocument: The field holds no text.
    """
    return _fixed(record.fields[name], record, name)


def texts_of(record: Record, name: str) -> list[str]:
    """The texts in a list field, each as ``text_of`` gives it; errors are the same, or it holds no list."""
    values = record.fields[name]
    if not isinstance(values, list):
        raise UnreadableDocument(record.place, f"has no list in field {name!r}; write [...] of texts")
    return [_fixed(value, record, name) for value in values]


def _fixed(value: object, record: Record, name: str) -> str:
    if not isinstance(value, str):
        raise UnreadableDocument(record.place, f"holds something other than text in field {name!r}; mend it")
    return fixed_text(value).strip()


def _records(file: Path) -> Iterator[Record]:
    place = shown(file)
    try:
        if file.suffix == ".parquet":
            yield from _parquet_records(file, place)
            return
        unit = "record" if record_format(str(file)) == ".json" else "line"
        for number, fields in read_records(str(file)):
            yield Record(number, f"{place}, {unit} {number:,}", fields)
    except (EOFError, zlib.error):
        raise UnreadableDocument(place, "is damaged gzip data; fetch the corpus again") from None
    except OSError as error:
        raise UnreadableDocument(place, os_problem(error)) from None


def _parquet_records(file: Path, place: str) -> Iterator[Record]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ModelUnavailable(
            place, "is Parquet, which pyarrow reads: install pyarrow, or write the records as JSON lines."
        ) from None
    rows = (fields for batch in _batches(parquet, file, place) for fields in batch.to_pylist())
    for number, fields in enumerate(rows, 1):
        yield Record(number, f"{place}, row {number:,}", fields)


def _batches(parquet: Any, file: Path, place: str) -> Iterator[Any]:
    try:
        yield from parquet.ParquetFile(file).iter_batches()
    except OSError:
        raise
    except Exception as error:
        # The message of the library could quote the file.
        reason = f"is no Parquet that can be read ({type(error).__name__}); fetch the corpus again"
        raise UnreadableDocument(place, reason) from None


def check_known(doc_ids: Container[str], doc_id: str, record: Record) -> None:
    """Refuse a second record under one id.

    Raises:
        UnreadableDocument: ``doc_id`` is among ``doc_ids``, or is empty.
    """
    if not doc_id:
        raise UnreadableDocument(record.place, "has an empty id; give each record its own")
    if doc_id in doc_ids:
        raise UnreadableDocument(record.place, "has the id of an earlier record; give each its own")


def assembled(
    layout: Layout,
    documents: Sequence[Document],
    questions: Sequence[Question],
    selection: Selection,
    how: str,
    gold: GoldRows | None = None,
    all_documents: int | None = None,
) -> Corpus:
    """The corpus with the selected number of documents and questions; ``how`` begins its ``split``.

    ``all_documents`` is the number before ``documents`` were drawn.

    Raises:
        ConfigurationError: There is no document, or no question.
    """
    of_split = "" if selection.split is None else f" of official splits named {selection.split}"
    if not documents or not questions:
        lacking = "question" if documents else "document"
        raise ConfigurationError(
            f"The corpus {layout.corpus} gives no {lacking}{of_split}. {how}: give it more or longer records."
        )
    kept, asked = bounded(documents, questions, selection)
    ids = {document.doc_id for document in kept}
    split = (
        f"{how}; {len(asked):,} of {len(questions):,} such questions are asked, "
        f"of {len(kept):,} of {all_documents or len(documents):,} documents{of_split} "
        f"(seed {selection.seed})."
    )
    marked = None if gold is None else {doc_id: rows for doc_id, rows in gold.items() if doc_id in ids}
    return Corpus(layout.corpus, kept, asked, marked, split, layout.source, layout.license)
