"""Cut sanitized documents into passages, and store passages with their vectors."""

from collections.abc import Sequence

from ingest.documents import Arrival, SanitizedDocument, Span, Standing
from ingest.language.units import retrieval_units
from ingest.protocols import Encoder
from retrieval.store.database import Record, Store


def passages_of(document: SanitizedDocument, encoder: Encoder, max_tokens: int) -> Sequence[tuple[Span, str]]:
    """Spans of the sanitized text with their words; together they cover the text without gaps."""
    tokens = encoder.token_spans(document.text)
    spans = retrieval_units(document.text, tokens, max_tokens)
    return [(span, document.text[span.start : span.end]) for span in spans]


class Writer:
    """Sanitized documents into a store: the sink of the ingest pipeline."""

    def __init__(self, store: Store, encoder: Encoder, passage_tokens: int) -> None:
        self._store = store
        self._encoder = encoder
        self._passage_tokens = passage_tokens
        self.job_id = store.start_job()

    def standing(self, arrivals: Sequence[Arrival]) -> list[Standing]:
        """The standing of the first of them against the stored documents."""
        return self._store.standing(self.job_id, arrivals)

    def keep(self, documents: Sequence[tuple[Arrival, SanitizedDocument]]) -> int:
        """Cut, encode and write a batch in one transaction; returns the number of passages."""
        cut = [passages_of(document, self._encoder, self._passage_tokens) for _, document in documents]
        vectors = self._encoder.encode([text for passages in cut for _, text in passages])
        records, first = [], 0
        for (arrival, document), passages in zip(documents, cut, strict=True):
            rows = vectors[first : first + len(passages)]
            records.append(Record(arrival, document, passages, rows))
            first += len(passages)
        self._store.write(self.job_id, records)
        return len(vectors)
