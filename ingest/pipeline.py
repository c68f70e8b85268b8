"""The bulk pipeline: documents arrive, are sanitized in bounded batches, and are written to a sink.

What is stored of a document, and what is counted, is decided here alone, wherever it was sanitized.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import Generic, TypeVar

from ingest.documents import Arrival, Document, SanitizedDocument, Standing
from ingest.errors import SanitizationError, UnreadableDocument
from ingest.keys import content_key, source_of
from ingest.protocols import Outcomes, P, Prepare, Sink
from ingest.read.reading import Reading
from models.progress import reported_to

C = TypeVar("C")
"""What a document brings: the ``Document``, or its outcome where another machine prepared it."""
D = TypeVar("D")

Begin = Callable[[Sequence[C]], Callable[[], Outcomes[P]]]
"""Starts to prepare documents; the call of the result waits for the outcomes, in order."""

CHARACTERS_A_TOKEN = 4 / 6
"""Characters prepared for a token that a model has read: one has about four, and six passes read it."""
MAX_FAILURES = 100
KINDS_TOLD = 100
"""Maximum number of distinct unread parts, and of distinct doubts, that a report lists."""
_FURTHER = "further kinds"
_FIRST = 1 / 8
"""Share of the limits that the first batch of a run has: something is stored soon."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Batch size limits; a batch ends when it reaches either."""

    documents: int = 32
    characters: int = 200_000


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that was not stored and why, without its text."""

    place: str
    reason: str


@dataclass(slots=True)
class Tally:
    """Running counts of an ingest."""

    read: int = 0
    kept: int = 0
    replaced: int = 0
    duplicates: int = 0
    failed: int = 0
    passages: int = 0
    erased: int = 0
    """Documents whose files are gone, if folders are synchronized."""
    unsure: int = 0
    """Documents not seen in files that could not be read completely; they may be gone."""
    taken: int = 0
    """Documents that replaced another file's document with the same id."""
    characters: int = 0
    bytes_read: int = 0
    begun: int = 0
    """Characters of the documents that are being prepared."""
    worked: float = 0.0
    """How many of these are done, estimated by what the models have read."""
    seconds: float = 0.0
    sampled: int = 0
    """Documents measured to fit a scale, before any is stored."""
    entities: Counter[str] = field(default_factory=Counter)
    unread: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    """Unread parts of stored documents, by kind and reason."""
    documents_unread: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    doubts: Counter[str] = field(default_factory=Counter)
    """How many stored documents have each doubt."""
    failures: list[Failure] = field(default_factory=list)
    """The first ``MAX_FAILURES`` of them; ``failed`` counts all."""
    failed_sources: set[str] = field(default_factory=set, repr=False)
    """Origins of files and folders of which a part was not stored."""
    to_retry: set[str] = field(default_factory=set, repr=False)
    """Those that may be read again alone; where ids clash, that would take another file's document away."""

    @property
    def bytes_done(self) -> int:
        """The bytes read, without the part of documents that are still being prepared."""
        left = self.begun - min(self.worked, 0.99 * self.begun)
        return round(self.bytes_read * (1 - left / max(1, self.characters)))

    def summary(self) -> Mapping[str, object]:
        """The run in numbers, ready for JSON."""
        return {
            "documents_read": self.read,
            "documents_kept": self.kept,
            "documents_replaced": self.replaced,
            "documents_replaced_of_other_files": self.taken,
            "documents_erased": self.erased,
            "documents_not_checked": self.unsure,
            "duplicates_skipped": self.duplicates,
            "documents_failed": self.failed,
            "failures": [{"place": each.place, "reason": each.reason} for each in self.failures],
            "entities": dict(sorted(self.entities.items())),
            "not_read": [
                {
                    "kind": kind,
                    "count": count,
                    "reason": reason,
                    "read": read,
                    "documents": self.documents_unread[kind, reason, read],
                }
                for (kind, reason, read), count in sorted(self.unread.items())
            ],
            "doubts": dict(sorted(self.doubts.items())),
            "passages": self.passages,
            "characters": self.characters,
            "seconds": round(self.seconds, 2),
            "characters_per_second": round(self.characters / self.seconds) if self.seconds else 0,
        }

    def fail(self, place: str, reason: str, source: str = "", *, alone: bool = True) -> None:
        """Count a failure and keep it if there is room; ``source`` is the origin of its file.

        ``alone`` says whether the file may be read again without the others.
        """
        self.failed += 1
        self.failed_sources |= {source} - {""}
        self.to_retry |= {source} - {""} if alone else set()
        if len(self.failures) < MAX_FAILURES:
            self.failures.append(Failure(place, reason))

    def count(self, document: SanitizedDocument) -> None:
        """Count a stored document's decisions, unread parts and doubts."""
        self.entities.update(str(decision.action) for decision in document.decisions)
        parts = set()
        for each in document.unread:
            part = each.kind, each.reason, each.read
            if part not in self.unread and len(self.unread) >= KINDS_TOLD:
                part = _FURTHER, _FURTHER, False
            self.unread[part] += each.count
            parts.add(part)
        self.documents_unread.update(parts)
        for doubt in dict.fromkeys(document.doubts):
            told_apart = doubt in self.doubts or len(self.doubts) < KINDS_TOLD
            self.doubts[doubt if told_apart else _FURTHER] += 1


