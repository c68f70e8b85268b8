"""Test doubles, one per seam, and builders of invented data."""

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ingest.documents import Arrival, Document, Entity, Identifier, SanitizedDocument, Span
from ingest.labels import label_of
from ingest.protocols import Encoder
from models.language.protocol import ChatMessage
from models.vectors import Vectors
from retrieval.passages import Writer, cut
from retrieval.search import HYBRID, Search
from retrieval.store.database import Store

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


class FirstMentions:
    """Finds people's names where they stand first."""

    name = "first mentions (test double)"

    def __init__(self, *names: str) -> None:
        self._names = names

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]:
        return [
            [
                entity(start, start + len(name), "person full name")
                for name in self._names
                if (start := document.text.find(name)) >= 0
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


class CuttingWriter:
    """Sanitized documents into a store, cut and encoded with other settings than those of a system."""

    def __init__(self, store: Store, encoder: Encoder, passage_tokens: int, search: Search = HYBRID) -> None:
        self._cut = partial(cut, encoder=encoder, passage_tokens=passage_tokens, search=search)
        self._writer = Writer(store)
        self.standing = self._writer.standing
        self.job_id = self._writer.job_id

    def keep(self, documents: Sequence[tuple[Arrival, SanitizedDocument]]) -> int:
        cuts = self._cut([document for _, document in documents])
        return self._writer.keep(list(zip((arrival for arrival, _ in documents), cuts, strict=True)))


class Letters:
    """An autoencoder of arithmetic: four letters a piece, and of each six values that tell it.

    Letters, and padding, have values beyond the bound of DP-BART, two of six below it; signs lie within.
    ``told`` is what was decoded.
    """

    name = "letters"
    width = 6
    _signs = np.array([1, 1, 1, 1, -1, -1], np.float32)

    def __init__(self) -> None:
        self.told: list[NDArray[np.float32]] = []

    def pieces(self, text: str) -> list[list[int]]:
        return [list(map(ord, text[at : at + 4])) for at in range(0, len(text), 4)]

    def states(self, pieces: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        padded = np.array([[*piece, 1, 1, 1][:4] for piece in pieces], np.float32)
        signs = (padded > 1) & (padded < ord("0"))
        return np.where(signs, padded / 1000, padded)[..., None] * self._signs

    def limits(self, shape: Sequence[int]) -> NDArray[np.float32]:
        """The values of letters, clipped to 0.1."""
        return np.broadcast_to(self._signs / 10, shape)

    def written(self, states: NDArray[np.float32]) -> list[str]:
        self.told.append(states)
        return [" piece "] * len(states)


@dataclass
class Scripted:
    """A language model that says what ``says`` makes of its role, the question and the seed; keeps both."""

    says: Callable[[str, str, int], str] = field(repr=False)
    context_tokens: int = 4096
    asked: list[tuple[str, str]] = field(default_factory=list, repr=False)
    name = "scripted (test double)"

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """A word is a token."""
        return sum(len(each.content.split()) for each in messages)

    def complete(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """What is said again is said of the first question."""
        self.asked.append((messages[0].content, messages[-1].content))
        return self.says(messages[0].content, messages[1].content, seed)
