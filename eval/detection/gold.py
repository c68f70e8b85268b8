"""What corpora know beyond marked mentions, read from their own files."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.detection.measures import MarkedEntity
from eval.detection.spans import Ends
from ingest.documents import Document, Entity, Identifier, Span
from ingest.errors import UnreadableDocument
from ingest.read.paths import shown
from ingest.read.records import read_records

SPIA_FILES = {"spia_cases": "tab_dev.jsonl", "spia_posts": "panorama_entities.jsonl"}
TAB_FILE = Path("tab", "dev.jsonl")
RELEASED_FILE = Path("tab", "presidio_baseline_spans_dev.json")
STRAY = 4
"""By how many characters an offset may miss the words that it is about, and still be mended."""

_STRENGTH = ("DIRECT", "QUASI", "NO_MASK")


class Row(BaseModel):
    """A record of a corpus; fields that nothing is asked about are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


AnyRow = TypeVar("AnyRow", bound=Row)


class _SpiaMention(Row):
    entity_id: str
    identifier_type: str
    start_offset: int
    end_offset: int
    span_text: str = Field(repr=False)


class _SpiaRow(Row):
    text: str = Field(repr=False)
    entities: tuple[_SpiaMention, ...] = Field(repr=False)


class _TabRow(Row):
    doc_id: str
    text: str = Field(repr=False)


def rows(path: Path, kind: type[AnyRow]) -> Iterator[AnyRow]:
    """The records of a JSON-lines file, plain or compressed.

    Raises:
        UnreadableDocument: The file cannot be read, or a record lacks a field or has a wrong one.
    """
    try:
        for number, fields in read_records(str(path)):
            try:
                yield kind.model_validate(fields)
            except ValidationError as error:
                # The message of the error could quote the record.
                where = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
                raise UnreadableDocument(
                    f"{shown(path)}, line {number:,}",
                    f"has no usable field {where}; take the corpus as it was published",
                ) from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> UnreadableDocument:
    reason = error.strerror or type(error).__name__
    return UnreadableDocument(shown(path), f"could not be read ({reason}); check the data folder")


def spia_entities(folder: Path, corpus: str) -> dict[str, tuple[MarkedEntity, ...]]:
    """The entities of each text of ``spia_cases`` or ``spia_posts``; ``kind`` is DIRECT, QUASI or NO_MASK.

    An entity is of the strongest kind that any of its mentions has, and all its mentions belong to it.
    """
    path = folder / "spia" / SPIA_FILES[corpus]
    return {row.text: _entities(row) for row in rows(path, _SpiaRow)}


def _entities(row: _SpiaRow) -> tuple[MarkedEntity, ...]:
    kinds: dict[str, set[str]] = {}
    mentions: dict[str, list[Ends]] = {}
    for mention in row.entities:
        place = _mended(row.text, mention)
        if place is not None:
            kinds.setdefault(mention.entity_id, set()).add(mention.identifier_type)
            mentions.setdefault(mention.entity_id, []).append(place)
    return tuple(
        MarkedEntity(next((k for k in _STRENGTH if k in kinds[each]), "unknown"), tuple(places))
        for each, places in mentions.items()
    )


def _mended(text: str, mention: _SpiaMention) -> Ends | None:
    """Where the words of a mention stand; None if they do not stand near where they should."""
    words, start = mention.span_text, mention.start_offset
    near = [place for place in range(start - STRAY, start + STRAY + 1) if place >= 0]
    found = [place for place in near if words and text.startswith(words, place)]
    nearest = min(found, key=lambda place: abs(place - start), default=None)
    return None if nearest is None else (nearest, nearest + len(words))


class ReleasedSpans:
    """Spans that somebody else's detector found in the benchmark's cases, as a detector of those alone."""

    name = "Presidio, released spans"
    corpora = frozenset(("tab", "spia_cases"))

    def __init__(self, spans: dict[str, list[Entity]]) -> None:
        self._spans = spans

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The released spans of each document, known by its text; none for a text that is not known."""
        return [self._spans.get(document.text, []) for document in documents]


def released_spans(folder: Path) -> ReleasedSpans | None:
    """The released spans of stock Presidio; None if the folder does not have them.

    Raises:
        UnreadableDocument: They are there and cannot be read, or are no spans.
    """
    path, cases = folder / RELEASED_FILE, folder / TAB_FILE
    if not (path.is_file() and cases.is_file()):
        return None
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        spans = {
            case: [_released(int(start), int(end), str(label)) for start, end, label in triples]
            for case, triples in listed.items()
        }
    except OSError as error:
        raise _unreadable(path, error) from None
    except (AttributeError, TypeError, ValueError):
        raise UnreadableDocument(
            shown(path), "does not hold [start, end, label] lists by case; take the file as it was published"
        ) from None
    return ReleasedSpans({row.text: spans.get(row.doc_id, []) for row in rows(cases, _TabRow)})


def _released(start: int, end: int, label: str) -> Entity:
    return Entity(Span(start, end), label, Identifier.QUASI, 1.0, ReleasedSpans.name)
