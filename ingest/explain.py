"""Why each linked entity of a document was treated as it was."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Identifier, SanitizedDocument, Scores, Span


@dataclass(frozen=True, slots=True)
class ExplainedEntity:
    """A linked entity, its decision, and all its spans in the original.

    A link whose rigid mentions were decided separately yields two of these with the same ``link`` and scores.
    ``replacement`` is empty if the entity was kept, suppressed, or lies inside another replacement.
    """

    link: int
    label: str
    identifier: Identifier
    mentions: Sequence[Span]
    scores: Scores | None
    action: Action
    reason: str
    replacement: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A document as read, its linked entities in text order, and its sanitized form.

    ``passage_risk`` is the highest absolute risk of any passage of the sanitized text, over detected
    mentions: a policy's residual limit bounds it.
    """

    text: str = field(repr=False)
    entities: Sequence[ExplainedEntity]
    sanitized: SanitizedDocument
    passage_risk: float


def explanation_of(
    text: AnnotatedText, decisions: Sequence[Decision], sanitized: SanitizedDocument, passage_risk: float
) -> Explanation:
    """Group the per-mention decisions of one text by linked entity."""
    words = {each.entity.span: each.replacement for each in sanitized.decisions}
    alike: dict[tuple[int, Action, str], list[Decision]] = {}
    for decision in sorted(decisions, key=lambda each: (each.entity.span, each.entity.label)):
        alike.setdefault((decision.entity.link, decision.action, decision.reason), []).append(decision)
    return Explanation(
        text.text, [_explained(group, words) for group in alike.values()], sanitized, passage_risk
    )


def _explained(group: Sequence[Decision], words: dict[Span, str]) -> ExplainedEntity:
    spans = [each.entity.span for each in group]
    longest = max(group, key=lambda each: len(each.entity.span))
    said = [words[span] for span in spans if words.get(span)]
    return ExplainedEntity(
        longest.entity.link,
        longest.entity.label,
        longest.entity.identifier,
        spans,
        longest.scores,
        longest.action,
        longest.reason,
        said[0] if said and longest.action is not Action.KEEP else "",
    )
