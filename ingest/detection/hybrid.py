"""The hybrid detector: patterns win for rigid identifiers; all else is the union of all sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.detection.doubts import doubts_of
from ingest.detection.fields import Field, fields_of, off_names, with_fields
from ingest.detection.hl7_fields import names_with_carets, with_messages
from ingest.detection.kinds import with_kinds
from ingest.detection.learned import LearnedDetector
from ingest.detection.needs import with_needs
from ingest.detection.overlaps import strictest, uncovered
from ingest.detection.patterns.find import find_patterns
from ingest.detection.repeats import repeats
from ingest.detection.rules.find import find_by_rules
from ingest.detection.structured import by_fields
from ingest.documents import Document, Entity
from ingest.labels import label_of
from ingest.language.disguises import PASSAGE_END, View, view_of
from ingest.language.plain_letters import plain
from ingest.protocols import EntityDetector

if TYPE_CHECKING:
    from models.detectors.need import WordNeeds

BARE_LISTS = frozenset({"rule:job-list"})
"""Context-free word lists, not used beside a model, which reads the context.

Example: in court cases hardly any "lawyer" or "police officer" is the job of a party.
"""

_BEFORE = 24
"""Characters."""


class HybridDetector:
    """Patterns with checksums, rules and word lists, and an optional learned detector.

    Other sources' mentions inside a rigid identifier are dropped: they could only mislabel text that is
    replaced anyway. Of mentions with the same span the one with the riskiest label is kept. All other
    overlaps are kept, for decisions to resolve. All repetitions of a name are found. With a learned detector,
    plain word lists are not used, and where it reads what has to go, each mention has its need. Texts with
    doubts (``ingest.detection.doubts``) are read by ``careful`` instead of ``learned``.

    What stands in fields follows from their names and cells (``ingest.detection.fields``), and ``fields`` are
    kinds that a user names for some. Names of fields stay as they are.

    All sources read letters and digits in plain form, and also the decoded view of disguised text: a match
    there becomes a mention of the characters that encode it.
    """

    def __init__(
        self,
        learned: EntityDetector | None = None,
        careful: EntityDetector | None = None,
        *,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        self._learned = learned
        self._fields = fields
        self._careful = careful or learned

    @property
    def name(self) -> str:
        """The names of all parts, for reports."""
        return "patterns+rules" + (f"+{self._learned.name}" if self._learned else "")

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
            off_names(document.text, with_fields(document.text, entities, there), there)
            for document, entities, there in zip(plainly, everywhere, fields, strict=False)
        ]

    def _in_one(
        self, text: str, fields: Sequence[Field], learned: Sequence[Entity], needs: "WordNeeds | None"
    ) -> list[Entity]:
        found = _united(find_patterns(text), [*self._by_rules(text), *names_with_carets(text), *learned])
        if self._learned is not None and needs is not None:
            found = _by_place(with_needs(text, found, needs, self._learned.name))
        return with_messages(text, with_fields(text, by_fields(text, found), fields))

    def _by_model(self, documents: Sequence[Document]) -> "list[tuple[list[Entity], WordNeeds | None]]":
        if self._learned is None or self._careful is None:
            return [([], None) for _ in documents]
        doubts = [doubts_of(document.text) for document in documents]
        sure = [document for document, doubt in zip(documents, doubts, strict=True) if not doubt]
        doubtful = [document for document, doubt in zip(documents, doubts, strict=True) if doubt]
        learned, careful = iter(_read(self._learned, sure)), iter(_read(self._careful, doubtful))
        return [next(careful if doubt else learned) for doubt in doubts]

    def _by_rules(self, text: str) -> list[Entity]:
        unasked = BARE_LISTS if self._learned else frozenset()
        return [entity for entity in find_by_rules(text) if entity.source not in unasked]


def _read(
    detector: EntityDetector, documents: Sequence[Document]
) -> "list[tuple[list[Entity], WordNeeds | None]]":
    if isinstance(detector, LearnedDetector):
        return detector.judged(documents)
    return [(entities, None) for entities in detector.detect(documents)]


def _everywhere(
    text: str, found: Sequence[Entity], below: tuple[View, Sequence[Entity]] | None
) -> list[Entity]:
    """The mentions found in a text and in its view, and all repetitions of their names in either."""
    if below is None:
        return _by_place(with_kinds(text, [*found, *repeats(text, found)]))
    view, hidden = below
    there = [*hidden, *repeats(view.text, hidden, (text, found))]
    here = [*found, *repeats(text, found, (view.text, hidden))]
    return _united(here, by_fields(text, list(_uncovered(text, view, there))))


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
