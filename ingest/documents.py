"""The nouns of the ingest room.

Text that somebody may want to keep private sits only in fields that a repr does not show. An entity
is a place and a label, not its text, so entities, scores and decisions can be logged and stored.
Offsets are half-open and count code points of exactly the text that was read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters: ``text[start:end]``, never empty."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"not a span: [{self.start}, {self.end})")

    def overlaps(self, other: "Span") -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end

    def __len__(self) -> int:
        return self.end - self.start


class Identifier(StrEnum):
    """What an entity can do to a person's anonymity."""

    DIRECT = "direct"
    """Identifies a person by itself: a name, an e-mail address, a record number."""
    QUASI = "quasi"
    """Identifies together with others: a birth date, a town, a rare job."""
    ATTRIBUTE = "attribute"
    """Says something of a person without identifying: a symptom, a dosage."""


class Action(StrEnum):
    """What is done with an entity, from the mildest to the strictest."""

    KEEP = "keep"
    GENERALIZE = "generalize"
    SURROGATE = "surrogate"
    SUPPRESS = "suppress"

    @property
    def strictness(self) -> int:
        """0 for keeping, rising with what is taken from the text."""
        return list(Action).index(self)


@dataclass(frozen=True, slots=True)
class Document:
    """Text as it was read. Private: its repr shows the id only."""

    doc_id: str
    text: str = field(repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict, repr=False)


UNLINKED = -1


@dataclass(frozen=True, slots=True)
class Entity:
    """A detected mention: where it is and what it is, not what it says.

    ``label`` is a key of ``ingest.labels.LABELS`` or a label that the user named. ``source`` names the
    pattern, rule or model that found it. Mentions with the same ``link`` name the same person or thing in
    their document; a detector leaves ``UNLINKED``, ``ingest.link`` fills it in.
    """

    span: Span
    label: str
    identifier: Identifier
    confidence: float
    source: str
    link: int = UNLINKED

    def at(self, span: Span) -> "Entity":
        """The same mention where it stands in another version of the text."""
        return replace(self, span=span)


@dataclass(frozen=True, slots=True)
class Scores:
    """The three scores of a linked entity, each in [0, 1] and higher for more of what its name says.

    ``priority`` is S(e) = alpha P - beta K + gamma (1 - relevance), DESIGN's and TRIP-RAG's equation 6.
    """

    marginal_privacy_risk: float
    knowledge_divergence: float
    topical_relevance: float
    priority: float


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to one mention, and the rule that said so. ``reason`` never quotes the text."""

    entity: Entity
    scores: Scores | None
    action: Action
    reason: str
    replacement: str = ""


@dataclass(frozen=True, slots=True)
class Risk:
    """The absolute risk f(T) = 1 - exp(-R(T)) of a text before and after, and who says so."""

    before: float
    after: float
    engine: str


@dataclass(frozen=True, slots=True)
class SanitizedDocument:
    """The only document type that retrieval accepts. Only ``ingest.sanitize`` makes one.

    ``places`` says, for each decision, where its words stand in ``text``: half-open, empty for what was
    suppressed. Decisions count characters of the text as it was read, places those of the sanitized one.
    """

    doc_id: str
    text: str = field(repr=False)
    decisions: Sequence[Decision]
    places: Sequence[tuple[int, int]]
    risk: Risk
    policy: str
    article_repairs: int
