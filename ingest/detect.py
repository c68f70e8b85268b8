"""The hybrid detector: patterns win on their types, everything else is the union of what was found."""

from collections.abc import Sequence

from ingest.documents import Document, Entity
from ingest.labels import label_of
from ingest.patterns.find import find_patterns
from ingest.protocols import EntityDetector
from ingest.rules.find import find_by_rules


class HybridDetector:
    """Patterns with checksums, rules and word lists, and a learned detector where there is one.

    Where a rigid identifier was found by its pattern, other sources' mentions inside it are dropped: they
    could only mislabel what is generalized anyway. All other overlaps stay, for decisions to resolve.
    """

    def __init__(self, learned: EntityDetector | None = None) -> None:
        self._learned = learned

    @property
    def name(self) -> str:
        """Every part by name, so that a report says what found its entities."""
        return "patterns+rules" + (f"+{self._learned.name}" if self._learned else "")

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        """The mentions of each document in the order of the text, not linked yet."""
        found = self._learned.detect(documents) if self._learned else [[] for _ in documents]
        return [
            _united(find_patterns(document.text), [*find_by_rules(document.text), *others])
            for document, others in zip(documents, found, strict=True)
        ]


def _united(patterns: Sequence[Entity], others: Sequence[Entity]) -> list[Entity]:
    rigid = sorted(
        (entity.span for entity in patterns if label_of(entity.label).rigid), key=lambda s: s.start
    )
    kept: list[Entity] = list(patterns)
    waiting = 0
    for entity in sorted(others, key=lambda e: e.span):
        while waiting < len(rigid) and rigid[waiting].end <= entity.span.start:
            waiting += 1
        holder = rigid[waiting] if waiting < len(rigid) else None
        if holder is None or not (holder.start <= entity.span.start and entity.span.end <= holder.end):
            kept.append(entity)
    # Two sources with the same span and label say one thing.
    unique = {(e.span, e.label): e for e in sorted(kept, key=lambda e: e.confidence)}
    return sorted(unique.values(), key=lambda e: (e.span, e.label))
