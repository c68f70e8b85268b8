"""Cut sanitized documents into passages, and store passages with their vectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ingest.documents import Action, Arrival, Document, SanitizedDocument, Span, Standing
from ingest.errors import SanitizationError
from ingest.ladders.mentions import names_only_a_kind
from ingest.language.units import retrieval_units
from ingest.protocols import Encoder, Prepare, Sanitizer
from models.vectors import Vectors
from retrieval.search import HYBRID, Search
from retrieval.store.database import Cut, CutDocument, Store
from retrieval.store.vault import Sealed


def passages_of(document: SanitizedDocument, encoder: Encoder, max_tokens: int) -> Sequence[Cut]:
    """The passages of the sanitized text; together they cover it without gaps."""
    tokens = encoder.token_spans(document.text)
    spans = retrieval_units(document.text, tokens, max_tokens)
    return [Cut(span, document.text[span.start : span.end], kept_in(document, span)) for span in spans]


def kept_in(document: SanitizedDocument, within: Span) -> str:
    """The words of a part of the sanitized text without descriptors: "a city", "[date]", "Person A".

    What is true of one value among others stays, as "in May 2019", and so do aliases, which are the same in
    every document.
    """
    pieces, at = list[str](), within.start
    for start, end in _descriptors(document):
        if end > at and start < within.end:
            pieces.append(document.text[at : max(at, start)])
            at = end
    pieces.append(document.text[at : within.end])
    return " ".join(" ".join(pieces).split())


def _descriptors(document: SanitizedDocument) -> Iterator[tuple[int, int]]:
    places = zip(document.decisions, document.places, strict=True)
    yield from sorted(
        (start, end)
        for decision, (start, end) in places
        if decision.action is Action.GENERALIZE
        and names_only_a_kind(document.text[start:end], decision.entity.label)
    )


def cut(
    documents: Sequence[SanitizedDocument], encoder: Encoder, passage_tokens: int, search: Search = HYBRID
) -> list[CutDocument]:
    """The documents as a store takes them; the vectors of all are encoded together."""
    passages = [passages_of(document, encoder, passage_tokens) for document in documents]
    vectors = vectors_of(documents, passages, encoder, search)
    ends = np.cumsum([len(each) for each in passages])
    return [
        CutDocument(document, each, vectors[end - len(each) : end])
        for document, each, end in zip(documents, passages, ends, strict=True)
    ]


Seal = Callable[[Document, SanitizedDocument], Sealed]
"""Seals the original of a sanitized document."""


def preparing(
    sanitizer: Sanitizer,
    encoder: Encoder,
    passage_tokens: int,
    search: Search = HYBRID,
    seal: Seal | None = None,
) -> Prepare[CutDocument]:
    """Sanitizing and cutting, as one step of an ingest; with ``seal`` the originals are kept."""

    def prepare(documents: Sequence[Document]) -> list[CutDocument | SanitizationError]:
        outcomes = sanitizer.sanitize(documents)
        sanitized = [each for each in outcomes if isinstance(each, SanitizedDocument)]
        ready = iter(cut(sanitized, encoder, passage_tokens, search))
        prepared: list[CutDocument | SanitizationError] = []
        for document, outcome in zip(documents, outcomes, strict=True):
            if isinstance(outcome, SanitizedDocument):
                made = next(ready)
                prepared.append(replace(made, sealed=seal(document, outcome)) if seal else made)
            else:
                prepared.append(outcome)
        return prepared

    return prepare


class Writer:
    """Cut documents into a store: the sink of the ingest pipeline."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.job_id = store.start_job()

    def stored(self) -> list[Arrival]:
        """Every id with the text that it names, as they were when the run began."""
        return [Arrival(doc_id, key) for doc_id, key in self._store.named_texts()]

    def standing(self, arrivals: Sequence[Arrival]) -> list[Standing]:
        """The standing of the first of them against the stored documents."""
        return self._store.standing(self.job_id, arrivals)

    def keep(self, documents: Sequence[tuple[Arrival, CutDocument]]) -> int:
        """Write a batch in one transaction; returns the number of passages."""
        self._store.write(self.job_id, documents)
        return sum(len(each.passages) for _, each in documents)


def vectors_of(
    documents: Sequence[SanitizedDocument], cut: Sequence[Sequence[Cut]], encoder: Encoder, search: Search
) -> Vectors:
    """A vector for each passage, at most 1 long: the mean of its own and that of its document's beginning."""
    own = [_read(each.text, each.kept, search) for passages in cut for each in passages]
    several = [len(passages) > 1 and search.document > 0 for passages in cut]
    beginnings = [
        _read(document.text, kept_in(document, Span(0, len(document.text))), search)
        for document, mixed in zip(documents, several, strict=True)
        if mixed
    ]
    encoded = encoder.encode([*own, *beginnings])
    vectors, of_documents = encoded[: len(own)].copy(), iter(encoded[len(own) :])
    first = 0
    for passages, mixed in zip(cut, several, strict=True):
        rows = vectors[first : first + len(passages)]
        if mixed:
            rows += search.document * next(of_documents)
            rows /= 1 + search.document
        first += len(passages)
    return vectors


def _read(text: str, kept: str, search: Search) -> str:
    """What the encoder reads; where everything was replaced, the descriptors after all."""
    return kept if search.left_out and kept else text
