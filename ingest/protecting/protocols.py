"""The seams of attribute protection: who infers, and who rewrites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Inference:
    """The guesses at an attribute, best first, how certain the first is in [0, 1], and why.

    Private: guesses and reasoning give the text away.
    """

    guesses: tuple[str, ...] = field(repr=False)
    certainty: float
    reasoning: str = field(default="", repr=False)


class Adversary(Protocol):
    """Infers attributes of the person of each text; the guesses do not depend on the other texts."""

    @property
    def name(self) -> str: ...

    @property
    def attributes(self) -> Sequence[str]: ...

    def infer(self, texts: Sequence[str]) -> list[Mapping[str, Inference]]: ...
