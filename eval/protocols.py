"""The seams of the eval room: what an attacker may touch, and what an attack is."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from eval.documents import AttackPrompt, Attempt
from retrieval.documents import Answer


class Target(Protocol):
    """The public question-and-answer surface. The target decides how many passages it retrieves."""

    def ask(self, question: str) -> Answer: ...


class Attack(Protocol):
    """Tries to get private text out of a target.

    It declares its goal, its threat model and its reference. Each prompt is asked once, in order; the same
    ``seed`` gives the same prompts.
    """

    @property
    def name(self) -> str: ...

    @property
    def goal(self) -> str: ...

    @property
    def threat_model(self) -> str: ...

    @property
    def reference(self) -> str: ...

    @property
    def seed(self) -> int: ...

    def prompts(self) -> Sequence[AttackPrompt]: ...


class Adaptive(Protocol):
    """An attack whose questions depend on the answers so far.

    ``ask`` yields ``budget`` attempts, numbered from 0, each before the next question is made. The same
    ``seed`` and the same answers give the same questions, so a run is replayed from its beginning. A smaller
    budget gives a prefix. An attempt without an answer brought nothing, and the attack continues.
    """

    @property
    def name(self) -> str: ...

    @property
    def goal(self) -> str: ...

    @property
    def threat_model(self) -> str: ...

    @property
    def reference(self) -> str: ...

    @property
    def seed(self) -> int: ...

    def ask(self, target: Target, budget: int) -> Iterator[Attempt]: ...
