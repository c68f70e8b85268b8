"""The nouns of the retrieval room. All text here is sanitized; originals are sealed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.documents import Unread

Groups = frozenset[str] | None
"""Those of a reader; None reads everything, and without any it is what is for everybody."""
TITLE = 60
"""The most characters of a title."""


def title_of(beginning: str | None) -> str:
    """What to call a document by its sanitized beginning: its first words, without what marks a heading.

    None begins what has no passage, and no word at all.
    """
    said = (line for line in (beginning or "").splitlines() if any(map(str.isalnum, line)))
    words = re.sub(r"^[^\w\[]+", "", " ".join(next(said, "").split()))
    return words if len(words) <= TITLE else words[:TITLE].rpartition(" ")[0] + " …"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of one sanitized document: ``text`` is characters ``start`` to ``end`` of it.

    ``doubts`` is that of its document (``SanitizedDocument``), ``title`` how it begins (``title_of``).
    """

    passage_id: int
    doc_id: str
    start: int
    end: int
    text: str = field(repr=False)
    doubts: Sequence[str] = ()
    title: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """A document in a collection: who may read it, when it was stored, its size, and how well it was read.

    ``readers`` are groups, none if all may. ``risk`` is that of the detected entities, ``title`` how the
    sanitized text begins. ``reviewed`` is when a person looked through it, None if nobody did.
    """

    doc_id: str
    aliases: Sequence[str] = field(repr=False)
    readers: Sequence[str] = field(repr=False)
    kept_at: str
    characters: int
    passages: int
    risk: tuple[float, float]
    unread: Sequence[Unread]
    doubts: Sequence[str]
    title: str = field(repr=False)
    reviewed: str | None = None


class Noted(NamedTuple):
    """A row of the ledger: a decision, its place in the sanitized text, and what it rests on, rounded."""

    start: int
    end: int
    label: str
    identifier: str
    confidence: float
    source: str
    link: int
    risk: float | None
    divergence: float | None
    relevance: float | None
    priority: float | None
    action: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """An original that only the key of this id opens."""

    key_id: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SealedOriginal:
    """A document's original, None if it has none, the keyed digest of its text, its other ids and readers."""

    doc_id: str
    aliases: Sequence[str] = field(repr=False)
    readers: frozenset[str] = field(repr=False)
    content_key: bytes = field(repr=False)
    sealed: Sealed | None


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A passage, its similarity to the question in [-1, 1], and the score by which it was ranked.

    The similarity is the mean of its own cosine and its document's, weighted (``retrieval.search.Search``).
    The score adds what its words cover of the question, weighted; that of a reranker is in [0, 1].
    ``beside`` are passages of its document that stand around it, in order, for the first ones found.
    """

    passage: Passage
    similarity: float
    score: float = 0.0
    beside: Sequence[Passage] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that supports an answer; ``mark`` is its number in the text of the answer, 1, 2, ..."""

    mark: int
    passage_id: int
    doc_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The generator's answer, its citations, and the name of its engine.

    ``question_sent`` is the sanitized question if the model read that instead of the original;
    ``question_doubts`` say why detection in it may be incomplete (``SanitizedDocument``).
    """

    text: str = field(repr=False)
    citations: Sequence[Citation]
    passages: Sequence[RetrievedPassage]
    engine: str
    question_sent: str | None = field(default=None, repr=False)
    question_doubts: Sequence[str] = ()
