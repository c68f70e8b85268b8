"""Documents as people or other readers marked them: the reference that no detector made.

Class and must are the gold's own. Where a gold has no must, they follow from its classes alone: what it calls
DIRECT or QUASI has to be masked (must 2), all else may stay (must 0).
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from models.corpora.documents import POSTS, nearest, spia_texts
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
        mentions: Any = record.fields["mentions"]
        if not isinstance(doc_id, str) or not isinstance(text, str):
            raise UnreadableDocument(record.place, "has no text in doc_id or text; take it as published")
        check_known(found, doc_id, record)
        marks: list[Mark] = []
        published: dict[str, dict[Span, str]] = {}
        try:
            for number, mention in enumerate(mentions):
                span = Span(mention["start"], mention["end"])
                if span.end > len(text):
                    raise ValueError
                marks.append(Mark(span.start, span.end, "QUASI", 2, str(number), mention["type"]))
                for method, words in mention.get("reference_replacements", {}).items():
                    published.setdefault(method, {})[span] = words
        except (TypeError, KeyError, ValueError, AttributeError):
            raise UnreadableDocument(
                record.place, "has a mention without start, end or type in its text; take it as published"
            ) from None
        marked = MarkedDocument(Document(doc_id, text), tuple(marks), TAB.corpus, "")
        found[doc_id] = ReplacedCase(marked, published)
    return list(found.values())


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
    by_id = {each.doc_id: each for each in documents}
    marked: list[MarkedDocument] = []
    try:
        for doc_id in filter(by_id.__contains__, found):
            marks = [
                Mark(start, end, "QUASI", 2, f"{start}", TYPES.get(kind, VAGUE))
                for start, end, kind in found[doc_id]
            ]
            if any(mark.end > len(by_id[doc_id].text) for mark in marks):
                raise ValueError
            marked.append(MarkedDocument(by_id[doc_id], tuple(marks), TAB.corpus, ""))
    except (TypeError, ValueError):
        raise UnreadableDocument(
            file, "has a span that is no start, end and type in its text; take it as published"
        ) from None
    return marked


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


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of a file: the place of its document, its row there, from 1, and its fields."""

    document: str
    row: int
    fields: Mapping[str, Any] = field(repr=False)

    def text(self, name: str) -> str:
        """A field with words; an error if it is missing or no text."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise self.wrong(f"has no text in {name}")
        return value

    def number(self, name: str) -> int:
        """A field with a whole number; an error if it is missing, negative or no whole number."""
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(f"has no whole number in {name}")
        return value

    def wrong(self, what: str) -> UnreadableDocument:
        """The error about this entry."""
        return _wrong(f"{self.document}, mark {self.row}", what)


def _places(document: str, entries: list[Any]) -> list[Place]:
    """The entries of a document; those that are no objects lack every field."""
    return [
        Place(document, row, entry if isinstance(entry, dict) else {}) for row, entry in enumerate(entries, 1)
    ]


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableDocument(shown(path), os_problem(error)) from None
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadableDocument(f"{shown(path)}{line}", "is no JSON in UTF-8; restore the file") from None


def _listed(path: Path, entries: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Documents with their places."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _wrong(shown(path), "holds no list of documents")
    return [(f"{shown(path)}, document {number}", entry) for number, entry in enumerate(entries, 1)]


def _wrong(place: str, what: str) -> UnreadableDocument:
    return UnreadableDocument(place, f"{what}; take the gold as it was published")


VISITS_MAIL = "visits_mail_gold"
KINDS = ("DIRECT", "QUASI", "SENSITIVE", "NO_MASK")
"""The classes of all golds, the most identifying first."""
MUST = {"DIRECT": 2, "QUASI": 2, "SENSITIVE": 0, "NO_MASK": 0}
"""The must of golds that have classes only."""
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

    def only(self, wanted: Collection[Exposure]) -> "MarkedCorpus":
        """The documents of these exposures."""
        kept = {doc_id: exposure for doc_id, exposure in self.exposures.items() if exposure in wanted}
        by_annotator = {
            annotator: tuple(each for each in marked if each.document.doc_id in kept)
            for annotator, marked in self.by_annotator.items()
        }
        return MarkedCorpus(self.name, by_annotator, kept)


_Read = dict[str, tuple[MarkedDocument, ...]]
"""The documents of each annotator, the same ones in the same order."""


def marked_corpora() -> tuple[str, ...]:
    """The names that ``with_seen`` knows."""
    return tuple(_READERS)


def with_seen(folder: Path, name: str, demo: Path | None = None) -> MarkedCorpus:
    """All documents of a marked corpus, with what was seen of each.

    ``folder`` has a subfolder for each corpus; ``demo`` is the file of the demo corpus.

    Raises:
        LetheError: The corpus is unknown, or one of its files is missing, broken or contradicts another. The
            message names file and line and quotes no text.
    """
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
        marks = [mark for mark in each.marks if mark.must == 2 and mark.end - mark.start >= SHORTEST]
        words = {each.document.text[mark.start : mark.end].casefold() for mark in marks}
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


def _visits_mail(folder: Path) -> _Read:
    """Visits and mail; each annotator gives classes and must."""
    where = folder / VISITS_MAIL
    path = where / "documents.json"
    documents: dict[str, Document] = {}
    for place, entry in _listed(path, _parsed(path)):
        doc_id, text = entry.get("id"), entry.get("text")
        if not isinstance(doc_id, str) or not isinstance(text, str) or doc_id in documents:
            raise _wrong(place, "has no text, or no id of its own")
        documents[doc_id] = Document(doc_id, text)
    found: _Read = {}
    for path in sorted(where.glob("annotator_*.json")):
        annotator, mentions = path.stem.removeprefix("annotator_"), _mentions(path, documents)
        marked = []
        for doc_id, document in documents.items():
            marks = tuple(_visit_mark(place, document.text) for place in mentions[doc_id])
            marked.append(MarkedDocument(document, marks, VISITS_MAIL, annotator))
        found[annotator] = tuple(marked)
    if not found:
        raise UnreadableDocument(shown(where), "holds no annotator_*.json; put the gold there")
    return found


def _mentions(path: Path, doc_ids: Collection[str]) -> dict[str, list[Place]]:
    """The mentions of each document in an annotator's file, which has to have exactly these documents."""
    root = _parsed(path)
    found: dict[str, list[Place]] = {}
    for place, entry in _listed(path, root.get("docs") if isinstance(root, dict) else None):
        doc_id, mentions = entry.get("id"), entry.get("mentions")
        if not isinstance(doc_id, str) or doc_id in found or not isinstance(mentions, list):
            raise _wrong(place, "has no list of mentions, or no id of its own")
        found[doc_id] = _places(place, mentions)
    if set(found) != set(doc_ids):
        raise UnreadableDocument(
            shown(path), "does not mark the documents of documents.json, all and no other"
        )
    return found


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


