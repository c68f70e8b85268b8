"""The nouns of a benchmark: documents, questions, the selection of both, and what a user names and marks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from eval.progress import Progress, no_progress
from ingest.documents import Document
from ingest.errors import UnreadableDocument
from ingest.read.paths import canonical, os_problem, shown
from ingest.read.reading import Fields, Reading
from ingest.read.record_text import document_of
from ingest.read.records import Record, read_records, record_format
from ingest.read.sources import STDIN
from models.errors import ConfigurationError, LetheError

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
    unmarked: Record | None = None
    for source, record in _records(paths, fields.text):
        try:
            document = document_of(record, source, fields)
        except UnreadableDocument:
            continue
        if field_name not in record.fields:
            unmarked = unmarked or record
            continue
        marked = _marked(document, record, field_name)
        if texts.setdefault(document.doc_id, hash(document.text)) != hash(document.text):
            raise UnreadableDocument(
                record.place, "has the id of an earlier record with another text; give each its own"
            )
        rows.setdefault(document.doc_id, marked)
    if unmarked is None:
        return rows
    # Field names are not shown: the first line may be data instead of a header.
    count = len(unmarked.fields)
    among = f"among {count:,} field{'s' * (count != 1)}"
    if not rows:
        raise ConfigurationError(
            f"No record has a field {field_name!r} {among}. Name the one that holds the marked entities."
        )
    raise UnreadableDocument(
        unmarked.place,
        f"has no field {field_name!r} {among}, which other records have; write an empty list where there is "
        "nothing to mark",
    )


def persons_in(paths: Sequence[str], field_name: str, fields: Fields) -> dict[str, str]:
    """What each record says of whom it is about, by the ids that ``read_documents`` gives; a private value.

    Raises:
        ConfigurationError: No record has the field, or the records come from standard input.
        UnreadableDocument: A file or record cannot be read.
    """
    found = _values(
        paths, field_name, fields, lambda value: isinstance(value, str | int) and str(value).strip()
    )
    if not found:
        raise ConfigurationError(
            f"No record has a word or number in a field {field_name!r}. Name the one that says whom it is "
            "about."
        )
    return {doc_id: str(value) for doc_id, value in found.items()}


def fields_in(paths: Sequence[str], field_name: str, fields: Fields) -> dict[str, Mapping[str, object]]:
    """What each record says of its person, by the names of attributes; errors are those of ``persons_in``."""
    found = _values(paths, field_name, fields, lambda value: isinstance(value, dict) and value)
    if not found:
        raise ConfigurationError(
            f"No record has named values in a field {field_name!r}. Name the one that holds attributes of a "
            'person, such as {"age": 41, "occupation": "nurse"}.'
        )
    return found


def _values(
    paths: Sequence[str], field_name: str, fields: Fields, wanted: Callable[[object], object]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for source, record in _records(paths, fields.text):
        value = record.fields.get(field_name)
        if wanted(value):
            with suppress(UnreadableDocument):
                found[document_of(record, source, fields).doc_id] = value
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


def _marked(document: Document, record: Record, field_name: str) -> list[Mapping[str, object]]:
    """The marks of a record; offsets are refused if reading changed the text, whose characters they count."""
    marked = record.fields[field_name]
    if not isinstance(marked, list):
        raise UnreadableDocument(record.place, f"{field_name} is not a list of entities")
    for number, row in enumerate(marked):
        if not isinstance(row, dict):
            raise UnreadableDocument(
                record.place, f"row {number} of {field_name} is no entity; write {{...}} with named fields"
            )
    by_place = any(not row.get("text") and ("start" in row or "end" in row) for row in marked)
    if by_place and not _holds(record.fields, document.text):
        raise UnreadableDocument(
            record.place,
            "its entities are given by start and end, and its text was changed on reading (line ends, "
            "invisible characters, accents, or several fields joined); give the entities as text, or "
            "clean the file first",
        )
    return marked


def _holds(value: object, text: str) -> bool:
    return any(_holds(each, text) for each in value.values()) if isinstance(value, dict) else value == text


Truths = Mapping[str, tuple[str, ...]]
"""What is known of a person: the values of each attribute, several where a person has several conditions."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with a non-empty reference answer.

    ``about`` is the id of the document that the question is about, "" if there is none.
    """

    question_id: str
    text: str = field(repr=False)
    answer: str = field(repr=False)
    about: str = ""

    def __post_init__(self) -> None:
        if not (self.text.strip() and self.answer.strip()):
            raise ValueError(f"question {self.question_id} lacks its text or its answer: leave it out")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Original documents and questions about them; every ``about`` is the id of one of the documents.

    ``gold`` holds hand-annotated entities, None without annotation. ``split`` says in one sentence where the
    questions come from and what was held out; ``source`` and ``license`` are those of the texts. ``unread``
    counts unreadable documents and those with a repeated id. ``people`` has the ids of the documents about
    each person who has several, where that is known; ``attributes`` what is known of a document's person,
    by attribute.
    """

    name: str
    documents: Sequence[Document] = field(repr=False)
    questions: Sequence[Question] = field(default=(), repr=False)
    gold: GoldRows | None = field(default=None, repr=False)
    split: str = ""
    source: str = ""
    license: str = ""
    unread: int = 0
    people: Sequence[frozenset[str]] = field(default=(), repr=False)
    attributes: Mapping[str, Truths] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        ids = {document.doc_id for document in self.documents}
        if len(ids) < len(self.documents):
            raise ValueError(f"corpus {self.name} has two documents under one id: leave one out")
        if any(question.about and question.about not in ids for question in self.questions):
            raise ValueError(f"corpus {self.name} has a question about a document that it does not hold")


