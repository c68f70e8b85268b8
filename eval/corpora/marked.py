"""Documents as people or other readers marked them: the reference that no detector made.

Class and must are the gold's own. Where a gold has no must, they follow from its classes alone: what it calls
DIRECT or QUASI has to be masked (must 2), all else may stay (must 0).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from eval.corpora import seen
from eval.corpora.layouts import check_known, files_in, records_in
from eval.corpora.seen import Exposure
from eval.corpora.whole_documents import TAB
from eval.documents import Mark, MarkedDocument
from ingest.detection.presidio import TYPES
from ingest.documents import Document, Span
from ingest.errors import UnreadableDocument
from ingest.labels import VAGUE
from ingest.read.paths import os_problem, shown
from ingest.read.records import Record
from models.corpora.documents import POSTS, MarkedText, nearest, spia_texts
from models.corpora.records import parsed_lines
from models.errors import ConfigurationError

BACKGROUNDS = "background_public*.json"
"""What the public can read about each individual, by the id of the case."""
PRESIDIO_SPANS = "presidio_baseline_spans*.json"
"""What stock Presidio found, by the id of the case: start, end and Presidio's type."""


@dataclass(frozen=True, slots=True)
class ReplacedCase:
    """A case whose every mention has to go, with the published replacements of each span by method."""

    marked: MarkedDocument = field(repr=False)
    published: Mapping[str, Mapping[Span, str]] = field(repr=False)

    @property
    def document(self) -> Document:
        """The case itself."""
        return self.marked.document


def replaced_cases(path: Path) -> list[ReplacedCase]:
    """All cases of the corpus in a folder or file.

    Raises:
        LetheError: The corpus is missing or broken.
    """
    found: dict[str, ReplacedCase] = {}
    for record in records_in(path, TAB):
        doc_id, text = record.fields["doc_id"], record.fields["text"]
        if not isinstance(doc_id, str) or not isinstance(text, str):
            raise UnreadableDocument(record.place, "has no text in doc_id or text; take it as published")
        check_known(found, doc_id, record)
        found[doc_id] = _case(Document(doc_id, text), record)
    return list(found.values())


def _case(document: Document, record: Record) -> ReplacedCase:
    mentions: Any = record.fields["mentions"]
    marks: list[Mark] = []
    published: dict[str, dict[Span, str]] = {}
    try:
        for number, mention in enumerate(mentions):
            span = Span(mention["start"], mention["end"])
            if span.end > len(document.text):
                raise ValueError
            marks.append(Mark(span.start, span.end, "QUASI", 2, str(number), mention["type"]))
            for method, words in mention.get("reference_replacements", {}).items():
                published.setdefault(method, {})[span] = words
    except (TypeError, KeyError, ValueError, AttributeError):
        raise UnreadableDocument(
            record.place, "has a mention without start, end or type in its text; take it as published"
        ) from None
    return ReplacedCase(MarkedDocument(document, tuple(marks), TAB.corpus, ""), published)


def halves(cases: Sequence[ReplacedCase]) -> tuple[list[ReplacedCase], list[ReplacedCase]]:
    """The cases to choose on and those to report, the second the smaller; drawn by their ids."""
    drawn = sorted(cases, key=lambda case: blake2b(case.document.doc_id.encode()).digest())
    middle = (len(drawn) + 1) // 2
    return drawn[:middle], drawn[middle:]


def presidio_marks(path: Path, documents: Sequence[Document]) -> list[MarkedDocument]:
    """What stock Presidio found in these documents, from the file beside the corpus; empty if there is none.

    Raises:
        UnreadableDocument: The file is broken, or has spans outside of a text.
    """
    file, found = _beside(path, PRESIDIO_SPANS)
    texts = {each.doc_id: each for each in documents}
    try:
        return [
            MarkedDocument(
                texts[doc_id],
                tuple(_presidio_mark(each, texts[doc_id].text) for each in spans),
                TAB.corpus,
                "",
            )
            for doc_id, spans in found.items()
            if doc_id in texts
        ]
    except (TypeError, ValueError):
        raise UnreadableDocument(
            file, "has a span that is no start, end and type in its text; take it as published"
        ) from None


def _presidio_mark(span: Any, text: str) -> Mark:
    start, end, kind = span
    if end > len(text):
        raise ValueError
    return Mark(start, end, "QUASI", 2, f"{start}", TYPES.get(kind, VAGUE))


def backgrounds(path: Path) -> dict[str, str]:
    """The public text about each individual, from the file beside the corpus; empty if there is none.

    Raises:
        UnreadableDocument: The file is broken.
    """
    file, found = _beside(path, BACKGROUNDS)
    if not all(isinstance(text, str) for text in found.values()):
        raise UnreadableDocument(file, "is no JSON object of texts by id; take it as published")
    return found


