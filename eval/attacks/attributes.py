"""Attribute inference: what a reader infers of the person of a text, though nothing there says it outright.

After Staab et al. (2024), Beyond Memorization. Theirs asks a large language model; ours has a trained head
for each attribute over the frozen MiniLM and over words and codes that point at a value. It is weaker: what
it does not find is no proof of safety. It reads the whole text as being about one person, its author or the
one that it is about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval.attacks.attribute_clues import ClueReader
from eval.attacks.attribute_truths import value_of
from eval.attacks.attribute_values import value_names
from eval.attacks.guessing import IndexAttack
from eval.targets import reading_once
from ingest.protecting.adversary import Adversary, Inference
from ingest.protocols import Encoder
from models.attributes import Heads, load_heads
from models.catalog import ModelRef
from models.encoders.minilm import MiniLM

ATTRIBUTE_INFERENCE = IndexAttack(
    name="attribute inference",
    goal="Infer age, sex, country, occupation, relationship and the like of the person of a document.",
    threat_model=(
        "A reader of the index on an untrusted server: sees each sanitized text and has learned from public "
        "texts of other people, but not from sanitized ones, what people of each value write."
    ),
    reference="Staab et al. (2024), Beyond Memorization: the goal; the attacker is ours",
)
TOP = 3


class AttributeAttack:
    """Guesses at every attribute that there is a head for; safe to use again for other texts."""

    def __init__(self, encoder: Encoder, heads: Heads) -> None:
        self.encoder, self.heads = encoder, heads
        self._reader = ClueReader(encoder, tuple(heads.heads))

    @property
    def name(self) -> str:
        """The model whose heads guess."""
        return self.heads.name

    @property
    def attributes(self) -> tuple[str, ...]:
        """Those that it guesses at."""
        return tuple(self.heads.heads)

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        """The guesses at each text's person; they do not depend on the other texts."""
        if not texts:
            return []
        read = self._reader.read(texts)
        found: list[dict[str, Inference]] = [{} for _ in texts]
        for attribute, head in self.heads.heads.items():
            told = head.probabilities(read.vectors, read.clues[attribute])
            for row, order in enumerate(np.argsort(-told.round(9), axis=1, kind="stable")[:, :TOP]):
                guesses = tuple(head.values[place] for place in order)
                found[row][attribute] = Inference(guesses, float(told[row, order[0]]))
        return list(found)


@dataclass(frozen=True, slots=True)
class InValues:
    """An adversary whose guesses are free words, with each of them brought to a value of its attribute.

    Guesses that mean no value are left out, and attributes without another guess.
    """

    adversary: Adversary

    @property
    def name(self) -> str:
        """The adversary's."""
        return self.adversary.name

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]:
        """Raises as the adversary does."""
        return [
            {name: found for name, each in told.items() if (found := _in_values(name, each)) is not None}
            for told in self.adversary.infer(texts)
        ]


def _in_values(attribute: str, inference: Inference) -> Inference | None:
    meant = (value_of(attribute, guess) for guess in inference.guesses)
    guesses = tuple(dict.fromkeys(each for each in meant if each is not None))
    return replace(inference, guesses=guesses) if guesses else None


def attribute_attack(encoder: Encoder, model: ModelRef | None = None) -> AttributeAttack:
    """The attack with the embedded heads or those in a folder.

    They read MiniLM's vectors: ``encoder`` is used if it is MiniLM, else the embedded one is loaded. Raises
    ModelUnavailable where the heads are not there or not whole.
    """
    heads = load_heads(model or ModelRef(), value_names())
    return AttributeAttack(encoder if encoder.name == MiniLM.name else reading_once(MiniLM()), heads)
