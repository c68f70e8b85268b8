"""What an audit is asked for: how much it does, and its gates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from models.errors import ConfigurationError

SuiteName = Literal["quick", "standard", "full"]


@dataclass(frozen=True, slots=True)
class Suite:
    """How much an audit does; None is all.

    Documents at most, prompts of each aim, questions about each document, documents whose slots are guessed,
    documents of both kinds of which it is asked whether they are there, adaptive questions, questions for
    which poisoned documents wait, and planted secrets.
    """

    documents: int | None
    prompts: int
    questions: int
    guessed: int | None
    candidates: int | None
    asked: int
    poisoned: int
    canaries: int


SUITES: Mapping[SuiteName, Suite] = {
    "quick": Suite(100, 10, 1, 30, 50, 20, 0, 0),
    "standard": Suite(1_000, 40, 1, 200, 300, 100, 25, 25),
    "full": Suite(None, 250, 4, None, None, 300, 100, 100),
}
LEAKS = tuple(
    """
    left-direct left-quasi vectors inverted guessed inferred same-person member extracted covered adaptive
    injected canaries linked told singled-out
    """.split()
)
USES = ("found-first", "facts")
"""The names of all measures, by which gates are set; not every audit has each of them."""


@dataclass(frozen=True, slots=True)
class Options:
    """Gates are by the name of a measure: ``at_most`` of a leak, ``at_least`` of what is useful.

    Raises:
        ConfigurationError: A gate is of no such measure.
    """

    suite: SuiteName = "standard"
    seed: int = 0
    at_most: Mapping[str, float] = field(default_factory=dict)
    at_least: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for limits, names, kind in ((self.at_most, LEAKS, "a leak"), (self.at_least, USES, "usefulness")):
            for unknown in limits.keys() - {*names}:
                known = ", ".join(names)
                raise ConfigurationError(f"{unknown} is no measure of {kind}. Those are: {known}.")
