"""Annotations beyond mentions, read from the files of the corpora."""

import json
from collections.abc import Sequence
from pathlib import Path

from eval.studies.detection.measures import MarkedEntity
from eval.studies.detection.spans import Ends
from ingest.documents import Document, Entity, Identifier, Span
from ingest.errors import UnreadableDocument
from ingest.read.paths import shown
from models.corpora.documents import POSTS, TAB_FILE, MarkedText, nearest, spia_texts, tab_cases
from models.errors import ConfigurationError

SPIA_FILES = {"spia_cases": "tab_dev.jsonl", "spia_posts": f"{POSTS}.jsonl"}
RELEASED_FILE = Path("tab", "presidio_baseline_spans_dev.json")

_STRENGTH = ("DIRECT", "QUASI", "NO_MASK")


def _unreadable(path: Path, error: OSError) -> UnreadableDocument:
    reason = error.strerror or type(error).__name__
    return UnreadableDocument(shown(path), f"could not be read ({reason}); check the data folder")


def spia_entities(folder: Path, corpus: str) -> dict[str, tuple[MarkedEntity, ...]]:
    """The entities of each text of ``spia_cases`` or ``spia_posts``; ``kind`` is DIRECT, QUASI or NO_MASK.

    An entity has the strongest kind of its mentions.

    Raises:
        ConfigurationError: A file cannot be read, or a mention has no entity id.
    """
    texts = list(spia_texts(folder, SPIA_FILES[corpus].removesuffix(".jsonl")))
    if not all(mark.entity and mark.identifier for text in texts for mark in text.marks):
        raise ConfigurationError(
            f"{corpus}: a mention of {SPIA_FILES[corpus]} has no entity_id or no identifier_type; "
            "take the corpus as it was published."
        )
    return {text.text: _entities(text) for text in texts}


def _entities(text: MarkedText) -> tuple[MarkedEntity, ...]:
    kinds: dict[str, set[str]] = {}
    mentions: dict[str, list[Ends]] = {}
    for mark in text.marks:
        start = nearest(text.text, mark)
        if start is not None:
            kinds.setdefault(mark.entity, set()).add(mark.identifier)
            mentions.setdefault(mark.entity, []).append((start, start + len(mark.words)))
    return tuple(
        MarkedEntity(next((k for k in _STRENGTH if k in kinds[each]), "unknown"), tuple(places))
        for each, places in mentions.items()
    )


class ReleasedSpans:
    """Published spans of another detector on the benchmark's cases, as a detector for these cases."""

    name = "Presidio, released spans"
    corpora = frozenset(("tab", "spia_cases"))

    def __init__(self, spans: dict[str, list[Entity]]) -> None:
        self._spans = spans

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The released spans of each document, by its text; none for other texts."""
        return [self._spans.get(document.text, []) for document in documents]


def released_spans(folder: Path) -> ReleasedSpans | None:
    """The released spans of stock Presidio; None if they are not in the folder.

    Raises:
        UnreadableDocument: They are there and cannot be read, or are no spans.
    """
    path = folder / RELEASED_FILE
    if not (path.is_file() and (folder / TAB_FILE).is_file()):
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
    return ReleasedSpans({case.text: spans.get(case.id, []) for case in tab_cases(folder)})


def _released(start: int, end: int, label: str) -> Entity:
    return Entity(Span(start, end), label, Identifier.QUASI, 1.0, ReleasedSpans.name)
