"""Entity type with a number: PERSON_FULL_NAME_1, the same for the same linked entity of a document.

The baseline that truthful text sanitization calls "entity type"; coreference stays readable.
"""

from collections.abc import Sequence

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision
from ingest.protocols import Hazards

REASON = "every detected entity becomes its type and a number"


class EntityType:
    """Numbers the linked entities of each label from 1, in text order."""

    name = "entity-type"

    def decide(self, texts: Sequence[AnnotatedText], hazards: Sequence[Hazards]) -> list[Sequence[Decision]]:
        """A decision for each mention; mentions of a link with the same label get the same words."""
        return [_decided(text) for text in texts]


def _decided(text: AnnotatedText) -> list[Decision]:
    numbers: dict[str, dict[int, int]] = {}
    for entity in sorted(text.entities, key=lambda e: (e.span, e.label)):
        of_label = numbers.setdefault(entity.label, {})
        of_label.setdefault(entity.link, len(of_label) + 1)
    return [
        Decision(
            entity, None, Action.SURROGATE, REASON, _words(entity.label, numbers[entity.label][entity.link])
        )
        for entity in text.entities
    ]


def _words(label: str, number: int) -> str:
    return f"{label.upper().replace(' ', '_')}_{number}"
