"""The protocols of ingest: what it needs from models and offers to retrieval."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ingest.annotated import AnnotatedText
from ingest.documents import Arrival, Decision, Document, Entity, SanitizedDocument, Span, Standing
from ingest.errors import SanitizationError
from models.vectors import Vectors


class EntityDetector(Protocol):
    """Finds mentions. Spans lie inside the text; results do not depend on the batch."""

    @property
    def name(self) -> str: ...

    def detect(self, documents: Sequence[Document]) -> list[list[Entity]]: ...


def likely_same(detector: EntityDetector, text: str, spans: Sequence[Span]) -> Sequence[Sequence[int]] | None:
    """For each mention of a name the numbers of earlier ones that are likely the same, likeliest first.

    ``spans`` are of persons, in text order. None for a detector that does not know: it
    has no method ``likely_same``, or no reader behind it.
    """
    known: Callable[[str, Sequence[Span]], Sequence[Sequence[int]] | None] | None
    known = getattr(detector, "likely_same", None)
    return None if known is None else known(text, spans)


class Encoder(Protocol):
    """Texts to unit vectors, independent of the batch."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads, special tokens not counted."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end, in characters, of each model token of the whole text."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class OverEncoder:
    """What an encoder over another takes from it: all but its name and its vectors."""

    encoder: Encoder

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self.encoder.dim

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text are read."""
        return self.encoder.max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token of the whole text."""
        return self.encoder.token_spans(text)


@dataclass(frozen=True, slots=True)
class Hazards:
    """The hazard R(T) >= 0 of a text T, in nats, and the marginal hazard of each linked entity e.

    A marginal hazard is in [0, R(T)]. A model that scores entities in context gives e's own hazard; a model
    that scores whole texts gives R(T) - R(T without e). The model's docstring says which.
    """

    total: float
    marginals: Mapping[int, float]


class RiskModel(Protocol):
    """Measures how much each text exposes a person, given its entities."""

    @property
    def name(self) -> str: ...

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]: ...


@dataclass(frozen=True, slots=True)
class Applied:
    """The decisions applied to a text. ``residual`` is the resulting text with its remaining entities.

    ``mentions`` are the applied decisions, one per mention. ``decisions`` merges overlapping ones, and
    ``places`` gives the spans of their replacements.
    """

    residual: AnnotatedText
    mentions: Sequence[Decision]
    decisions: Sequence[Decision]
    places: Sequence[tuple[int, int]]
    article_repairs: int


Wording = Callable[[AnnotatedText, Sequence[Decision]], Sequence[Decision]]
"""Gives words to each generalized mention that has none yet; spans may grow."""


class Method(Protocol):
    """A sanitization method: one decision for each mention of each text, in order.

    ``hazards`` are the privacy-risk model's output for each text.
    """

    @property
    def name(self) -> str: ...

    def decide(
        self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]
    ) -> list[Sequence[Decision]]: ...


class Prepared(Protocol):
    """A sanitized document with what else its sink stores."""

    @property
    def document(self) -> SanitizedDocument: ...


P = TypeVar("P", bound=Prepared)
P_in = TypeVar("P_in", bound=Prepared, contravariant=True)
Outcomes = Sequence[P | SanitizationError]
Prepare = Callable[[Sequence[Document]], Outcomes[P]]
"""Sanitizes documents and makes the rest of what is stored; an error for each that fails, in order."""


class Sink(Protocol[P_in]):
    """Where sanitized documents are stored. Both methods are atomic and safe to repeat after a kill.

    An id names one text, and a text is stored as long as an id names it. The last run decides which text an
    id names; within a run the first one does.
    """

    def standing(self, arrivals: Sequence[Arrival]) -> list[Standing]:
        """The standings of the first arrivals: at least one, and as many as are already determined.

        If an arrival shares its id or text with an earlier one not yet stored, its standing depends on that
        one, and the result ends before it. Call again once the earlier ones are stored.
        """
        ...

    def keep(self, documents: Sequence[tuple[Arrival, P_in]]) -> int:
        """Store a batch; returns its number of passages."""
        ...


class Sanitizer(Protocol):
    """Documents in, sanitized documents or errors out, in order.

    A document that fails yields an error, never a partly sanitized text.
    """

    @property
    def name(self) -> str: ...

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]: ...