@dataclass(frozen=True, slots=True)
class Incoming(Generic[C]):
    """A document that asks to be stored, and where it was read."""

    arrival: Arrival
    place: str = field(repr=False)
    source: str = field(repr=False)
    characters: int
    content: C = field(repr=False)

    def bringing(self, content: D) -> "Incoming[D]":
        """The same document with other content."""
        return Incoming(self.arrival, self.place, self.source, self.characters, content)


@dataclass(frozen=True, slots=True)
class Arriving(Generic[C]):
    """A reading on its way to the sink; ``bytes_read`` as in ``Reading``."""

    item: Incoming[C] | UnreadableDocument
    bytes_read: int


@dataclass(frozen=True, slots=True)
class Intake:
    """Gives readings their public ids, which identify nobody, and the digests of their texts and files.

    A document that names no ``readers`` of its own gets these.
    """

    public_ids: Callable[[Sequence[str]], Sequence[str]] = field(repr=False)
    key: bytes = field(repr=False)
    readers: frozenset[str] = field(default=frozenset(), repr=False)

    def arriving(self, reading: Reading) -> Arriving[Document]:
        """The reading as the sink is asked about it."""
        if isinstance(reading.item, UnreadableDocument):
            return Arriving(reading.item, reading.bytes_read)
        (doc_id,) = self.public_ids([reading.item.doc_id])
        document = replace(reading.item, doc_id=doc_id, readers=reading.item.readers or self.readers)
        source = source_of(document.source, self.key) if document.source else None
        text_key = content_key(document.text, self.key, document.readers)
        arrival = Arrival(doc_id, text_key, source, document.readers)
        incoming = Incoming(arrival, document.place, document.source, len(document.text), document)
        return Arriving(incoming, reading.bytes_read)


@dataclass(frozen=True, slots=True)
class Pipeline(Generic[C, P]):
    """From what arrives to a sink.

    ``begin`` starts to prepare a batch, and up to ``ahead`` batches are begun before the first of them is
    stored. What is stored does not depend on it.
    """

    begin: Begin[C, P]
    limits: Limits
    ahead: int = 0

    def run(
        self,
        arriving: Iterable[Arriving[C]],
        sink: Sink[P],
        on_progress: Callable[[Tally], None] = lambda tally: None,
    ) -> Tally:
        """Store every document; report and skip those that cannot be read or sanitized."""
        tally, started = Tally(), time.perf_counter()
        begun: deque[_Begun[C, P]] = deque()

        def at_work(tokens: int) -> None:
            tally.worked += tokens * CHARACTERS_A_TOKEN
            tally.seconds = time.perf_counter() - started
            on_progress(tally)

        def finish() -> None:
            with reported_to(at_work):
                self._keep(begun.popleft(), sink, tally)
            tally.seconds = time.perf_counter() - started
            on_progress(tally)

        readable = self._readable(arriving, tally)
        for batch in grouped(readable, self.limits, lambda each: each.characters, first=_FIRST):
            waiting = batch
            while waiting:
                free = _settled(waiting, begun)
                if not free:
                    finish()
                    continue
                standings = sink.standing(free)
                now, waiting = waiting[: len(standings)], waiting[len(standings) :]
                begun.append(self._begun(now, standings, tally))
                while len(begun) > self.ahead:
                    finish()
        while begun:
            finish()
        tally.seconds = time.perf_counter() - started
        on_progress(tally)
        return tally

    def _readable(self, arriving: Iterable[Arriving[C]], tally: Tally) -> Iterator[Incoming[C]]:
        for each in arriving:
            tally.bytes_read = each.bytes_read
            if isinstance(each.item, UnreadableDocument):
                tally.fail(each.item.place, each.item.reason, each.item.source)
            else:
                tally.read += 1
                tally.characters += each.item.characters
                yield each.item

    def _begun(
        self, now: Sequence[Incoming[C]], standings: Sequence[Standing], tally: Tally
    ) -> "_Begun[C, P]":
        pending: list[_Pending[C]] = []
        for incoming, standing in zip(now, standings, strict=True):
            if standing in (Standing.DUPLICATE, Standing.MOVED):
                tally.duplicates += 1
                tally.replaced += standing is Standing.MOVED
            elif standing is Standing.CLASH:
                tally.fail(incoming.place, _CLASH, incoming.source, alone=False)
            elif standing is Standing.CLOSED:
                tally.fail(incoming.place, _CLOSED, incoming.source)
            else:
                pending.append(_Pending(incoming, standing))
        tally.begun += sum(each.incoming.characters for each in pending)
        return _Begun(pending, self.begin([each.incoming.content for each in pending]))

    def _keep(self, batch: "_Begun[C, P]", sink: Sink[P], tally: Tally) -> None:
        kept: list[tuple[Arrival, P]] = []
        replaced = taken = 0
        for each, outcome in zip(batch.pending, batch.outcomes(), strict=True):
            incoming = each.incoming
            if isinstance(outcome, SanitizationError):
                tally.fail(incoming.place, _failed(outcome, each.replaces), incoming.source)
            else:
                kept.append((incoming.arrival, outcome))
                replaced += each.replaces
                taken += each.standing is Standing.TAKEN
            tally.begun -= incoming.characters
            tally.worked = max(0.0, tally.worked - incoming.characters)
        if kept:
            tally.passages += sink.keep(kept)
            tally.kept += len(kept)
            tally.replaced += replaced
            tally.taken += taken
        for _, outcome in kept:
            tally.count(outcome.document)


