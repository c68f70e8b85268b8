"""An attack on each system, with one generator as the victim."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from eval.attacks.judging import attempts, judge
from eval.documents import Attack
from eval.experiment import SanitizedCorpus
from eval.measures.leakage import SensitiveIndex
from eval.progress import Progress
from eval.rows import Row
from eval.targets import RagTarget
from ingest.protocols import Encoder
from retrieval.protocols import Generator


@dataclass(frozen=True, slots=True)
class AttackTask:
    """Ask each prompt of an attack once; the victim gets ``k`` passages."""

    attack: Attack
    generator: Generator
    encoder: Encoder
    k: int
    sensitive: SensitiveIndex = field(repr=False)

    @property
    def name(self) -> str:
        return f"{self.attack.name}, {self.generator.name}, k {self.k}"

    @property
    def cases(self) -> Sequence[str]:
        return [str(prompt.number) for prompt in self.attack.prompts()]

    def rows(self, kept: SanitizedCorpus, cases: Sequence[str], progress: Progress) -> Iterator[Row]:
        """A row for each attempt, with its evidence."""
        wanted = set(cases)
        prompts = [prompt for prompt in self.attack.prompts() if str(prompt.number) in wanted]
        target = RagTarget(kept.retriever(self.encoder), self.generator, self.k)
        judged, phase = judge(self.sensitive), f"attacking {kept.system}"
        for number, attempt in enumerate(attempts(target, prompts)):
            progress(phase, number, len(prompts))
            yield judged(kept.system, self.name, attempt)
        progress(phase, len(prompts), len(prompts))
