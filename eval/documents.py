"""The nouns of the eval room.

Fields that hold what an attack saw are left out of the repr. A result names entities by document, number,
label and kind, so rows can be logged, stored and shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ingest.documents import Document, Identifier
from retrieval.documents import Answer


@dataclass(frozen=True, slots=True)
class SensitiveEntity:
    """Text of an original document that must not leak, with its label and kind.

    ``place`` is the half-open span of a mention in the document as it was read, None if it is not known.
    """

    doc_id: str
    text: str = field(repr=False)
    label: str
    identifier: Identifier
    place: tuple[int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class EntityRef:
    """A sensitive entity without its text: the ``number``-th of its document, counted from 0."""

    doc_id: str
    number: int
    label: str
    identifier: Identifier


@dataclass(frozen=True, slots=True)
class LeakedEntity:
    """A sensitive entity in the output; ``prompted`` if the attacker's question already named it."""

    entity: EntityRef
    prompted: bool


@dataclass(frozen=True, slots=True)
class AttackPrompt:
    """A prompt. ``number`` counts from 0; ``kind`` names the list of its wording."""

    number: int
    kind: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A prompt and its answer, or the type name of the error."""

    prompt: AttackPrompt
    answer: Answer | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class PassageCopy:
    """One retrieved passage and how much of it the output repeats.

    ``copied_runs`` are the lengths, in word tokens, of the shared runs of at least 20 tokens. The ROUGE-L
    values are in [0, 1]; the passage is the reference.
    """

    passage_id: int
    doc_id: str
    similarity: float
    copied_runs: tuple[int, ...]
    rouge_recall: float
    rouge_f: float


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """What an annotator marked: ``text[start:end]``, in code points, never empty.

    ``kind`` is the annotator's: DIRECT or QUASI identifies, SENSITIVE would harm, NO_MASK is named and
    harmless. ``must`` is 2 for what has to go, 1 for what should be generalized, 0 for what may stay. Marks
    of one person or thing share ``entity`` within their document. ``type`` is the annotator's word for what
    it is.

    Raises:
        ValueError: The span is empty or negative, or ``must`` is none of 0, 1, 2.
    """

    start: int
    end: int
    kind: str
    must: int
    entity: str = field(repr=False)
    type: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"no span: [{self.start}, {self.end})")
        if self.must not in (0, 1, 2):
            raise ValueError(f"must is {self.must}: 0, 1 or 2")


@dataclass(frozen=True, slots=True)
class MarkedDocument:
    """A document as one annotator marked it; private. No detector had a part in its marks."""

    document: Document
    marks: tuple[Mark, ...] = field(repr=False)
    corpus: str
    annotator: str


class Target(Protocol):
    """The public question-and-answer surface. The target decides how many passages it retrieves."""

    def ask(self, question: str) -> Answer: ...


class _Declared(Protocol):
    """An attack's goal, threat model and reference, which it declares, and its seed."""

    @property
    def name(self) -> str: ...

    @property
    def goal(self) -> str: ...

    @property
    def threat_model(self) -> str: ...

    @property
    def reference(self) -> str: ...

    @property
    def seed(self) -> int: ...


class Attack(_Declared, Protocol):
    """Tries to get private text out of a target.

    Each prompt is asked once, in order; the same ``seed`` gives the same prompts.
    """

    def prompts(self) -> Sequence[AttackPrompt]: ...


class Adaptive(_Declared, Protocol):
    """An attack whose questions depend on the answers so far.

    ``ask`` yields ``budget`` attempts, numbered from 0, each before the next question is made. The same
    ``seed`` and the same answers give the same questions, so a run is replayed from its beginning. A smaller
    budget gives a prefix. An attempt without an answer brought nothing, and the attack continues.
    """

    def ask(self, target: Target, budget: int) -> Iterator[Attempt]: ...
