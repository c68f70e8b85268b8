"""What the detector learns from: texts in which every mention of some labels is marked."""

from dataclasses import dataclass, field

SYNTHETIC = "synthetic"
"""The corpus of the texts that are invented for training."""


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """A half-open span, in code points, and what it is."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its mentions; private, since its text is.

    ``asked`` are the labels for which the marking is complete: elsewhere in the text there is none of
    them. A label that is not asked may occur unmarked, so nothing is learned from its absence.
    ``group`` names what must never be torn apart by a split: a document, a person, a template.
    """

    id: str
    corpus: str
    group: str
    text: str = field(repr=False)
    mentions: tuple[Mention, ...] = field(repr=False)
    asked: tuple[str, ...]
