"""What a privacy-risk model is asked, and answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LabeledText:
    """A text with labeled mentions: half-open spans in code points, and label names. Private."""

    text: str = field(repr=False)
    places: Sequence[tuple[int, int]] = field(repr=False)
    labels: Sequence[str] = field(repr=False)


class HazardModel(Protocol):
    """Scores how strongly each mention of a text exposes a person."""

    name: str

    def hazards(self, texts: Sequence[LabeledText]) -> list[list[float]]:
        """A hazard >= 0 in nats for each mention of each text, in the order given."""
