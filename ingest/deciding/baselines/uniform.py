"""The methods with one action for all entities: the end points of every comparison.

They report no scores, because they use none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.protocols import Hazards


@dataclass(frozen=True, slots=True)
class Uniform:
    """One action for every detected entity."""

    name: str
    action: Action
    reason: str

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """The same decision for each mention."""
        return [
            [Decision(entity, None, self.action, self.reason) for entity in text.entities] for text in texts
        ]


ORIGIN = Uniform("origin", Action.KEEP, "nothing is sanitized")
REDACT = Uniform("redact", Action.GENERALIZE, "every detected entity is generalized")
INTACT = replace(REDACT, name="intact")
SUPPRESS = Uniform("suppress", Action.SUPPRESS, "every detected entity is suppressed")
