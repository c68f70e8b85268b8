"""Several aims of the extraction attack as one attack, for one table in a report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.attacks.extraction import Aim, ExtractionAttack
from eval.documents import AttackPrompt


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
