"""Several aims of the extraction attack as one, so that a report has one table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eval.attacks.extraction import Aim, ExtractionAttack
from eval.documents import Attempt
from eval.protocols import Target


@dataclass(frozen=True, slots=True)
class ExtractionSuite:
    """The parts one after the other; attempts are numbered through, and their kinds tell them apart."""

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

    @property
    def planned(self) -> int:
        """How many attempts all parts make."""
        return sum(part.planned for part in self.parts)

    def run(self, target: Target) -> Iterator[Attempt]:
        """Ask every prompt of every part once."""
        first = 0
        for part in self.parts:
            for attempt in part.run(target):
                prompt = attempt.prompt
                yield replace(attempt, prompt=replace(prompt, number=first + prompt.number))
            first += part.planned


def extraction_suite(aims: Sequence[Aim], n: int, seed: int) -> ExtractionSuite:
    """``n`` prompts of each aim."""
    return ExtractionSuite(tuple(ExtractionAttack(aim, n, seed) for aim in aims))
