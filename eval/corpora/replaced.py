"""Court cases of the Text Anonymization Benchmark, with what published methods put for each mention."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from eval.corpora.layouts import check_known, files_in, records_in
from eval.corpora.whole_documents import TAB
from eval.documents import Mark, MarkedDocument
from ingest.detection.presidio import TYPES
from ingest.documents import Document, Span
from ingest.errors import UnreadableDocument
from ingest.labels import VAGUE
from ingest.read.paths import shown
from ingest.read.records import Record

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
