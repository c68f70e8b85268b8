"""The nouns of the retrieval room. Everything here was sanitized before it came."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of one sanitized document: ``text`` is characters ``start`` to ``end`` of it."""

    passage_id: int
    doc_id: str
    start: int
    end: int
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage and its cosine similarity to the question."""

    passage: Passage
    similarity: float


@dataclass(frozen=True, slots=True)
class Citation:
    """Which passage supports an answer; ``mark`` is how the answer's text names it, 1, 2, ..."""

    mark: int
    passage_id: int
    doc_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the generator made of the passages, which of them it used, and its engine's name."""

    text: str = field(repr=False)
    citations: Sequence[Citation]
    passages: Sequence[RetrievedPassage]
    engine: str