def _beside(path: Path, pattern: str) -> tuple[str, dict[str, Any]]:
    """The name and the object of a file beside the corpus; empty if there is none."""
    beside = sorted(files_in(path, TAB)[0].parent.glob(pattern))
    if not beside:
        return "", {}
    try:
        found = json.loads(beside[0].read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise UnreadableDocument(shown(beside[0]), "is no JSON object of texts by id; take it as published")
    return shown(beside[0]), found


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


VISITS_MAIL = "visits_mail_gold"
KINDS = ("DIRECT", "QUASI", "SENSITIVE", "NO_MASK")
"""The classes of all golds, the most identifying first."""
MUST = {"DIRECT": 2, "QUASI": 2, "SENSITIVE": 0, "NO_MASK": 0}
"""The must of golds that have classes only."""
_SPIA = "one annotator"
_DEMO_KINDS = {"direct": "DIRECT", "quasi": "QUASI", "attribute": "SENSITIVE"}

SIBLING, SHORTEST, FEWEST = 0.3, 5, 10
"""A case that has more than this share of its identifiers in common with one that was learned from counts as
learned from; identifiers have so many characters or more, and a case so many of them or more."""


@dataclass(frozen=True, slots=True)
class MarkedCorpus:
    """A corpus with its marks, by annotator, and what was seen of each document, by id.

    Every annotator has the same documents, in the same order.
    """

    name: str
    by_annotator: Mapping[str, tuple[MarkedDocument, ...]] = field(repr=False)
    exposures: Mapping[str, Exposure] = field(repr=False)

    @property
    def documents(self) -> tuple[Document, ...]:
        """Each document once."""
        return tuple(each.document for each in next(iter(self.by_annotator.values()), ()))

    def only(self, wanted: Iterable[Exposure]) -> "MarkedCorpus":
        """The documents of these exposures."""
        allowed = {doc_id for doc_id, exposure in self.exposures.items() if exposure in set(wanted)}
        return MarkedCorpus(
            self.name,
            {
                annotator: tuple(each for each in marked if each.document.doc_id in allowed)
                for annotator, marked in self.by_annotator.items()
            },
            {doc_id: exposure for doc_id, exposure in self.exposures.items() if doc_id in allowed},
        )


def marked_corpora() -> tuple[str, ...]:
    """The names that ``marked`` knows."""
    return tuple(_READERS)


def marked(folder: Path, name: str, demo: Path | None = None) -> MarkedCorpus:
    """A marked corpus without the documents that a model, a list or a default learned from.

    ``folder`` has a subfolder for each corpus; ``demo`` is the file of the demo corpus. Those that were only
    looked at are there, with that exposure.

    Raises:
        LetheError: The corpus is unknown, or one of its files is missing, broken or contradicts another. The
            message names file and line and quotes no text.
    """
    found = with_seen(folder, name, demo)
    return found.only((Exposure.UNSEEN, Exposure.LOOKED_AT))


def with_seen(folder: Path, name: str, demo: Path | None = None) -> MarkedCorpus:
    """All documents of a marked corpus; parameters and errors are those of ``marked``."""
    if name not in _READERS:
        raise ConfigurationError(f"There is no marked corpus {name!r}: the names are {', '.join(_READERS)}.")
    if name == seen.DEMO and demo is None:
        raise ConfigurationError("The demo corpus is a file of its own: name it.")
    read = _READERS[name](folder if demo is None or name != seen.DEMO else demo)
    documents = next(iter(read.values()), ())
    exposures = _exposures(folder, name, [each.document.doc_id for each in documents])
    known = siblings(documents, seen.learned_texts(folder)) if name == seen.CASES else ()
    return MarkedCorpus(name, read, {**exposures, **dict.fromkeys(known, Exposure.LEARNED)})


def siblings(documents: Iterable[MarkedDocument], learned: Sequence[str]) -> Iterator[str]:
    """Cases that share many of their identifiers with one that was learned from: heard again, or joined."""
    folded = [text.casefold() for text in learned]
    for each in documents:
        words = {
            each.document.text[mark.start : mark.end].casefold()
            for mark in each.marks
            if mark.must == 2 and mark.end - mark.start >= SHORTEST
        }
        shared = max((sum(word in other for word in words) for other in folded), default=0)
        if len(words) >= FEWEST and shared > SIBLING * len(words):
            yield each.document.doc_id


def _exposures(folder: Path, name: str, ids: list[str]) -> Mapping[str, Exposure]:
    if name != VISITS_MAIL:
        return seen.exposures(folder, name, ids)
    found: dict[str, Exposure] = {}
    for corpus in dict.fromkeys(doc_id.partition("|")[0] for doc_id in ids):
        prefix = f"{corpus}|"
        own = [doc_id.removeprefix(prefix) for doc_id in ids if doc_id.startswith(prefix)]
        found |= {f"{prefix}{key}": value for key, value in seen.exposures(folder, corpus, own).items()}
    return found


_Read = dict[str, tuple[MarkedDocument, ...]]


def _visits_mail(folder: Path) -> _Read:
    """Visits and mail; each annotator gives classes and must."""
    where = folder / VISITS_MAIL
    documents = documents_in(where / "documents.json")
    return {
        annotator: tuple(
            MarkedDocument(
                document,
                tuple(_visit_mark(place, document.text) for place in mentions[document.doc_id]),
                VISITS_MAIL,
                annotator,
            )
            for document in documents
        )
        for annotator, path in annotators_in(where).items()
        for mentions in (mentions_in(path, documents),)
    }


def _visit_mark(place: Place, text: str) -> Mark:
    start = -1
    words = place.text("text")
    if not words:
        raise place.wrong("has no text in text")
    for _ in range(place.number("nth") + 1):
        start = text.find(words, start + 1)
        if start < 0:
            raise place.wrong("does not stand in its document that often")
    kind, must = place.text("class"), place.number("must")
    if kind not in KINDS or must not in (0, 1, 2):
        raise place.wrong(f"needs a class, one of {', '.join(KINDS)}, and a must of 0, 1 or 2")
    return Mark(start, start + len(words), kind, must, str(place.number("entity")), place.text("type"))


def _cases(folder: Path) -> _Read:
    """Court cases of SPIA, both files."""
    texts = [text for file in ("tab_train", "tab_dev") for text in spia_texts(folder, file)]
    return {_SPIA: tuple(_of_spia(text, seen.CASES) for text in texts)}


def _posts(folder: Path) -> _Read:
    return {_SPIA: tuple(_of_spia(text, seen.PUBLISHED_POSTS) for text in spia_texts(folder, POSTS))}


def _of_spia(text: MarkedText, corpus: str) -> MarkedDocument:
    marks = []
    for number, mark in enumerate(text.marks, 1):
        start = nearest(text.text, mark)
        if mark.identifier not in MUST or not mark.entity:
            raise ConfigurationError(
                f"{corpus}: mark {number} of {text.id} has no entity_id or no known identifier_type; take "
                "the corpus as it was published."
            )
        if start is not None:
            end = start + len(mark.words)
            marks.append(Mark(start, end, mark.identifier, MUST[mark.identifier], mark.entity, mark.label))
    return MarkedDocument(Document(text.id, text.text), tuple(marks), corpus, _SPIA)


def _benchmark(folder: Path) -> _Read:
    """The development cases of TAB as their authors published them, by annotator.

    Copies without identifier types tell nothing of what has to go, so they are refused. Of the annotators of
    a case each is kept apart: ``annotator 1`` is the first of every case.
    """
    path = folder / seen.TAB / "echr_dev.json"
    if not path.is_file():
        raise ConfigurationError(
            f"{seen.TAB}: {path.name} is missing. Identifier types are only in this official file, not in "
            "dev.jsonl: put it there, or leave tab out; spia_cases has some of its cases."
        )
    found: dict[str, list[MarkedDocument]] = {}
    for document, annotations in court_cases(path):
        for number, places in enumerate(annotations, 1):
            marks = tuple(_benchmark_mark(place, document.text) for place in places)
            annotator = f"annotator {number}"
            found.setdefault(annotator, []).append(MarkedDocument(document, marks, seen.TAB, annotator))
    return {annotator: tuple(each) for annotator, each in found.items()}


def _benchmark_mark(place: Place, text: str) -> Mark:
    kind, start, end = place.text("identifier_type"), place.number("start_offset"), place.number("end_offset")
    if kind not in MUST or not 0 <= start < end <= len(text):
        raise place.wrong("needs an identifier_type, and offsets inside its text")
    return Mark(start, end, kind, MUST[kind], place.text("entity_id"), place.text("entity_type"))


def _demo(path: Path) -> _Read:
    """The invented documents. Their classes are this project's own, so they test nothing but the command."""
    marked_documents = []
    for document, places in demo_records(path):
        marks = tuple(_demo_marks(places, document.text))
        marked_documents.append(MarkedDocument(document, marks, seen.DEMO, "its authors"))
    return {"its authors": tuple(marked_documents)}


def _demo_marks(places: Iterable[Place], text: str) -> Iterator[Mark]:
    """Every mention of each form, the longest forms first, without overlaps."""
    taken: list[Mark] = []
    for place in sorted(places, key=lambda each: -len(each.text("text"))):
        kind = _DEMO_KINDS.get(place.text("identifier"))
        if kind is None:
            raise place.wrong(f"needs an identifier, one of {', '.join(_DEMO_KINDS)}")
        for start, end in place.whole_words(text):
            if not any(mark.start < end and start < mark.end for mark in taken):
                subject = place.text("subject")
                one = f"{subject}, {place.text('label')}" if subject and kind == "DIRECT" else ""
                entity = one or f"form {place.row}"
                taken.append(Mark(start, end, kind, MUST[kind], entity, place.text("label")))
    yield from sorted(taken)


_READERS: Mapping[str, Callable[[Path], _Read]] = {
    VISITS_MAIL: _visits_mail,
    seen.CASES: _cases,
    seen.PUBLISHED_POSTS: _posts,
    seen.TAB: _benchmark,
    seen.DEMO: _demo,
}
