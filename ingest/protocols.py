"""The seams of the ingest room: what it needs from models and offers to retrieval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

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


@runtime_checkable
class StatesEncoder(Encoder, Protocol):
    """An encoder whose vector of a text is the mean of its tokens' states, brought to length one."""

    def states(self, texts: Sequence[str]) -> list[tuple[list[tuple[int, int]], NDArray[np.float32]]]:
        """For each text the places of its tokens, start and end in characters, and their states.

        States have shape (tokens, dim) and any length. Marks that are no part of the text have empty places.
        """
        ...


@dataclass(frozen=True, slots=True)
class Hazards:
    """R(T) >= 0 of a text T, in nats, and what taking each linked entity e away takes off it.

    A marginal hazard is at least 0 and at most R(T). A model that judges entities where they stand gives
    e's own hazard; one that can only judge whole texts gives R(T) - R(T without e). Its docstring says which.
    """

    total: float
    marginals: Mapping[int, float]


class RiskModel(Protocol):
    """How much each text exposes somebody, with what is known to stand in it."""

    @property
    def name(self) -> str: ...

    def hazards(self, texts: Sequence[AnnotatedText]) -> list[Hazards]: ...


@dataclass(frozen=True, slots=True)
class Arrival:
    """A document at the door: its public id, and a keyed digest of its text as it was read."""

    doc_id: str
    content_key: bytes = field(repr=False)


class Standing(StrEnum):
    """How an arriving document stands to what is already kept."""

    NEW = "new"
    DUPLICATE = "duplicate"
    """The same text is kept already; from now on this id names it too."""
    CHANGED = "changed"
    """Another text is kept under this id from an earlier run, and will be replaced."""
    CLASH = "clash"
    """Another text came under this id in this very run."""


class Sink(Protocol):
    """Where sanitized documents go. Both methods are all or nothing, and safe to repeat after a kill.

    An id names one text, and a text is kept as long as an id names it: what the last run said of an id
    holds, and within a run what came first.
    """

    def standing(self, arrivals: Sequence[Arrival]) -> list[Standing]:
        """How the first of these stand to what is kept: of at least one, and of no more than can be told.

        Where an arrival shares its id or its text with an earlier one that is yet to be kept, its standing
        depends on whether that succeeds: the answer ends before it. Ask again when the earlier are kept.
        """
        ...

    def keep(self, documents: Sequence[tuple[Arrival, SanitizedDocument]]) -> int:
        """Keep a batch; the number of passages it became."""
        ...


class Sanitizer(Protocol):
    """Documents in, sanitized documents or the reasons why not, in order.

    A document that fails is answered by an error and never by a half-sanitized text.
    """

    @property
    def name(self) -> str: ...

    def sanitize(self, documents: Sequence[Document]) -> list[SanitizedDocument | SanitizationError]: ...
