"""A detector wrapper that applies users' own lists and patterns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.detection.overlaps import strictest
from ingest.detection.own.lists import OwnEntities
from ingest.detection.own.patterns import ready
from ingest.documents import Document, Entity, Span
from ingest.labels import VAGUE, label_of
from ingest.language.phrases import Cover, Phrases, Words, any_gap, same_gap, words_of
from ingest.protocols import EntityDetector, likely_same

DENIED = "own:deny-list"
_PATTERN = "pattern:"
_POSSESSIVE = re.compile(r"['’]s\b")


class OwnDetector:
    """A detector's mentions, minus allowed strings, plus denied strings and pattern matches."""

    def __init__(self, detector: EntityDetector, own: OwnEntities) -> None:
        denied = [(entry, label) for label, entries in own.deny.items() for entry in entries]
        # of several labels for one entry the riskiest counts
        denied.sort(key=lambda pair: (-label_of(pair[1]).risk, pair[1]))
        self._detector = detector
        self._allow = Phrases(own.allow, same_gap)
        self._deny = Phrases([entry for entry, _ in denied], any_gap)
        self._labels = [label for _, label in denied]
        self._patterns = [ready(each) for each in own.patterns]

    @property
    def name(self) -> str:
        """The detector's name, with a suffix for own entities."""
        return f"{self._detector.name}+own"

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The unlinked mentions of each document, in text order.

        Raises:
            TimeoutError: A pattern takes too long for one of these documents.
        """
        found = self._detector.detect(documents)
        return [self._in_one(each.text, those) for each, those in zip(documents, found, strict=True)]

    def likely_same(self, text: str, spans: Sequence[Span]) -> Sequence[Sequence[int]] | None:
        """What the detector knows of mentions that are likely the same."""
        return likely_same(self._detector, text, spans)

    def _in_one(self, text: str, found: Sequence[Entity]) -> list[Entity]:
        words = words_of(text)
        allowed = Cover(_with_possessive(text, span) for span, _ in self._allow.found(words))
        matched = [entity for pattern in self._patterns for entity in pattern.found(text)]
        left = [each for each in (*found, *matched) if _is_sure(each) or not allowed.holds(each.span)]
        return _with_denied(left, self._denied(words))

    def _denied(self, words: Words) -> Iterator[Entity]:
        for span, number in self._deny.found(words):
            label = self._labels[number]
            yield Entity(span, label, label_of(label).identifier, 1.0, DENIED, required=True)


def _is_sure(entity: Entity) -> bool:
    """Whether a mention remains an entity even if its string is allowed."""
    return entity.required or (entity.source.startswith(_PATTERN) and label_of(entity.label).rigid)


def _with_possessive(text: str, span: Span) -> Span:
    ending = _POSSESSIVE.match(text, span.end)
    return Span(span.start, ending.end()) if ending else span


def _with_denied(found: Sequence[Entity], denied: Iterator[Entity]) -> list[Entity]:
    """Merge both, one entity per span: own entities first, then the riskiest label.

    A denied string without a label takes the label of the detected mention, if there is one.
    """
    chosen = strictest(found)
    for each in denied:
        known = chosen.get(each.span)
        chosen[each.span] = replace(known, required=True) if known and each.label == VAGUE else each
    return sorted(chosen.values(), key=lambda each: each.span)
