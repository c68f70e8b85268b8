"""Several aims of the extraction attack as one attack, for one table in a report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from eval.attacks.extraction import Aim, ExtractionAttack
from eval.attacks.judging import attempts
from eval.documents import AttackPrompt, Attempt
from eval.protocols import Target


@dataclass(frozen=True, slots=True)
class ExtractionSuite:
    """The parts in sequence, with prompts numbered consecutively; ``kind`` names the part."""

    parts: tuple[ExtractionAttack, ...]

    @property
    def name(self) -> str:
        """``extraction`` and the aims."""
        return f"extraction ({', '.join(part.aim for part in self.parts)})"

    @property
    def goal(self) -> str:
        """That of the parts."""
        return self.parts[0].goal

    @property
    def threat_model(self) -> str:
        """That of the parts."""
        return self.parts[0].threat_model

    @property
    def reference(self) -> str:
        """That of the parts."""
        return self.parts[0].reference

    @property
    def seed(self) -> int:
        """The seed that all parts share."""
        return self.parts[0].seed

    def prompts(self) -> list[AttackPrompt]:
        """The prompts of all parts."""
        found = [prompt for part in self.parts for prompt in part.prompts()]
        return [replace(prompt, number=number) for number, prompt in enumerate(found)]


def extraction_suite(aims: Sequence[Aim], n: int, seed: int) -> ExtractionSuite:
    """``n`` prompts of each aim."""
    return ExtractionSuite(tuple(ExtractionAttack(aim, n, seed) for aim in aims))


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The prompts of a suite as an attack that could adapt and does not: a control of those that do.

    The aims take turns, so that a small budget has a part of each.
    """

    suite: ExtractionSuite

    name = "suite"
    goal = ExtractionAttack.goal
    threat_model = ExtractionAttack.threat_model
    reference = ExtractionAttack.reference

    @property
    def seed(self) -> int:
        """That of the suite."""
        return self.suite.seed

    def ask(self, target: Target, budget: int) -> Iterator[Attempt]:
        """As many prompts as the budget allows and the suite has."""
        return attempts(target, in_turns(self.suite)[:budget])


def in_turns(suite: ExtractionSuite) -> list[AttackPrompt]:
    """Its prompts, the first of each part, then the second, numbered anew."""
    turns = zip_longest(*(part.prompts() for part in suite.parts))
    prompts = [prompt for turn in turns for prompt in turn if prompt is not None]
    return [replace(prompt, number=number) for number, prompt in enumerate(prompts)]
