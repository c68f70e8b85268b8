"""The hybrid detector: patterns win for rigid identifiers; all else is the union of all sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.detection.fields import Field, fields_of, with_fields
from ingest.detection.hl7_fields import names_with_carets, with_messages
from ingest.detection.overlaps import strictest, uncovered
from ingest.detection.patterns.find import find_patterns
from ingest.detection.reading import ReadingDetector
from ingest.detection.repeats import repeats
from ingest.documents import Document, Entity, Span
from ingest.labels import label_of
from ingest.language.disguises import PASSAGE_END, View, view_of
from ingest.language.plain_letters import plain
from ingest.protocols import EntityDetector

if TYPE_CHECKING:
    from models.reader.reader import Told

_BEFORE = 24
"""Characters."""


class HybridDetector:
    """Patterns with checksums, and a model unless there is none.

    Other sources' mentions inside a rigid identifier are dropped: they could only mislabel text that is
    replaced anyway. Of mentions with the same span the one with the riskiest label is kept. All other
    overlaps are kept, for decisions to resolve. All repetitions of a name are found. What a
    ``ReadingDetector`` or a pattern of no rigid format finds has its need.

    What stands in fields follows from their names and cells (``ingest.detection.fields``), and ``fields`` are
    kinds that a user names for some. Names of fields stay as they are.

    All sources read letters and digits in plain form, and also the decoded view of disguised text: a match
    there becomes a mention of the characters that encode it.
    """

    def __init__(
        self, model: EntityDetector | None = None, *, fields: Mapping[str, str] | None = None
    ) -> None:
        self._model = model
        self._fields = fields

    @property
    def name(self) -> str:
        """The names of all parts, for reports."""
        return "patterns" + (f"+{self._model.name}" if self._model else "")

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The unlinked mentions of each document, in text order."""
        plainly = [replace(document, text=plain(document.text)) for document in documents]
        views = [view_of(document.text) for document in plainly]
        disguised = zip(documents, views, strict=True)
        behind = [replace(document, text=view.text) for document, view in disguised if view]
        read = self._by_model([*plainly, *behind])
        fields = [fields_of(document.text, self._fields) for document in (*plainly, *behind)]
        found = [
            self._in_one(document.text, there, *of_model)
            for document, there, of_model in zip([*plainly, *behind], fields, read, strict=True)
        ]
        hidden = iter(found[len(plainly) :])
        everywhere = [
            _everywhere(document.text, direct, (view, next(hidden)) if view else None)
            for document, view, direct in zip(plainly, views, found, strict=False)
        ]
        return [
            with_fields(document.text, entities, there)
            for document, entities, there in zip(plainly, everywhere, fields, strict=False)
        ]

    def likely_same(self, text: str, spans: Sequence[Span]) -> list[list[int]] | None:
        """For each mention of a name the earlier ones that are likely the same; None without a reader."""
        model = self._model
        return model.likely_same(plain(text), spans) if isinstance(model, ReadingDetector) else None

    def _in_one(
        self, text: str, fields: Sequence[Field], found: Sequence[Entity], told: "Told | None"
    ) -> list[Entity]:
        patterns = find_patterns(text)
        if told is not None:
            patterns = _needed(patterns, told)
        united = _united(patterns, [*names_with_carets(text), *found])
        return with_messages(text, with_fields(text, united, fields))

    def _by_model(self, documents: Sequence[Document]) -> "list[tuple[list[Entity], Told | None]]":
        if self._model is None:
            return [([], None) for _ in documents]
        if isinstance(self._model, ReadingDetector):
            return list(self._model.judged(documents))
        return [(entities, None) for entities in self._model.detect(documents)]


def _needed(patterns: Sequence[Entity], told: "Told") -> list[Entity]:
    """What patterns found, with its need where no format settles that it has to go."""
    return [
        each if label_of(each.label).rigid else replace(each, need=told.at(each.span.start, each.span.end))
        for each in patterns
    ]


def _everywhere(
    text: str, found: Sequence[Entity], below: tuple[View, Sequence[Entity]] | None
) -> list[Entity]:
    """The mentions found in a text and in its view, and all repetitions of their names in either."""
    if below is None:
        return _by_place([*found, *repeats(text, found)])
    view, hidden = below
    there = [*hidden, *repeats(view.text, hidden, (text, found))]
    here = [*found, *repeats(text, found, (view.text, hidden))]
    return _united(here, list(_uncovered(text, view, there)))


def _uncovered(text: str, view: View, entities: Sequence[Entity]) -> Iterator[Entity]:
    """The mentions of a view that are disguised in the text, mapped back to the text.

    The context before a mention counts too, since it may have triggered the match.
    """
    for entity in entities:
        seen, span = entity.span, view.original(entity.span)
        said = view.text[max(0, seen.start - _BEFORE) : seen.end]
        hidden = said != text[max(0, span.start - _BEFORE) : span.end]
        if hidden and PASSAGE_END not in view.text[seen.start : seen.end]:
            yield entity.at(span)


def _united(patterns: Sequence[Entity], others: Sequence[Entity]) -> list[Entity]:
    rigid = {id(entity) for entity in patterns if label_of(entity.label).rigid}
    inner = {id(entity) for entity in others}
    kept = uncovered([*patterns, *others], lambda one, other: id(one) in rigid and id(other) in inner)
    return _by_place(kept)


def _by_place(entities: Iterable[Entity]) -> list[Entity]:
    return sorted(strictest(entities).values(), key=lambda entity: entity.span)
