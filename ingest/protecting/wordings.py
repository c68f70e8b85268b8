"""Words for words: neutral ones from a table, and the rungs of ladders for entities."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Span
from ingest.protecting.edits import Edit
from ingest.spans import Replacement, resolve
from ingest.wording.mentions import KIND_PHRASES
from ingest.wording.replace import render
from ingest.wording.rungs import most_specific
from ingest.wording.unsaid import unsaid
from ingest.wording.words import worded

_ENDS = r"(?=[.,;:!?)]|\s*$|\s+(?:and|but|for|since|so)\b)"
_NOT_BEHIND = (
    r"(?![\w-]|['’]s? (?:room|day|health|rights|shoes|clothes)| (?:tongue|nature|country|in[- ]law)\b)"
)
_NOT_BEFORE = re.compile(r"(?i)(?:\b(?:as|being|am|we|us|got|get|getting|just)|['’]m|[\w'’]-|-)\s?$")
_OPENS = re.compile(r"(?:\A|[.!?…:\n])[ \t\"'“‘(]*\Z")
_OF_ONESELF = ("a person", "in a relationship with")
"""Neutral words that say nothing, or the untrue, behind "I am", "as" or "got"."""


@cache
def neutral_words() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Neutral words, each with the words that it is true of, in the order of the table."""
    text = Path(__file__).with_name("neutral_words.txt").read_text(encoding="utf-8")
    rows = [line.partition(": ") for line in text.splitlines() if line and not line.startswith("#")]
    return tuple((words, tuple(members.split(", "))) for words, _, members in rows)


@cache
def _finder() -> tuple[re.Pattern[str], Sequence[int]]:
    """A pattern with a group for each member, longest first, and the numbers of their lines."""
    members = [(each, number) for number, (_, those) in enumerate(neutral_words()) for each in those]
    members.sort(key=lambda pair: -len(pair[0]))
    groups = "|".join(f"({_pattern(each)})" for each, _ in members)
    return re.compile(rf"(?<![\w'’-])(?:{groups}){_NOT_BEHIND}"), [number for _, number in members]


def _pattern(member: str) -> str:
    said = re.escape(member.removesuffix(".")).replace("'", "['’]")
    return f"[{said[0]}{said[0].upper()}]{said[1:]}{_ENDS if member.endswith('.') else ''}"


def wordings(text: str) -> list[Edit]:
    """One edit for each line of the table whose words stand in the text: of all places of these."""
    lines, (pattern, numbers) = neutral_words(), _finder()
    found: dict[int, list[Replacement]] = {}
    for match in pattern.finditer(text):
        number = numbers[(match.lastindex or 0) - 1]
        words, start = lines[number][0], match.start()
        if _fits(text, start, words):
            words = words[0].upper() + words[1:] if text[start].isupper() else words
            found.setdefault(number, []).append((Span(*match.span()), words))
    said = Counter(lines[number][0] for number in found)
    return [Edit("wording", tuple(found[n])) for n in sorted(found) if said[lines[n][0]] == 1]


def _fits(text: str, start: int, words: str) -> bool:
    """Whether neutral words keep a sentence true and sound where others begin, which are no name."""
    if text[start].isupper() and text[start] != "I" and not _OPENS.search(text[:start]):
        return False
    return words not in _OF_ONESELF or _NOT_BEFORE.search(text[:start]) is None


def entity_edits(text: AnnotatedText, reworded: Sequence[Edit]) -> list[Edit]:
    """One edit for each linked entity that has a true rung: of all its mentions, in words of their ladders.

    Mentions that a neutral wording is of have none, nor those of which only "[detail]" could be said.
    Adjacent replacements go together, and with them all of the same links.
    """
    taken = [span for edit in reworded for span, _ in edit.replacements]
    left = unsaid(text)
    entities = [
        each for each in text.entities if each.link not in left and not any(map(each.span.overlaps, taken))
    ]
    decisions = [Decision(each, None, Action.GENERALIZE, "") for each in entities]
    worded_ones = worded(AnnotatedText(text.text, entities), decisions, most_specific)
    rendered = render(text.text, resolve(worded_ones))
    sets: list[tuple[set[int], list[Replacement]]] = []
    for decision, replacement in zip(rendered.decisions, rendered.replacements, strict=True):
        links, made = {decision.entity.link}, [replacement]
        for each in [each for each in sets if each[0] & links or each[1][-1][0].end == replacement[0].start]:
            sets.remove(each)
            links, made = links | each[0], [*each[1], *made]
        sets.append((links, made))
    return [
        Edit("entity", tuple(made))
        for _, made in sets
        if not any(span.overlaps(each) for span, _ in made for each in taken)
        and not any(_says_little(text.text[span.start : span.end], words) for span, words in made)
    ]


def _says_little(said: str, words: str) -> bool:
    """Whether words are as they were, or a kind stands for them: in brackets one reads well for a number."""
    if words.startswith("["):
        return all(each.isalpha() or each in " -'’." for each in said)
    return said == words or (said.islower() and words.casefold() in KIND_PHRASES)
