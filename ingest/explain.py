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
    ``chance`` is the highest of its mentions' (``ingest.documents.Decision``).
    """

    link: int
    label: str
    identifier: Identifier
    mentions: Sequence[Span]
    scores: Scores | None
    action: Action
    reason: str
    replacement: str
    chance: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A document as read, its linked entities in text order, and its sanitized form."""

    text: str = field(repr=False)
    entities: Sequence[ExplainedEntity]
    sanitized: SanitizedDocument


def explanation_of(
    text: AnnotatedText, decisions: Sequence[Decision], sanitized: SanitizedDocument
) -> Explanation:
    """Group the per-mention decisions of one text by linked entity."""
    written: dict[int, list[Decision]] = {}
    for each in sanitized.decisions:
        written.setdefault(each.entity.link, []).append(each)
    alike: dict[tuple[int, Action, str], list[Decision]] = {}
    for decision in sorted(decisions, key=lambda each: (each.entity.span, each.entity.label)):
        alike.setdefault((decision.entity.link, decision.action, decision.reason), []).append(decision)
    return Explanation(
        text.text,
        [_explained(group, written.get(group[0].entity.link, ())) for group in alike.values()],
        sanitized,
    )


def _explained(group: Sequence[Decision], written: Sequence[Decision]) -> ExplainedEntity:
    """``written`` are the decisions of the link as written; their spans may have grown."""
    spans = [each.entity.span for each in group]
    longest = max(group, key=lambda each: len(each.entity.span))
    kept = longest.action is Action.KEEP
    own = [] if kept else [each for each in written if any(map(each.entity.span.overlaps, spans))]
    return ExplainedEntity(
        longest.entity.link,
        longest.entity.label,
        longest.entity.identifier,
        spans,
        longest.scores,
        longest.action,
        longest.reason,
        next((each.replacement for each in own if each.replacement), ""),
        max((each.chance for each in own if each.chance is not None), default=None),
    )
