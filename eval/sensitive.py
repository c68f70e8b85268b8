"""What counts as sensitive in an original document: what a detector found, or what people marked."""

from collections.abc import Mapping, Sequence

from eval.documents import SensitiveEntity
from eval.measures.leakage import normalized
from ingest.documents import Document, Entity, Identifier
from ingest.errors import UnreadableDocument
from ingest.labels import label_of
from ingest.read.normalize import fixed_text

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
"""The types of the Text Anonymization Benchmark. It decides direct or quasi by mention; without that
decision, names and codes are taken as direct."""

NOT_SENSITIVE = "no_mask"


def sensitive_from_entities(document: Document, entities: Sequence[Entity]) -> list[SensitiveEntity]:
    """What a detector found in the original, as the reference of an audit."""
    return [
        SensitiveEntity(
            document.doc_id,
            document.text[entity.span.start : entity.span.end],
            entity.label,
            entity.identifier,
        )
        for entity in entities
    ]


def sensitive_from_gold(document: Document, rows: Sequence[Mapping[str, object]]) -> list[SensitiveEntity]:
    """What people marked in the original.

    A row has a ``text``, or ``start`` and ``end`` in the document; a ``label`` or a ``type``, either
    may be a TAB type; and possibly an ``identifier`` (direct, quasi, attribute), without which the
    label decides. Rows marked NO_MASK are not sensitive and left out.

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
        identifier = _identifier(named, place) if named else usual
        text = _text(document, row, place)
        # What the original does not say can never come out: it would count as protected.
        if normalized(text) not in said:
            raise UnreadableDocument(
                place, "its text does not stand in the document: copy it from there, or leave the row out"
            )
        found.append(SensitiveEntity(document.doc_id, text, label, identifier))
    return found


def _label(row: Mapping[str, object], place: str) -> tuple[str, Identifier]:
    name = row.get("label", row.get("type"))
    if not isinstance(name, str) or not name:
        raise UnreadableDocument(place, "it has no label: give a label or a type")
    if name in TAB_TYPES:
        return TAB_TYPES[name]
    return name, label_of(name).identifier


def _identifier(named: str, place: str) -> Identifier:
    try:
        return Identifier(named)
    except ValueError:
        raise UnreadableDocument(
            place, "its identifier is unknown: give direct, quasi, attribute or NO_MASK"
        ) from None


def _text(document: Document, row: Mapping[str, object], place: str) -> str:
    text = row.get("text")
    if isinstance(text, str) and text:
        return fixed_text(text)
    start, end = row.get("start"), row.get("end")
    if not isinstance(start, int) or not isinstance(end, int):
        raise UnreadableDocument(place, "it has no text: give a text, or start and end")
    if not 0 <= start < end <= len(document.text):
        raise UnreadableDocument(
            place, f"[{start}, {end}) is no place in its {len(document.text)} characters"
        )
    return document.text[start:end]
