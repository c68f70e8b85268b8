"""The bulk pipeline: what was read, sanitized in bounded batches, into a sink."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingest.documents import Document, SanitizedDocument
from ingest.errors import SanitizationError, UnreadableDocument
from ingest.keys import content_key
from ingest.protocols import Arrival, Sanitizer, Sink, Standing
from ingest.read.sources import Reading

FAILURES_TOLD = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """How much text is held at a time; a batch ends when either number is reached."""

    documents: int = 32
    characters: int = 200_000


@dataclass(frozen=True, slots=True)
class Failure:
    """What was not kept and why, without a word of it."""

    place: str
    reason: str


@dataclass(slots=True)
class Tally:
    """What a run has done so far."""

    read: int = 0
    kept: int = 0
    replaced: int = 0
    duplicates: int = 0
    failed: int = 0
    passages: int = 0
    characters: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    sampled: int = 0
    """Documents measured for fitting a scale, before any is carried over."""
    entities: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    """The first ``FAILURES_TOLD`` of them; ``failed`` counts all."""

    def summary(self) -> Mapping[str, object]:
        """The run in numbers, ready for JSON."""
        return {
            "documents_read": self.read,
            "documents_kept": self.kept,
            "documents_replaced": self.replaced,
            "duplicates_skipped": self.duplicates,
            "documents_failed": self.failed,
            "failures": [{"place": each.place, "reason": each.reason} for each in self.failures],
            "entities": dict(sorted(self.entities.items())),
            "passages": self.passages,
            "characters": self.characters,
            "seconds": round(self.seconds, 2),
            "characters_per_second": round(self.characters / self.seconds) if self.seconds else 0,
        }

    def fail(self, place: str, reason: str) -> None:
        """Count a failure and keep it if there is room."""
        self.failed += 1
        if len(self.failures) < FAILURES_TOLD:
            self.failures.append(Failure(place, reason))


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Reading to sink. ``public_ids`` turns the ids of documents into ids that reveal nobody."""

    sanitizer: Sanitizer
    public_ids: Callable[[Sequence[str]], Sequence[str]]
    key: bytes = field(repr=False)
    limits: Limits

    def run(
        self,
        readings: Iterable[Reading],
        sink: Sink,
        on_progress: Callable[[Tally], None] = lambda tally: None,
    ) -> Tally:
        """Carry everything over; what cannot be read or sanitized is told and left out."""
        tally, started = Tally(), time.perf_counter()
        for batch in batches(self._readable(readings, tally), self.limits):
            self._carry(batch, sink, tally)
            tally.seconds = time.perf_counter() - started
            on_progress(tally)
        tally.seconds = time.perf_counter() - started
        on_progress(tally)
        return tally

    def _readable(self, readings: Iterable[Reading], tally: Tally) -> Iterator[Document]:
        for reading in readings:
            tally.bytes_read = reading.bytes_read
            if isinstance(reading.item, UnreadableDocument):
                tally.fail(reading.item.place, reading.item.reason)
            else:
                tally.read += 1
                tally.characters += len(reading.item.text)
                yield reading.item

    def _carry(self, batch: Sequence[Document], sink: Sink, tally: Tally) -> None:
        ids = self.public_ids([document.doc_id for document in batch])
        waiting = [
            (Arrival(doc_id, content_key(document.text, self.key)), replace(document, doc_id=doc_id))
            for doc_id, document in zip(ids, batch, strict=True)
        ]
        while waiting:
            standings = sink.standing([arrival for arrival, _ in waiting])
            now, waiting = waiting[: len(standings)], waiting[len(standings) :]
            fresh: list[_Fresh] = []
            for (arrival, document), standing in zip(now, standings, strict=True):
                if standing is Standing.DUPLICATE:
                    tally.duplicates += 1
                elif standing is Standing.CLASH:
                    tally.fail(arrival.doc_id, _CLASH)
                else:
                    fresh.append(_Fresh(arrival, document, standing is Standing.CHANGED))
            self._keep(fresh, sink, tally)

    def _keep(self, fresh: Sequence["_Fresh"], sink: Sink, tally: Tally) -> None:
        outcomes = self.sanitizer.sanitize([each.document for each in fresh])
        kept: list[tuple[Arrival, SanitizedDocument]] = []
        replaced = 0
        for each, outcome in zip(fresh, outcomes, strict=True):
            if isinstance(outcome, SanitizationError):
                tally.fail(each.arrival.doc_id, _failed(outcome, each.replaces))
            else:
                kept.append((each.arrival, outcome))
                replaced += each.replaces
        if kept:
            tally.passages += sink.keep(kept)
            tally.kept += len(kept)
            tally.replaced += replaced
        for _, outcome in kept:
            tally.entities.update(str(decision.action) for decision in outcome.decisions)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """A document to be sanitized, and whether an earlier version of it is kept."""

    arrival: Arrival
    document: Document
    replaces: bool


_CLASH = (
    "another document of this run has the same id. Give every document its own, or name the field that "
    "holds it with --id-field."
)


def _failed(error: SanitizationError, replaces: bool) -> str:
    if not replaces:
        return str(error)
    return (
        f"document {error.doc_id} was not indexed: {error.step} failed ({error.kind}); the version kept "
        "before stays. Erase it if it must go."
    )


def batches(documents: Iterable[Document], limits: Limits) -> Iterator[list[Document]]:
    """Documents in order, in batches that stay within the limits; a longer document is a batch alone."""
    batch: list[Document] = []
    characters = 0
    for document in documents:
        full = len(batch) >= limits.documents or characters + len(document.text) > limits.characters
        if batch and full:
            yield batch
            batch, characters = [], 0
        batch.append(document)
        characters += len(document.text)
    if batch:
        yield batch
