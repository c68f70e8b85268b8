"""The files of hand-made gold, entry by entry. Errors name file and place and quote no text."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.paths import os_problem, shown
from models.corpora.records import parsed_lines

_ANNOTATOR = "annotator_"


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of a file: its fields, and where it is. ``row`` counts from 1 within its document."""

    file: Path
    document: str
    row: int
    fields: Mapping[str, Any] = field(repr=False)

    def text(self, name: str) -> str:
        """A field with words.

        Raises:
            UnreadableDocument: It is missing or no text.
        """
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise self.wrong(f"has no text in {name}")
        return value

    def number(self, name: str) -> int:
        """A field with a whole number, 0 or more.

        Raises:
            UnreadableDocument: It is missing, negative or no whole number.
        """
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(f"has no whole number in {name}")
        return value

    def whole_words(self, text: str) -> Iterator[tuple[int, int]]:
        """Where its text stands in another one, as whole words."""
        pattern = rf"(?<!\w){re.escape(self.text('text'))}(?!\w)"
        return (match.span() for match in re.finditer(pattern, text))

    def wrong(self, what: str) -> UnreadableDocument:
        """The error about this entry."""
        place = f"{shown(self.file)}, {self.document}, mark {self.row}"
        return UnreadableDocument(place, f"{what}; take the gold as it was published")


def documents_in(path: Path) -> list[Document]:
    """The documents of a JSON list with ``id`` and ``text``.

    Raises:
        UnreadableDocument: The file cannot be read, or an entry has no id or text, or the id of another.
    """
    found: dict[str, Document] = {}
    for number, entry in enumerate(_listed(path, _parsed(path)), 1):
        doc_id, text = entry.get("id"), entry.get("text")
        if not isinstance(doc_id, str) or not isinstance(text, str) or doc_id in found:
            raise _bad(path, number, "has no text, or no id of its own")
        found[doc_id] = Document(doc_id, text)
    return list(found.values())


def annotators_in(folder: Path) -> dict[str, Path]:
    """The files of the annotators, by name, in order.

    Raises:
        UnreadableDocument: There is none.
    """
    found = {path.stem.removeprefix(_ANNOTATOR): path for path in sorted(folder.glob(f"{_ANNOTATOR}*.json"))}
    if not found:
        raise UnreadableDocument(shown(folder), f"holds no {_ANNOTATOR}*.json; put the gold there")
    return found


def mentions_in(path: Path, documents: Sequence[Document]) -> Mapping[str, list[Place]]:
    """The mentions of each document in an annotator's file, by id.

    Raises:
        UnreadableDocument: The file cannot be read, or does not have exactly these documents.
    """
    root = _parsed(path)
    found: dict[str, list[Place]] = {}
    for number, entry in enumerate(_listed(path, root.get("docs") if isinstance(root, dict) else None), 1):
        doc_id, mentions = entry.get("id"), entry.get("mentions")
        if not isinstance(doc_id, str) or doc_id in found or not isinstance(mentions, list):
            raise _bad(path, number, "has no list of mentions, or no id of its own")
        found[doc_id] = _places(path, f"document {number}", mentions)
    if set(found) != {document.doc_id for document in documents}:
        raise UnreadableDocument(
            shown(path), "does not mark the documents of documents.json, all and no other"
        )
    return found


def court_cases(path: Path) -> Iterator[tuple[Document, list[list[Place]]]]:
    """The cases of an official file of the Text Anonymization Benchmark, with the marks of each annotator.

    Raises:
        UnreadableDocument: The file cannot be read, or is not in that layout.
    """
    for number, case in enumerate(_listed(path, _parsed(path)), 1):
        doc_id, text, annotations = (case.get(name) for name in ("doc_id", "text", "annotations"))
        if not isinstance(doc_id, str) or not isinstance(text, str) or not isinstance(annotations, dict):
            raise _bad(path, number, "has no doc_id, no text or no annotations")
        marks = [each.get("entity_mentions") for each in annotations.values() if isinstance(each, dict)]
        lists = [each for each in marks if isinstance(each, list)]
        if len(lists) != len(annotations):
            raise _bad(path, number, "has an annotator without entity_mentions")
        yield Document(doc_id, text), [_places(path, f"case {number}", each) for each in lists]


def demo_records(path: Path) -> Iterator[tuple[Document, list[Place]]]:
    """The documents of the demo corpus with their entities; the record about the corpus is left out.

    Raises:
        ConfigurationError: The file is missing, or a line is broken.
    """

    def parsed(row: dict[str, Any], number: int) -> tuple[Document, list[Place]]:
        return Document(str(row["id"]), str(row["text"])), _places(
            path, f"line {number + 1}", row["entities"]
        )

    return (record for record in parsed_lines(path, parsed) if record[1])


def _places(path: Path, document: str, entries: list[Any]) -> list[Place]:
    places = [
        Place(path, document, row, entry if isinstance(entry, dict) else {})
        for row, entry in enumerate(entries, 1)
    ]
    return places


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableDocument(shown(path), os_problem(error)) from None
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadableDocument(f"{shown(path)}{line}", "is no JSON in UTF-8; restore the file") from None


def _listed(path: Path, entries: Any) -> list[Mapping[str, Any]]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UnreadableDocument(shown(path), "holds no list of documents; take the gold as it was published")
    return entries


def _bad(path: Path, number: int, what: str) -> UnreadableDocument:
    return UnreadableDocument(
        f"{shown(path)}, document {number}", f"{what}; take the gold as it was published"
    )
