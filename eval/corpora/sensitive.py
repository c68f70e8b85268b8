"""The sensitive entities of an original document: detected, or annotated by hand."""

from collections.abc import Mapping, Sequence

from eval.corpora.corpus import Corpus
from eval.documents import SensitiveEntity
from eval.measures.leakage import SensitiveIndex, normalized
from eval.progress import Progress, no_progress
from ingest.documents import Document, Entity, Identifier
from ingest.errors import UnreadableDocument
from ingest.labels import label_of
from ingest.language.normalize import fixed_text
from ingest.protocols import EntityDetector
from models.errors import LetheError

DIRECT, QUASI = Identifier.DIRECT, Identifier.QUASI

TAB_TYPES: dict[str, tuple[str, Identifier]] = {
    "PERSON": ("person full name", DIRECT),
    "CODE": ("case number", DIRECT),
    "LOC": ("place", QUASI),
    "ORG": ("organization", QUASI),
    "DEM": ("demographic trait", QUASI),
    "DATETIME": ("date", QUASI),
    "QUANTITY": ("quantity", QUASI),
    "MISC": ("other circumstance", QUASI),
}
"""The types of the Text Anonymization Benchmark. It marks each mention as direct or quasi; without that mark,
names and codes count as direct."""

NOT_SENSITIVE = "no_mask"
_BATCH = 64


def sensitive_from_entities(document: Document, entities: Sequence[Entity]) -> list[SensitiveEntity]:
    """The detected entities of the original, as the reference of an audit."""
    found = []
    for entity in entities:
        start, end = entity.span.start, entity.span.end
        text = document.text[start:end]
        found.append(SensitiveEntity(document.doc_id, text, entity.label, entity.identifier, (start, end)))
    return found


def sensitive_from_gold(document: Document, rows: Sequence[Mapping[str, object]]) -> list[SensitiveEntity]:
    """The hand-annotated entities of the original.

    A row has a ``text``, or ``start`` and ``end`` in the document; a ``label`` or a ``type``, which may be a
    TAB type; and optionally an ``identifier`` (direct, quasi, attribute), else the label decides. Rows marked
    NO_MASK are not sensitive and are left out.

    Raises:
        UnreadableDocument: a row lacks a part, runs past the text, says what the document does not say,
            or has an unknown identifier.
    """
    found = []
    said = normalized(document.text)
    for number, row in enumerate(rows):
        place = f"document {document.doc_id}, gold row {number}"
        named = str(row.get("identifier", "")).casefold()
        if named == NOT_SENSITIVE:
            continue
        label, usual = _label(row, place)
        try:
            identifier = Identifier(named) if named else usual
        except ValueError:
            raise UnreadableDocument(
                place, "its identifier is unknown: give direct, quasi, attribute or NO_MASK"
            ) from None
        text, span = _said(document, row, place)
        # Text that is not in the original cannot leak: it would count as protected.
        if normalized(text) not in said:
            raise UnreadableDocument(
                place, "its text does not stand in the document: copy it from there, or leave the row out"
            )
        found.append(SensitiveEntity(document.doc_id, text, label, identifier, span))
    return found


def _label(row: Mapping[str, object], place: str) -> tuple[str, Identifier]:
    name = row.get("label", row.get("type"))
    if not isinstance(name, str) or not name:
        raise UnreadableDocument(place, "it has no label: give a label or a type")
    return TAB_TYPES.get(name) or (name, label_of(name).identifier)


def _said(document: Document, row: Mapping[str, object], place: str) -> tuple[str, tuple[int, int] | None]:
    """The text that a row names, and where it stands first."""
    text = row.get("text")
    if isinstance(text, str) and text:
        text = fixed_text(text)
        found = document.text.find(text)
        return text, None if found < 0 else (found, found + len(text))
    start, end = row.get("start"), row.get("end")
    if not isinstance(start, int) or not isinstance(end, int):
        raise UnreadableDocument(place, "it has no text: give a text, or start and end")
    if not 0 <= start < end <= len(document.text):
        raise UnreadableDocument(
            place, f"[{start}, {end}) is no place in its {len(document.text)} characters"
        )
    return document.text[start:end], (start, end)


def sensitive_in(
    corpus: Corpus, detector: EntityDetector, progress: Progress = no_progress
) -> SensitiveIndex:
    """The sensitive entities of a corpus: annotated by hand, else detected.

    Raises:
        LetheError: There is nothing.
    """
    documents, gold = corpus.documents, corpus.gold
    if gold is not None:
        by_document = [sensitive_from_gold(document, gold[document.doc_id]) for document in documents]
    else:
        by_document = list(map(sensitive_from_entities, documents, detect_all(detector, documents, progress)))
    found = [entity for entities in by_document for entity in entities]
    index = SensitiveIndex(found)
    if not len(index):
        raise LetheError(
            f"There is nothing sensitive to look for in {len(documents)} documents: {len(found)} "
            "entities, all too short or mere stop words. Attack documents that hold something to protect, or "
            "mark it and name the marks with --gold-field."
        )
    return index


def detect_all(
    detector: EntityDetector, documents: Sequence[Document], progress: Progress
) -> list[list[Entity]]:
    """The detected entities of each document, in batches."""
    found: list[list[Entity]] = []
    for first in range(0, len(documents), _BATCH):
        progress("detecting", first, len(documents))
        found += detector.detect(documents[first : first + _BATCH])
    progress("detecting", len(documents), len(documents))
    return found
