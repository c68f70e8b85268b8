"""Cut sanitized documents into passages, and store passages with their vectors."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, compress

import numpy as np

from ingest.documents import Action, Arrival, Document, SanitizedDocument, Span, Standing
from ingest.errors import SanitizationError
from ingest.language.units import retrieval_units
from ingest.protocols import Encoder, Prepare, Sanitizer
from ingest.wording.mentions import names_only_a_kind
from models.vectors import Vectors
from retrieval.documents import Sealed
from retrieval.search import HYBRID, Search
from retrieval.store.database import Cut, CutDocument, Store

_BEGINNING = 8
"""The first passages of a document, of which no encoder here reads more."""


def passages_of(
    text: str, treated: Sequence[tuple[str, str, int, int]], encoder: Encoder, max_tokens: int
) -> Sequence[Cut]:
    """The passages of a sanitized text, which cover it without gaps; ``treated`` as in ``kept_in``."""
    spans = retrieval_units(text, encoder.token_spans(text), max_tokens)
    kept = kept_in(text, treated, spans)
    return [Cut(span, text[span.start : span.end], words) for span, words in zip(spans, kept, strict=True)]


def treated_in(document: SanitizedDocument) -> list[tuple[str, str, int, int]]:
    """Label, action and place in the sanitized text of each decision."""
    return [
        (decision.entity.label, decision.action, *place)
        for decision, place in zip(document.decisions, document.places, strict=True)
    ]


def kept_in(text: str, treated: Iterable[tuple[str, str, int, int]], parts: Sequence[Span]) -> list[str]:
    """The words of parts of a sanitized text without descriptors: "a city", "[date]", "Person A".

    ``treated`` has label, action and place of each decision. What is true of one value among others stays, as
    "in May 2019", and so do aliases, which are the same in every document.
    """
    descriptors = sorted(
        (start, end)
        for label, action, start, end in treated
        if action == Action.GENERALIZE and names_only_a_kind(text[start:end], label)
    )
    starts = [start for start, _ in descriptors]
    # Places may overlap: up to each descriptor, the farthest end.
    ends = [*accumulate((end for _, end in descriptors), max)]
    kept = []
    for part in parts:
        pieces, at = list[str](), part.start
        for start, end in descriptors[bisect_right(ends, part.start) : bisect_left(starts, part.end)]:
            if end > at:
                pieces.append(text[at : max(at, start)])
                at = end
        pieces.append(text[at : part.end])
        kept.append(" ".join(" ".join(pieces).split()))
    return kept


def cut(
    documents: Sequence[SanitizedDocument], encoder: Encoder, passage_tokens: int, search: Search = HYBRID
) -> list[CutDocument]:
    """The documents as a store takes them, with the vectors of their passages; all are encoded together."""
    passages = [passages_of(each.text, treated_in(each), encoder, passage_tokens) for each in documents]
    read = [[(each.text, each.kept) for each in rows] for rows in passages]
    return [
        CutDocument(document, rows, vectors)
        for document, rows, vectors in zip(documents, passages, encoded(read, encoder, search), strict=True)
    ]


def encoded(
    documents: Sequence[Sequence[tuple[str, str]]], encoder: Encoder, search: Search = HYBRID
) -> Iterator[Vectors]:
    """The vectors of the passages of each document, each given as its text and its words without descriptors.

    A passage's vector is at most 1 long: the mean of its own and that of its document's beginning.
    """
    own = [[kept if search.left_out and kept else text for text, kept in rows] for rows in documents]
    several = [len(each) > 1 and search.document > 0 for each in own]
    beginnings = [" ".join(each[:_BEGINNING]) for each in compress(own, several)]
    texts = {text: row for row, text in enumerate(dict.fromkeys(chain(beginnings, *own)))}
    rows = encoder.encode([*texts])
    beginning = iter(beginnings)
    for each, mixed in zip(own, several, strict=True):
        vectors = rows[np.array([texts[text] for text in each], dtype=np.intp)]
        if mixed:
            vectors = (vectors + search.document * rows[texts[next(beginning)]]) / (1 + search.document)
        yield vectors


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
