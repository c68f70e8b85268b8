"""The text of an explanation in stretches, and sentences about the document."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.deciding.policy import Policy
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


def remarks(explanation: Explanation, policy: Policy) -> Iterator[str]:
    """A sentence each about the document as a whole: who fits it, its risk, its doubts, what was not read."""
    sanitized = explanation.sanitized
    if explanation.sanitized.bits is not None:
        yield f"{fitting(explanation, policy).capitalize()}; the policy asks for {policy.k:,.0f}."
    risk = sanitized.risk
    yield f"Detected risk, of found entities only: {risk.before:.3f} before, {risk.after:.3f} after."
    for doubt in sanitized.doubts:
        yield f"Doubt: {doubt.removesuffix('.')}."
    for part in sanitized.unread:
        yield f"Not read: {part.kind}, {part.count:,} of it: {part.reason.removesuffix('.')}."


def fitting(explanation: Explanation, policy: Policy) -> str:
    """How many people fit the facts that stay; of a policy that counts bits."""
    bits = explanation.sanitized.bits or 0.0
    return (
        f"of {policy.people:,.0f} people who might be meant, about {policy.people * 2.0**-bits:,.0f} fit the "
        f"facts that were found and stay ({bits:.1f} bits)"
    )


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
