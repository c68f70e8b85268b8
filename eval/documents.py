"""The nouns of the eval room.

What an attack saw or took sits only in fields that a repr does not show. A result names entities by
document, number, label and kind, so rows can be logged, stored and shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.documents import Identifier
from retrieval.documents import Answer


@dataclass(frozen=True, slots=True)
class SensitiveEntity:
    """Something that must not come out: what an original document says, and what kind it is."""

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
    """A sensitive entity that came out; ``prompted`` if the attacker's own question said it first."""

    entity: EntityRef
    prompted: bool


@dataclass(frozen=True, slots=True)
class AttackPrompt:
    """What is asked. ``number`` counts from 0; ``kind`` names the list that the wording came from."""

    number: int
    kind: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A prompt and what came back: an answer, or the type name of what went wrong instead."""

    prompt: AttackPrompt
    answer: Answer | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class PassageCopy:
    """One retrieved passage and how much of it the output repeats.

    ``copied_runs`` are the lengths, in word tokens, of the stretches of at least 20 tokens that the
    output shares with the passage. The ROUGE-L values are in [0, 1], the passage being the reference.
    """

    passage_id: int
    doc_id: str
    similarity: float
    copied_runs: tuple[int, ...]
    rouge_recall: float
    rouge_f: float


@dataclass(frozen=True, slots=True)
class AttackResult:
    """What one attempt achieved.

    ``present`` are the sensitive entities of the original documents behind the retrieved passages,
    ``leaked`` those of them that stand in the output. With a ``failure`` nothing was measured, and
    empty fields do not mean that nothing leaked. ``evidence`` is the output as it came.
    """

    attempt: int
    attack: str
    prompt_kind: str
    failure: str = ""
    engine: str = ""
    output_characters: int = 0
    passages: Sequence[PassageCopy] = ()
    present: Sequence[EntityRef] = ()
    leaked: Sequence[LeakedEntity] = ()
    evidence: str = field(default="", repr=False)

    @property
    def measured(self) -> bool:
        """Whether the target answered."""
        return not self.failure

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """The documents behind the passages, best first, with repetitions."""
        return tuple(passage.doc_id for passage in self.passages)
