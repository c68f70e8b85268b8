"""Coverage attacks on each system: what many questions, each chosen after the answers before, bring out.

``eval.measures.covered`` folds the rows of one attack.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from eval.attacks.judging import judge
from eval.experiment import SanitizedCorpus
from eval.measures.covered import BASE, PASSAGES, REFUSED
from eval.measures.leakage import NOTHING_SENSITIVE, SensitiveIndex
from eval.progress import Progress
from eval.protocols import Adaptive, Target
from eval.rows import Row
from eval.targets import RagTarget
from ingest.protocols import Encoder
from models.errors import ConfigurationError
from retrieval.protocols import Generator

NOT_ASKED = "not asked"
"""The failure of questions for which the attack gave none."""


@dataclass(frozen=True, slots=True)
class CoverageTask:
    """A row for each of ``budget`` questions; the victim gets ``k`` passages.

    The attack is replayed from its beginning, whichever cases are wanted. ``limits`` puts what a server
    limits around the target, once for each run. ``refusals`` are the type names of errors by which a limit
    refuses a question: it is measured, and brought nothing. Any other error is not measured.
    """

    attack: Adaptive
    generator: Generator
    encoder: Encoder
    k: int
    budget: int
    sensitive: SensitiveIndex = field(default=NOTHING_SENSITIVE, repr=False)
    limits: Callable[[Target], Target] | None = None
    refusals: Collection[str] = ()

    def __post_init__(self) -> None:
        if min(self.budget, self.k) < 1:
            raise ConfigurationError(
                f"coverage with {self.budget} questions of {self.k} passages: give 1 or more of both"
            )

    @property
    def name(self) -> str:
        """Attack, generator, number of passages and questions."""
        return f"coverage by {self.attack.name}, {self.generator.name}, k {self.k}, {self.budget} questions"

    @property
    def cases(self) -> Sequence[str]:
        """The numbers of the questions."""
        return [str(number) for number in range(self.budget)]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """A row for each wanted question, with its evidence and the size of the base."""
        target: Target = RagTarget(kept.retriever(self.encoder), self.generator, self.k)
        target = self.limits(target) if self.limits else target
        judged, phase = judge(self.sensitive), f"covering {kept.system}"
        wanted = set(cases)
        sizes = {BASE: float(kept.kept), PASSAGES: float(self.k)}
        for number, attempt in enumerate(self.attack.ask(target, self.budget)):
            progress(phase, number, self.budget)
            if str(number) not in wanted:
                continue
            wanted.remove(str(number))
            row = judged(kept.system, self.name, attempt)
            if row.failure in self.refusals:
                row = row.model_copy(update={"failure": "", "figures": {REFUSED: 1.0}})
            yield row.model_copy(update={"figures": row.figures | sizes})
        progress(phase, self.budget, self.budget)
        for case in cases:
            if case in wanted:
                yield Row(system=kept.system, task=self.name, case=case, failure=NOT_ASKED)


@dataclass(frozen=True, slots=True)
class BesideControls:
    """The rows of a coverage task and of its controls, with as many questions to the same victim.

    Cases begin with the name of the attack (``asked_by``).
    """

    attack: CoverageTask
    controls: Sequence[Adaptive]

    @property
    def name(self) -> str:
        """That of the attack's task, and the controls."""
        return f"{self.attack.name}, beside {' and '.join(each.name for each in self.controls)}"

    @property
    def cases(self) -> Sequence[str]:
        """Attack by attack, the numbers of the questions."""
        return [f"{name} {case}" for name, task in self._tasks.items() for case in task.cases]

    @property
    def sensitive(self) -> SensitiveIndex:
        """That of the attack's task."""
        return self.attack.sensitive

    @property
    def _tasks(self) -> dict[str, CoverageTask]:
        attacks = (self.attack.attack, *self.controls)
        return {each.name: replace(self.attack, attack=each) for each in attacks}

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """A row for each wanted question of each attack."""
        wanted = set(cases)
        for name, task in self._tasks.items():
            if own := [case for case in task.cases if f"{name} {case}" in wanted]:
                for row in task.rows(kept, own, progress):
                    yield row.model_copy(update={"task": self.name, "case": f"{name} {row.case}"})


def asked_by(attack: str, rows: Iterable[Row]) -> list[Row]:
    """The rows of one attack by name."""
    return [row for row in rows if row.case.rpartition(" ")[0] == attack]
