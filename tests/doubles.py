"""Test doubles, one per seam, and builders of invented data."""

import re
import zlib
from collections.abc import Sequence

import numpy as np

from ingest.documents import Document, Entity, Identifier, Span
from ingest.labels import label_of
from models.vectors import Vectors

_WORD = re.compile(r"\w+|[^\w\s]")


class WordEncoder:
    """Sums a fixed random vector per word: texts that share words are near each other."""

    name = "word-sum (test double)"
    dim = 32
    max_tokens = 64

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _WORD.finditer(text)]

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(text) for text in texts]) if texts else np.empty((0, 32), np.float32)

    def _vector(self, text: str) -> Vectors:
        total = np.full(self.dim, 0.01, dtype=np.float64)
        for word in _WORD.findall(text.lower()):
            total += np.random.default_rng(zlib.crc32(word.encode())).normal(size=self.dim)
        return (total / np.linalg.norm(total)).astype(np.float32)


class PhraseDetector:
    """Finds given phrases wherever they stand."""

    name = "phrases (test double)"

    def __init__(self, phrases: dict[str, str]) -> None:
        self._phrases = phrases

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        return [
            [
                entity(match.start(), match.end(), label)
                for phrase, label in self._phrases.items()
                for match in re.finditer(re.escape(phrase), document.text)
            ]
            for document in documents
        ]


class FailingDetector:
    """Fails on every document that holds a word, with a message that quotes the document."""

    name = "failing (test double)"

    def __init__(self, word: str) -> None:
        self._word = word

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        for document in documents:
            if self._word in document.text:
                raise RuntimeError(f"cannot read {document.text}")
        return [[] for _ in documents]


def entity(start: int, end: int, label: str, link: int = -1, confidence: float = 0.9) -> Entity:
    """A mention with the identifier kind of its label."""
    kind: Identifier = label_of(label).identifier
    return Entity(Span(start, end), label, kind, confidence, "test", link)