def _spia(folder: Path, corpus: str, *files: str) -> _Read:
    found: list[MarkedDocument] = []
    for text in (text for file in files for text in spia_texts(folder, file)):
        marks = []
        for number, mark in enumerate(text.marks, 1):
            kind, start = mark.identifier, nearest(text.text, mark)
            if kind not in MUST or not mark.entity:
                raise ConfigurationError(
                    f"{corpus}: mark {number} of {text.id} has no entity_id or no known identifier_type; "
                    "take the corpus as it was published."
                )
            if start is not None:
                end = start + len(mark.words)
                marks.append(Mark(start, end, kind, MUST[kind], mark.entity, mark.label))
        found.append(MarkedDocument(Document(text.id, text.text), tuple(marks), corpus, "one annotator"))
    return {"one annotator": tuple(found)}


def _benchmark(folder: Path) -> _Read:
    """The development cases of TAB as their authors published them, by annotator.

    Copies without identifier types tell nothing of what has to go, so they are refused. ``annotator 1`` is
    the first of every case.
    """
    path = folder / seen.TAB / "echr_dev.json"
    if not path.is_file():
        raise ConfigurationError(
            f"{seen.TAB}: {path.name} is missing. Identifier types are only in this official file, not in "
            "dev.jsonl: put it there, or leave tab out; spia_cases has some of its cases."
        )
    found: dict[str, list[MarkedDocument]] = {}
    for number, (place, case) in enumerate(_listed(path, _parsed(path)), 1):
        doc_id, text, annotations = (case.get(name) for name in ("doc_id", "text", "annotations"))
        if not isinstance(doc_id, str) or not isinstance(text, str) or not isinstance(annotations, dict):
            raise _wrong(place, "has no doc_id, no text or no annotations")
        annotators = (each for each in annotations.values() if isinstance(each, dict))
        lists: list[Any] = [each.get("entity_mentions") for each in annotators]
        if sum(isinstance(each, list) for each in lists) != len(annotations):
            raise _wrong(place, "has an annotator without entity_mentions")
        for annotator, entries in enumerate(lists, 1):
            places = _places(f"{shown(path)}, case {number}", entries)
            marks = tuple(_benchmark_mark(each, text) for each in places)
            name = f"annotator {annotator}"
            found.setdefault(name, []).append(MarkedDocument(Document(doc_id, text), marks, seen.TAB, name))
    return {annotator: tuple(each) for annotator, each in found.items()}


