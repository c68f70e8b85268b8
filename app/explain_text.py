"""The text of an explanation in stretches, and sentences about the document."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.documents import Span
from ingest.explain import ExplainedEntity, Explanation

Stretch = tuple[str, Sequence[int]]
"""Some text and the numbers of the entities that hold it, counted from 0."""


def original_stretches(explanation: Explanation) -> Iterator[Stretch]:
    """The original, cut wherever a mention begins or ends."""
    mentions = [(span, number) for number, each in enumerate(explanation.entities) for span in each.mentions]
    return _stretches(explanation.text, mentions)


def sanitized_stretches(explanation: Explanation) -> Iterator[Stretch]:
    """The sanitized text, cut wherever a replacement or a kept mention begins or ends."""
    numbers = {
        (each.link, each.action, each.reason): number for number, each in enumerate(explanation.entities)
    }
    sanitized = explanation.sanitized
    mentions = [
        (Span(start, end), numbers[decision.entity.link, decision.action, decision.reason])
        for decision, (start, end) in zip(sanitized.decisions, sanitized.places, strict=True)
        if start < end
    ]
    return _stretches(sanitized.text, mentions)


def remarks(explanation: Explanation, residual_limit: float | None) -> Iterator[str]:
    """A sentence each about the document as a whole: its risk, its doubts, what was not read.

    ``residual_limit`` is the policy's, None where it has none.
    """
    sanitized = explanation.sanitized
    risk, limit = (
        sanitized.risk,
        "" if residual_limit is None else f" (limit {residual_limit:g})",
    )
    yield (
        f"Detected risk, of found entities only: whole document {risk.before:.3f} before, {risk.after:.3f} "
        f"after; riskiest passage {explanation.passage_risk:.3f} after{limit}."
    )
    for doubt in sanitized.doubts:
        yield f"Doubt: {doubt.removesuffix('.')}."
    for part in sanitized.unread:
        yield f"Not read: {part.kind}, {part.count:,} of it: {part.reason.removesuffix('.')}."


def outcome(entity: ExplainedEntity) -> str:
    """The action, the words with the chance that five guesses see through them, and the rule."""
    words = f" {entity.replacement}" if entity.replacement else ""
    chance = "" if entity.chance is None else f" (five guesses find it: {entity.chance:.0%})"
    return f"{entity.action}{words}{chance}: {entity.reason}"


def strictest(explanation: Explanation, numbers: Sequence[int]) -> ExplainedEntity:
    """The entity with the strictest action."""
    return max((explanation.entities[number] for number in numbers), key=lambda each: each.action.strictness)


def _stretches(text: str, mentions: Sequence[tuple[Span, int]]) -> Iterator[Stretch]:
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for place, (span, _) in enumerate(mentions):
        begins.setdefault(span.start, []).append(place)
        ends.setdefault(span.end, []).append(place)
    open_now: set[int] = set()
    for start, end in pairwise(sorted({0, len(text), *begins, *ends})):
        open_now = (open_now - set(ends.get(start, ()))) | set(begins.get(start, ()))
        yield text[start:end], sorted({mentions[place][1] for place in open_now})