@dataclass(frozen=True, slots=True)
class _Pending(Generic[C]):
    """A document to store, and its standing."""

    incoming: Incoming[C]
    standing: Standing

    @property
    def replaces(self) -> bool:
        """Whether an earlier text is stored under its id."""
        return self.standing is not Standing.NEW


@dataclass(frozen=True, slots=True)
class _Begun(Generic[C, P]):
    """A batch that is being prepared; ``outcomes`` waits for it."""

    pending: Sequence[_Pending[C]]
    outcomes: Callable[[], Outcomes[P]]

    @property
    def keys(self) -> frozenset[str | bytes]:
        """What the standing of a later arrival may depend on."""
        return frozenset(key for each in self.pending for key in _keys(each.incoming.arrival))


def _settled(waiting: Sequence[Incoming[C]], begun: Iterable[_Begun[C, P]]) -> list[Arrival]:
    """The first arrivals that share no id or text with a document that is being prepared."""
    open_keys = frozenset[str | bytes]().union(*(each.keys for each in begun))
    return list(takewhile(lambda each: open_keys.isdisjoint(_keys(each)), (one.arrival for one in waiting)))


def _keys(arrival: Arrival) -> tuple[str, bytes]:
    return arrival.doc_id, arrival.content_key


_CLASH = (
    "another document of this run has the same id. Give every document its own, or name the field that "
    "holds it with --id-field."
)
_CLOSED = (
    "is stored for some readers, and this time names none, so that all could read it. Name its readers, or "
    "erase it first if it is to be for all."
)


def _failed(error: SanitizationError, replaces: bool) -> str:
    if not replaces:
        return str(error)
    return (
        f"document {error.doc_id} was not indexed: {error.what}; the version kept before stays. Erase it if "
        "it must go."
    )


def at_once(prepare: Prepare[P]) -> Begin[Document, P]:
    """Prepare each batch in this process, when its outcomes are asked for."""
    return lambda documents: partial(prepare, documents)


def already(outcomes: Sequence[P | SanitizationError]) -> Callable[[], Outcomes[P]]:
    """As ``Begin``, for documents that are prepared when they arrive."""
    return lambda: outcomes


def batches(documents: Iterable[Document], limits: Limits) -> Iterator[list[Document]]:
    """Documents in order, in batches within the limits; a document over them gets a batch of its own."""
    return grouped(documents, limits, lambda document: len(document.text))


def grouped(
    items: Iterable[C], limits: Limits, characters: Callable[[C], int], first: float = 1
) -> Iterator[list[C]]:
    """As ``batches``, for whatever has characters. The limits begin with a share, and double to the whole."""
    batch: list[C] = []
    total, share = 0, first
    for item in items:
        full = len(batch) >= limits.documents * share or total + characters(item) > limits.characters * share
        if batch and full:
            yield batch
            batch, total, share = [], 0, min(1, 2 * share)
        batch.append(item)
        total += characters(item)
    if batch:
        yield batch
