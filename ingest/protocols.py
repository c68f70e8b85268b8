"""The seams of the ingest room: what it needs from models and offers to retrieval."""

from collections.abc import Sequence
from typing import Protocol

from ingest.annotated import AnnotatedText
from ingest.documents import Document, Entity, SanitizedDocument
from ingest.errors import SanitizationError
from models.vectors import Vectors


class EntityDetector(Protocol):
    """Finds mentions. Spans lie inside the text; the same answer alone or in a batch."""

    @property
    def name(self) -> str: ...

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]: ...


class Encoder(Protocol):
    """Texts to unit vectors, batch-independent."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads, marks at both ends not counted."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end, in characters, of each of the model's own tokens of the whole text."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors: ...


class RiskModel(Protocol):
    """The hazard R(T) >= 0, in nats, of each text with what is known to stand in it."""

    @property
    def name(self) -> str: ...

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[float]: ...


class Sanitizer(Protocol):
    """Documents in, sanitized documents or the reasons why not, in order.

    A document that fails is answered by an error and never by a half-sanitized text.
    """

    @property
    def name(self) -> str: ...

    def sanitize(
        self, documents: Sequence[Document]
    ) -> list[SanitizedDocument | SanitizationError]: ...
