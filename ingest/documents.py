"""The data types of ingest.

Private text is held only in fields that the repr hides. An entity is a span and a label without its text,
so entities, scores and decisions can be logged and stored. Offsets are half-open and count code points of
the text as read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from models.encoders.words import Need

ACCEPTED = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
}
"""The languages that the reader learned, by ISO 639 code: what is in another one is foreign."""

LanguageRule = Literal["known", "any"]
"""Accepted languages: the known ones, or any, with a warning in every result."""


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
    """How an entity contributes to re-identification."""

    DIRECT = "direct"
    """Identifies a person by itself: a name, an e-mail address, a record number."""
    QUASI = "quasi"
    """Identifies together with others: a birth date, a town, a rare job."""
    ATTRIBUTE = "attribute"
    """Describes a person without identifying: a symptom, a dosage."""


class Action(StrEnum):
    """What happens to an entity, from mildest to strictest."""

    KEEP = "keep"
    GENERALIZE = "generalize"
    SURROGATE = "surrogate"
    SUPPRESS = "suppress"

    @property
    def strictness(self) -> int:
        """0 for keeping; higher removes more from the text."""
        return list(Action).index(self)


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a source that was not read: "scanned page", 3, "has no text; install tesseract".

    ``kind`` and ``reason`` are fixed phrases: neither holds a name or value from the source. ``read`` is for
    a part that was read and of which readers should know, such as a comment.
    """

    kind: str
    count: int
    reason: str
    read: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """Text as read. Private: the repr shows the id only.

    ``source`` is the origin of its file (``ingest.read.paths.origin``), empty if there is none. ``readers``
    are the groups that may read it (``ingest.readers``); all may if there are none.
    """

    doc_id: str
    text: str = field(repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict, repr=False)
    unread: Sequence[Unread] = ()
    source: str = field(default="", repr=False)
    readers: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def place(self) -> str:
        """Where it was read: a path, with a line or record number; else its id."""
        return self.metadata.get("place") or self.metadata.get("source") or self.doc_id


UNLINKED = -1


@dataclass(frozen=True, slots=True)
class Entity:
    """A detected mention: its span and label, not its text.

    ``label`` is a key of ``ingest.labels.LABELS`` or a user-defined label. ``source`` is the pattern, rule
    or model that found it. Mentions with the same ``link`` refer to the same person or thing in their
    document; detectors leave ``UNLINKED``, and ``ingest.linking.link`` sets it. ``required`` marks a match
    of a user's own list or pattern, which is always replaced. ``need`` is what a model that reads the context
    says of whether it has to go; None where none did.
    """

    span: Span
    label: str
    identifier: Identifier
    confidence: float
    source: str
    link: int = UNLINKED
    required: bool = False
    need: Need | None = None

    def at(self, span: Span) -> "Entity":
        """The same mention at its span in another version of the text."""
        return replace(self, span=span)


@dataclass(frozen=True, slots=True)
class Scores:
    """The three scores of a linked entity, each in [0, 1], and what its decision rests on.

    ``priority`` is S(e) = alpha P - beta K + gamma (1 - relevance), equation 6 of DESIGN and TRIP-RAG; under
    the policy lethe it is the bits that all facts kept so far say with this one, of which ``bits`` are its
    own. All but the risk are None if a hard rule decides and they were not measured.
    """

    marginal_privacy_risk: float
    knowledge_divergence: float | None = None
    topical_relevance: float | None = None
    priority: float | None = None
    bits: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The action for one mention and the rule behind it. ``reason`` never quotes the text.

    ``chance`` is the probability that a few guesses find the original, as the ladder of the replacement
    counts (``ingest.wording.rungs``); None for words without a ladder.
    """

    entity: Entity
    scores: Scores | None
    action: Action
    reason: str
    replacement: str = ""
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class Risk:
    """The absolute risk f(T) = 1 - exp(-R(T)) of a text before and after, and the model that measured it.

    It covers detected mentions only: a missed mention exposes a person all the same.
    """

    before: float
    after: float
    engine: str


@dataclass(frozen=True, slots=True)
class SanitizedDocument:
    """The only document type that retrieval accepts. Only ``ingest.sanitize`` makes one.

    ``places`` gives the half-open span of each decision's replacement in ``text``, empty for suppressions.
    Decisions use offsets of the original text, places those of the sanitized text. ``unread`` lists the
    parts of the source that were not read. ``doubts`` are fixed phrases on why detection may have missed
    mentions, language, capitals, tables or code, and that fewer people fit than the policy asks for.
    """

    doc_id: str
    text: str = field(repr=False)
    decisions: Sequence[Decision]
    places: Sequence[tuple[int, int]]
    risk: Risk
    policy: str
    article_repairs: int
    unread: Sequence[Unread] = ()
    doubts: Sequence[str] = ()

    @property
    def bits(self) -> float | None:
        """What all kept facts say together, in bits; None where the policy counts none."""
        if self.policy != "lethe":
            return None
        kept = (each.scores for each in self.decisions if each.action is Action.KEEP)
        said = (each.priority for each in kept if each is not None and each.bits is not None)
        return max((each for each in said if each is not None), default=0.0)


@dataclass(frozen=True, slots=True)
class Source:
    """Keyed digests of a file's path and of its parent folders' paths, nearest first."""

    key: bytes = field(repr=False)
    folders: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An incoming document: its public id, a keyed digest of its original text, its file and its readers."""

    doc_id: str
    content_key: bytes = field(repr=False)
    source: Source | None = None
    readers: frozenset[str] = field(default=frozenset(), repr=False)


class Standing(StrEnum):
    """The state of an incoming document relative to the stored ones."""

    NEW = "new"
    DUPLICATE = "duplicate"
    """The same text is already stored; this id now names it too."""
    MOVED = "moved"
    """Like ``DUPLICATE``, but an earlier run stored another text under this id, which no longer has it."""
    CHANGED = "changed"
    """An earlier run stored another text under this id; it will be replaced."""
    TAKEN = "taken"
    """Like ``CHANGED``, but the other text came from a different file with the same id."""
    CLASH = "clash"
    """This run already had another text under this id."""
    CLOSED = "closed"
    """The id names a document for some readers, and this one names none: it would be open to all."""
