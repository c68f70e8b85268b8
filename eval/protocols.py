"""The seams of the eval room: what an attacker may touch, and what an attack is."""

from collections.abc import Sequence
from typing import Protocol

from eval.documents import AttackPrompt
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