def _benchmark_mark(place: Place, text: str) -> Mark:
    kind, start, end = place.text("identifier_type"), place.number("start_offset"), place.number("end_offset")
    if kind not in MUST or not 0 <= start < end <= len(text):
        raise place.wrong("needs an identifier_type, and offsets inside its text")
    return Mark(start, end, kind, MUST[kind], place.text("entity_id"), place.text("entity_type"))


def _demo(path: Path) -> _Read:
    """The invented documents. Their classes are this project's own, so they test nothing but the command."""

    def parsed(row: dict[str, Any], number: int) -> tuple[Document, list[Place]]:
        places = _places(f"{shown(path)}, line {number + 1}", row["entities"])
        return Document(str(row["id"]), str(row["text"])), places

    found = []
    for document, places in parsed_lines(path, parsed):
        # The record about the corpus has no entities.
        if places:
            marks = tuple(_demo_marks(places, document.text))
            found.append(MarkedDocument(document, marks, seen.DEMO, "its authors"))
    return {"its authors": tuple(found)}


def _demo_marks(places: Iterable[Place], text: str) -> list[Mark]:
    """Every mention of each form, the longest forms first, without overlaps."""
    taken: list[Mark] = []
    for place in sorted(places, key=lambda each: -len(each.text("text"))):
        kind = _DEMO_KINDS.get(place.text("identifier"))
        if kind is None:
            raise place.wrong(f"needs an identifier, one of {', '.join(_DEMO_KINDS)}")
        for match in re.finditer(rf"(?<!\w){re.escape(place.text('text'))}(?!\w)", text):
            start, end = match.span()
            if not any(mark.start < end and start < mark.end for mark in taken):
                subject, label = place.text("subject"), place.text("label")
                one = f"{subject}, {label}" if subject and kind == "DIRECT" else f"form {place.row}"
                taken.append(Mark(start, end, kind, MUST[kind], one, label))
    return sorted(taken)


_READERS: Mapping[str, Callable[[Path], _Read]] = {
    VISITS_MAIL: _visits_mail,
    seen.CASES: lambda folder: _spia(folder, seen.CASES, "tab_train", "tab_dev"),
    seen.PUBLISHED_POSTS: lambda folder: _spia(folder, seen.PUBLISHED_POSTS, POSTS),
    seen.TAB: _benchmark,
    seen.DEMO: _demo,
}
