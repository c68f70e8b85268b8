"""An ingest that writes nothing: it counts documents, failures and decisions.

Its report may be kept for long, so no word that it counts as replaced stands in it. A replacement may say a
part of what it replaces, such as the year of a date; the samples do not.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.data_dir import DataDir
from app.ingesting import arriving, nothing_kept, pipeline, plan, refuse_raw_text
from ingest.detection.fields import fields_of, is_fixed
from ingest.documents import Arrival, Document, SanitizedDocument, Standing
from ingest.errors import SanitizationError
from ingest.pipeline import Tally, at_once
from ingest.read.reading import Reading
from retrieval.passages import passages_of, treated_in
from retrieval.store.database import CutDocument, Store
from retrieval.system import System

FUNCTION_WORDS = frozenset(
    ("a", "the", "this", "that", "these", "those", "of", "and", "or", "in", "on", "at", "to", "for", "by")
    + ("with", "from", "as", "is", "was", "are", "were", "be", "been", "its", "if", "so", "then", "there")
    + ("here", "when", "where", "while", "s", "t", "o", "ma", "am", "hm", "hmm", "um", "uh", "okay", "okey")
)
"""In lower case, in which none is an initial."""
SAMPLES = 3
"""Most sample replacements of one kind of decision."""
MASK = "…"
"""Stands in a sample for a word of the original."""

_WORD = re.compile(r"\w+(?:[.,'’/-]\w+)*")


@dataclass(frozen=True, slots=True)
class Kind:
    """Decisions with the same label, action and reason."""

    identifier: str
    label: str
    action: str
    reason: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of decisions by kind, with sample replacements (``sample_of``)."""

    mentions: Counter[Kind] = field(default_factory=Counter)
    replacements: dict[Kind, list[str]] = field(default_factory=dict)
    fields: Counter[tuple[str, str]] = field(default_factory=Counter, repr=False)
    """How many values stand in fields by name and kind; ``MASK`` is a name that may be a person's."""

    def summary(self) -> Mapping[str, object]:
        """Decisions by kind, and the fields with what stands in them, ready for JSON."""
        fields = sorted(self.fields.items())
        return {
            "decisions": self.rows(),
            "fields": [{"field": name, "kind": kind, "values": count} for (name, kind), count in fields],
        }

    def rows(self) -> list[Mapping[str, object]]:
        """A row for each kind, the most frequent first."""
        return [
            {
                "identifier": kind.identifier,
                "label": kind.label,
                "action": kind.action,
                "reason": kind.reason,
                "mentions": count,
                "replacements": self.replacements[kind],
            }
            for kind, count in self.mentions.most_common()
        ]


def dry_run(
    system: System,
    data: DataDir,
    name: str,
    readings: Iterable[Reading],
    on_progress: Callable[[Tally], None] = lambda tally: None,
) -> tuple[Tally, Counted]:
    """What an ingest would do with these readings; documents of an existing collection are ignored.

    Raises:
        ConfigurationError: The policy would index raw text.
        CollectionError: The collection was made with other models or another policy.
    """
    refuse_raw_text(system)
    planned, counted = plan(system, data, name, readings, on_progress), Counted()
    if planned.manifest is None:
        return nothing_kept(planned.readings, on_progress), counted
    sanitizer = planned.here(system).sanitizer()
    no_vectors = np.empty((0, system.encoder.dim), np.float32)

    def prepare(documents: Sequence[Document]) -> list[CutDocument | SanitizationError]:
        for document in documents:
            for each in fields_of(document.text, data.settings.detector.fields):
                named = all(map(is_fixed, each.path))
                if each.values:
                    counted.fields[".".join(each.path) if named else MASK, each.kind] += len(each.values)
        return [
            CutDocument(
                _with_samples(each, document.text),
                passages_of(each.text, treated_in(each), system.encoder, system.passage_tokens),
                no_vectors,
            )
            if isinstance(each, SanitizedDocument)
            else each
            for document, each in zip(documents, sanitizer.sanitize(documents), strict=True)
        ]

    run = pipeline(at_once(prepare), data.settings).run
    return run(arriving(planned.readings, data), _Counting(counted), on_progress), counted


def sample_of(replacement: str, mention: str) -> str:
    """The words that replace a mention, with ``MASK`` for each that stands in it; "the" and the like stay."""

    def masked(word: re.Match[str]) -> str:
        if word[0] in FUNCTION_WORDS:
            return word[0]
        stands = re.search(rf"(?<!\w){re.escape(word[0])}(?!\w)", mention, re.IGNORECASE)
        return MASK if stands else word[0]

    return _WORD.sub(masked, replacement)


def _with_samples(document: SanitizedDocument, text: str) -> SanitizedDocument:
    """The document with samples for replacements; ``text`` is the original."""
    decisions = [
        replace(each, replacement=sample_of(each.replacement, text[span.start : span.end]))
        for each in document.decisions
        for span in [each.entity.span]
    ]
    return replace(document, decisions=decisions)


class _Counting:
    """A sink that counts decisions and forgets texts; ids and digests lie in memory, for duplicates."""

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self._store = Store(None)
        self._job_id = self._store.start_job()

    def standing(self, arrivals: Sequence[Arrival]) -> list[Standing]:
        return self._store.standing(self._job_id, arrivals)

    def keep(self, documents: Sequence[tuple[Arrival, CutDocument]]) -> int:
        """Count a batch; returns its number of passages."""
        for _, cut in documents:
            self._count(cut.document)
        bare = [
            (arrival, CutDocument(replace(cut.document, text="", decisions=(), places=()), (), cut.vectors))
            for arrival, cut in documents
        ]
        self._store.write(self._job_id, bare)
        return sum(len(cut.passages) for _, cut in documents)

    def _count(self, document: SanitizedDocument) -> None:
        for decision in document.decisions:
            entity = decision.entity
            kind = Kind(str(entity.identifier), entity.label, str(decision.action), decision.reason)
            self._counted.mentions[kind] += 1
            shown = self._counted.replacements.setdefault(kind, [])
            sample = decision.replacement
            # One of which no word is left tells nothing.
            if sample.strip(f"{MASK} ") and sample not in shown and len(shown) < SAMPLES:
                shown.append(sample)
