"""Cutting a sanitized document into passages."""

from collections.abc import Sequence

from ingest.documents import SanitizedDocument, Span
from ingest.protocols import Encoder
from ingest.units import retrieval_units


def passages_of(document: SanitizedDocument, encoder: Encoder, max_tokens: int) -> Sequence[tuple[Span, str]]:
    """Spans of the sanitized text and their words; together they are the text, without gaps."""
    tokens = encoder.token_spans(document.text)
    spans = retrieval_units(document.text, tokens, max_tokens)
    return [(span, document.text[span.start : span.end]) for span in spans]