@dataclass(frozen=True, slots=True)
class Selection:
    """How much of a corpus to take; the same selection always draws the same documents and questions.

    ``asked_share`` in (0, 1] is the share of consultations that is held out (HealthCareMagic), or of
    question-answer pairs that is asked (EnronQA); the paper's is 0.01. ``questions_per_document`` limits
    inverse cloze, None uses the default of the corpus. ``split`` takes the records of official splits whose
    name contains this word, None all of them. ``questions_file`` has a user's own questions about a folder,
    out of which links are followed if ``follow_links``.
    """

    seed: int = 0
    most_documents: int | None = None
    most_questions: int | None = None
    asked_share: float = 0.01
    questions_per_document: int | None = None
    split: str | None = None
    questions_file: Path | None = field(default=None, repr=False)
    follow_links: bool = False

    def __post_init__(self) -> None:
        for name in ("most_documents", "most_questions", "questions_per_document"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigurationError(f"{name} is {value}: give at least 1, or leave it out for no bound.")
        if not 0 < self.asked_share <= 1:
            raise ConfigurationError(f"asked_share is {self.asked_share:g}: give a share in (0, 1].")

    def drawn(self, purpose: str) -> Random:
        """A random generator for each purpose, so that draws are independent of one another."""
        return Random(f"{self.seed}:{purpose}")


def fewer_documents(
    documents: Sequence[Document], selection: Selection, needed: Set[str] = frozenset()
) -> list[Document]:
    """At most ``most_documents`` of the documents, in order, with those that are needed."""
    most = selection.most_documents
    if most is None or len(documents) <= most:
        return list(documents)
    others = [document.doc_id for document in documents if document.doc_id not in needed]
    chosen = needed | set(selection.drawn("documents").sample(others, most - len(needed)))
    return [document for document in documents if document.doc_id in chosen]


def bounded(
    documents: Sequence[Document], questions: Sequence[Question], selection: Selection
) -> tuple[list[Document], list[Question]]:
    """The selected number of documents and questions, both in order.

    Documents of kept questions are kept. Questions about documents beyond ``most_documents`` are dropped.
    """
    kept: set[int] = set()
    about: set[str] = set()
    order = list(range(len(questions)))
    selection.drawn("questions").shuffle(order)
    for place in order:
        if len(kept) == selection.most_questions:
            break
        asked_about = questions[place].about
        if asked_about and asked_about not in about:
            if len(about) == selection.most_documents:
                continue
            about.add(asked_about)
        kept.add(place)
    return fewer_documents(documents, selection, about), [questions[place] for place in sorted(kept)]


def under_public_ids(corpus: Corpus, public_ids: Callable[[Sequence[str]], Sequence[str]]) -> Corpus:
    """The same corpus under the ids that a collection would give its documents.

    A question id is the public id of its document and its own suffix, or a number if the question has no
    document or its id does not begin with that of the document.
    """
    read = [document.doc_id for document in corpus.documents]
    public = dict(zip(read, public_ids(read), strict=True))
    questions = []
    for number, question in enumerate(corpus.questions, 1):
        about, own = question.about, f"question-{number}"
        if about:
            if question.question_id.startswith(f"{about}/"):
                own = question.question_id.removeprefix(f"{about}/")
            about, own = public[about], f"{public[about]}/{own}"
        questions.append(replace(question, question_id=own, about=about))
    gold = corpus.gold
    return replace(
        corpus,
        documents=[replace(document, doc_id=public[document.doc_id]) for document in corpus.documents],
        questions=questions,
        gold=None if gold is None else {new: gold[old] for old, new in public.items() if old in gold},
    )


def read_corpus(
    readings: Iterable[Reading],
    public_ids: Callable[[Sequence[str]], Sequence[str]],
    gold: GoldRows | None = None,
    progress: Progress = no_progress,
    persons: Mapping[str, str] | None = None,
    attributes: Mapping[str, Truths] | None = None,
) -> Corpus:
    """The readable documents without duplicates of a text or an id; the first is kept, as in a collection.

    ``public_ids`` are the ids for rows and reports; ``gold``, the ``persons`` that documents are about,
    and their ``attributes`` are keyed by the ids as read.

    Raises:
        LetheError: There is no document, or one without its line of marked entities.
    """
    read, unread = _distinct(readings, progress)
    if not read:
        raise LetheError("There is no document to attack: none of the paths could be read.")
    ids = [document.doc_id for document in read]
    public = dict(zip(ids, public_ids(ids), strict=True))
    missing = [] if gold is None else [new for old, new in public.items() if old not in gold]
    if missing:
        raise LetheError(
            f"{len(missing)} of {len(read)} documents have no marked entities, the first is {missing[0]}. "
            "Name only files of records with the marks in them."
        )
    people: dict[str, set[str]] = {}
    for old, new in public.items():
        if person := (persons or {}).get(old):
            people.setdefault(person, set()).add(new)
    return Corpus(
        "files",
        [replace(document, doc_id=public[document.doc_id]) for document in read],
        gold=None if gold is None else {new: gold[old] for old, new in public.items()},
        unread=unread,
        people=[frozenset(each) for each in people.values() if len(each) > 1],
        attributes={new: known for old, new in public.items() if (known := (attributes or {}).get(old))},
    )


def _distinct(readings: Iterable[Reading], progress: Progress) -> tuple[list[Document], int]:
    """Documents with a unique text and id, and the number of others that are not duplicates."""
    texts: set[str] = set()
    by_id: dict[str, Document] = {}
    unread = 0
    for reading in readings:
        document = reading.item
        if not isinstance(document, Document):
            unread += 1
        elif document.text not in texts:
            unread += document.doc_id in by_id
            texts.add(document.text)
            by_id.setdefault(document.doc_id, document)
        progress("reading", len(by_id), None)
    return list(by_id.values()), unread
