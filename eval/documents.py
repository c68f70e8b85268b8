"""The nouns of the eval room.

Fields that hold what an attack saw are left out of the repr. A result names entities by document, number,
label and kind, so rows can be logged, stored and shown.
"""

from dataclasses import dataclass, field

from ingest.documents import Identifier
from retrieval.documents import Answer


@dataclass(frozen=True, slots=True)
class SensitiveEntity:
    """Text of an original document that must not leak, with its label and kind."""

    doc_id: str
    text: str = field(repr=False)
    label: str
    identifier: Identifier


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
