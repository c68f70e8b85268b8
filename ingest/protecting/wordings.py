"""Words for words: neutral ones from a table, and the rungs of ladders for entities."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Entity, Span
from ingest.labels import ORGANIZATION, PERSON
from ingest.ladders.mentions import KIND_PHRASES, LOOK, Mention
from ingest.ladders.rungs import most_specific
from ingest.ladders.unsaid import without_unsaid
from ingest.ladders.wording import worded
from ingest.protecting.edits import Edit, begins_sentence
from ingest.rendering.replace import render
from ingest.spans import Replacement, joined, resolve

Line = tuple[str, tuple[str, ...]]
_ENDS = r"(?=[.,;:!?)]|\s*$|\s+(?:and|but|for|since|so)\b)"
_NOT_BEHIND = (
    r"(?![\w-]|['’]s? (?:room|day|health|rights|shoes|clothes)| (?:tongue|nature|country|in[- ]law)\b)"
)
_NOT_BEFORE = re.compile(r"(?i)(?:\b(?:as|being|am|we|us|got|get|getting|just)|['’]m|[\w'’]-|-)\s?$")
_OF_ONESELF = ("a person", "in a relationship with")
"""Neutral words that say nothing, or the untrue, behind "I am", "as" or "got"."""

_LIST_AFTER = re.compile(r"(?:,|,? and| &) [A-Z]")
_LIST_BEFORE = re.compile(r"[A-Z][\w'’]+(?:,| and| &) $")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@cache
def neutral_words() -> tuple[Line, ...]:
    """Neutral words, each with the words that it is true of, in the order of the table."""
    text = Path(__file__).with_name("neutral_words.txt").read_text(encoding="utf-8")
    rows = [line.partition(":") for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(
        (words.strip(), tuple(each.strip() for each in members.split(","))) for words, _, members in rows
    )


@cache
def _patterns() -> tuple[tuple[int, re.Pattern[str]], ...]:
    """The pattern of each member with the number of its line, longest members first."""
    members = [(each, number) for number, (_, those) in enumerate(neutral_words()) for each in those]
    members.sort(key=lambda pair: -len(pair[0]))
    return tuple((number, _pattern(each)) for each, number in members)


def _pattern(member: str) -> re.Pattern[str]:
    said = re.escape(member.removesuffix(".")).replace("'", "['’]")
    first = said[0]
    either = f"[{first}{first.upper()}]" if first.isalpha() else first
    ends = _ENDS if member.endswith(".") else ""
    return re.compile(rf"(?<![\w'’-]){either}{said[1:]}{_NOT_BEHIND}{ends}")


def wordings(text: str) -> list[Edit]:
    """One edit for each line of the table whose words stand in the text: of all places of these."""
    taken: dict[Span, int] = {}
    for number, pattern in _patterns():
        for match in pattern.finditer(text):
            span = Span(*match.span())
            if not any(span.overlaps(other) for other in taken) and _fits(
                text, span, neutral_words()[number][0]
            ):
                taken[span] = number
    said = Counter(neutral_words()[number][0] for number in set(taken.values()))
    return [
        Edit(
            "wording",
            tuple((span, _like(words, text, span)) for span in sorted(taken) if taken[span] == number),
        )
        for number, (words, _) in enumerate(neutral_words())
        if number in taken.values() and said[words] == 1
    ]


def _fits(text: str, span: Span, words: str) -> bool:
    if text[span.start].isupper() and text[span.start] != "I" and not begins_sentence(text, span.start):
        return False
    return words not in _OF_ONESELF or _NOT_BEFORE.search(text[: span.start]) is None


def _like(words: str, text: str, span: Span) -> str:
    return words[0].upper() + words[1:] if text[span.start].isupper() else words


def entity_edits(text: AnnotatedText, reworded: Sequence[Edit]) -> list[Edit]:
    """One edit for each linked entity that has a true rung: of all its mentions, in words of their ladders.

    Mentions that a neutral wording is of have none, nor those of which only "[detail]" could be said.
    """
    taken = [span for edit in reworded for span, _ in edit.replacements]
    entities = [
        each
        for each in without_unsaid(text, frozenset()).entities
        if not any(each.span.overlaps(span) for span in taken) and not _is_doubtful(text.text, each)
    ]
    decisions = [Decision(each, None, Action.GENERALIZE, "") for each in entities]
    annotated = AnnotatedText(text.text, entities)
    rendered = render(text.text, resolve(worded(annotated, decisions, most_specific)))
    made = list(zip(rendered.decisions, rendered.replacements, strict=True))
    groups = joined(
        [([decision.entity], [replacement]) for decision, replacement in made],
        lambda one, other: one[1][-1][0].end == other[1][0][0].start,
        lambda one, other: ([*one[0], *other[0]], [*one[1], *other[1]]),
    )
    return _by_link(text.text, groups, taken)


def _by_link(
    text: str, groups: Sequence[tuple[list[Entity], list[Replacement]]], taken: Sequence[Span]
) -> list[Edit]:
    """Adjacent replacements go together, and with them all of the same links."""
    sets: list[tuple[set[int], list[Replacement]]] = []
    for entities, replacements in groups:
        links, found = {each.link for each in entities}, list(replacements)
        for other in [each for each in sets if each[0] & links]:
            sets.remove(other)
            links |= other[0]
            found = [*other[1], *found]
        sets.append((links, found))
    return [
        Edit("entity", tuple(found))
        for links, found in sets
        if not any(span.overlaps(each) for span, _ in found for each in taken)
        and all(text[span.start : span.end] != words for span, words in found)
        and not any(_says_little(text, span, words) for span, words in found)
    ]


def _says_little(text: str, span: Span, words: str) -> bool:
    """Whether a kind stands for words, where in brackets it reads well for a number alone, or a wrong one."""
    said = text[span.start : span.end]
    if said.endswith(".") or ("@" in said) > words.startswith(("[email", "[username")):
        return True
    if words.startswith("["):
        return all(each.isalpha() or each in " -'’." for each in said)
    return said.islower() and words.casefold() in KIND_PHRASES


def _is_doubtful(text: str, entity: Entity) -> bool:
    """Whether readers found such a mention cut short or taken for another thing."""
    start, end = entity.span.start, entity.span.end
    said, before, after = text[start:end], text[max(0, start - LOOK) : start], text[end : end + LOOK]
    if entity.label == ORGANIZATION and (_LIST_AFTER.match(after) or _LIST_BEFORE.search(before)):
        return True
    if entity.label == PERSON and before.endswith((" at ", '"', "“")):
        return True
    if entity.label == "job title" and Mention(entity, said, before, after).modifies:
        return True
    return entity.label != "date" and _DAY.search(said) is not None
