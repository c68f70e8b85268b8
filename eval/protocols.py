"""The seams of the eval room: what an attacker may touch, and what an attack is."""

from collections.abc import Iterator
from typing import Protocol

from eval.documents import Attempt
from retrieval.documents import Answer


class Target(Protocol):
    """The public question-and-answer surface. How many passages it retrieves is its own affair."""

    def ask(self, question: str) -> Answer: ...


class Attack(Protocol):
    """Tries to get private text out of a target.

    It declares what it is after, what its attacker can do, and where it was published. ``run`` makes
    ``planned`` attempts and yields each, also those in which the target failed.
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

    @property
    def planned(self) -> int: ...

    def run(self, target: Target) -> Iterator[Attempt]: ...
