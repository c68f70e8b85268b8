"""The hybrid detector: patterns win on their types, everything else is the union of what was found."""

from collections.abc import Sequence

from ingest.documents import Document, Entity, Span
from ingest.labels import label_of
from ingest.patterns.find import find_patterns
from ingest.protocols import EntityDetector
from ingest.repeats import repeats
from ingest.rules.find import find_by_rules

BARE_LISTS = frozenset({"rule:job-list"})
"""Sources that take a word for what it may be, wherever it stands: a model reads what is around it.

Of the lawyers and police officers of court cases hardly one is somebody's job.
"""


class HybridDetector:
    """Patterns with checksums, rules and word lists, and a learned detector where there is one.

    Where a rigid identifier was found by its pattern, other sources' mentions inside it are dropped: they
    could only mislabel what is generalized anyway. Of mentions with one and the same span the one with the
    riskiest label is kept. All other overlaps stay, for decisions to resolve. Names are found wherever the
    text repeats them. Beside a learned detector bare lists are not asked.
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
            self._in_one(document.text, others) for document, others in zip(documents, found, strict=True)
        ]

    def _in_one(self, text: str, learned: Sequence[Entity]) -> list[Entity]:
        found = _united(find_patterns(text), [*self._by_rules(text), *learned])
        return _strictest([*found, *repeats(text, found)])

    def _by_rules(self, text: str) -> list[Entity]:
        unasked = BARE_LISTS if self._learned else frozenset()
        return [entity for entity in find_by_rules(text) if entity.source not in unasked]


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
    return _strictest(kept)


def _strictest(entities: Sequence[Entity]) -> list[Entity]:
    """One entity for each span: what the sources call it is one thing, and the riskiest name counts.

    Left side by side, its hazard would be added up as if the text said it several times.
    """
    chosen: dict[Span, Entity] = {}
    for entity in sorted(entities, key=_strictness):
        chosen[entity.span] = entity
    return sorted(chosen.values(), key=lambda e: e.span)


def _strictness(entity: Entity) -> tuple[bool, float, float, str, str]:
    label = label_of(entity.label)
    return label.rigid, label.risk, entity.confidence, entity.label, entity.source
