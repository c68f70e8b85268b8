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


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a rewriter is told: the attribute, and of the rest what its variant shows it.

    ``target`` is the value that the text shall suggest, None where it shall suggest none. The ``truth`` and
    the ``inference`` of an adversary are None where the rewriter is not to see them. Private.
    """

    attribute: str
    target: str | None = field(default=None, repr=False)
    truth: str | None = field(default=None, repr=False)
    inference: Inference | None = field(default=None, repr=False)


class Rewriter(Protocol):
    """Rewrites a text against the inference of one attribute; None where it could not."""

    @property
    def name(self) -> str: ...

    def rewrite(self, text: str, wanted: Wanted) -> str | None: ...
