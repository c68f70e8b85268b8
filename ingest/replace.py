"""What stands in the text where an entity stood, and the grammar around it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.documents import Action, Decision, Span
from ingest.labels import label_of
from ingest.spans import Replacement, union_of

_ARTICLE_BEFORE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)
_DETERMINER_BEFORE = re.compile(
    # At most one more word may stand between, an adjective or a noun ("the management accountant").
    r"\b(?:an?|the|this|that|these|those|my|your|his|her|its|our|their|whose|each|every|no|some|any)\s+"
    r"(?:(?!(?:to|in|of|at|on|by|for|from|with|and|or|as|is|was|are|were|has|had|into|than|near)\s)"
    r"[a-z-]+\s+)?$",
    re.IGNORECASE,
)
_OWN_ARTICLE = re.compile(r"^an? ")
_SENTENCE_START = re.compile(
    r"(?:^|\n[ \t]*|(?<!\b[A-Za-z])(?<!\b(?:no|nr|mr|ms|dr|st|vs|eg|ie))(?<!\b(?:mrs|nos|ref|tel|fax))"
    r"[.!?][\"”’')\]]*\s+)$",
    re.IGNORECASE,
)
_LOOK_BACK = 40
VAGUE = "identifying detail"


@dataclass(frozen=True, slots=True)
class Rendered:
    """Disjoint replacements in the order of the text, one a decision, and how many articles were mended.

    ``decisions`` are the given ones with the words that were put in, and a vague one beside another one with
    that. A replacement may reach one article further left than its decision.
    """

    decisions: Sequence[Decision]
    replacements: Sequence[Replacement]
    article_repairs: int


def render(text: str, resolved: Sequence[Decision]) -> Rendered:
    """Words for resolved decisions: descriptors for what is generalized, nothing for what is suppressed.

    TRIP-RAG's published example reads "a a gender"; here a descriptor after an article takes that
    article's place, after another determiner it loses its own, at the start of a sentence it is
    capitalized, the same words twice in a row are said once, and "a detail" beside other words is not said.
    An alias stands as it is, and an
    article before it is made to fit: "a Person", "an Organization".
    """
    worded: list[Decision] = []
    replacements: list[Replacement] = []
    repairs = 0
    for decision in _without_vague(text, resolved):
        floor = replacements[-1][0].end if replacements else 0
        span, words, repaired = _worded(text, decision, floor)
        said = next((earlier for _, earlier in reversed(replacements) if earlier), "")
        if replacements and _same_again(text[replacements[-1][0].end : span.start], said, words):
            last, earlier = replacements[-1]
            replacements[-1] = (Span(last.start, span.start), earlier)
            words = ""
        worded.append(replace(decision, replacement=words))
        replacements.append((span, words))
        repairs += repaired
    return Rendered(worded, replacements, repairs)


def _without_vague(text: str, resolved: Sequence[Decision]) -> list[Decision]:
    """A detail with only blanks between it and another generalized mention becomes part of that one."""
    kept: list[Decision] = []
    for decision in resolved:
        if kept and _one_says_nothing(text, kept[-1], decision):
            telling = kept[-1] if decision.entity.label == VAGUE else decision
            both = union_of(kept[-1].entity.span, decision.entity.span)
            kept[-1] = replace(telling, entity=replace(telling.entity, span=both))
        else:
            kept.append(decision)
    return kept


def _one_says_nothing(text: str, one: Decision, other: Decision) -> bool:
    beside = not text[one.entity.span.end : other.entity.span.start].strip(" \t")
    generalized = one.action is other.action is Action.GENERALIZE
    return beside and generalized and VAGUE in (one.entity.label, other.entity.label)


def _worded(text: str, decision: Decision, floor: int) -> tuple[Span, str, bool]:
    span = decision.entity.span
    if decision.action is Action.SUPPRESS:
        return _with_space(text, span, floor), "", False
    words = decision.replacement or label_of(decision.entity.label).descriptor
    before = text[max(floor, span.start - _LOOK_BACK) : span.start]
    article = _ARTICLE_BEFORE.search(before)
    if decision.action is not Action.GENERALIZE:
        return _with_fitting_article(span, words, article)
    if article and _OWN_ARTICLE.match(words):
        if article.group(1)[0].isupper():
            words = words[0].upper() + words[1:]
        return Span(span.start - len(article.group()), span.end), words, True
    if _DETERMINER_BEFORE.search(before) and _OWN_ARTICLE.match(words):
        return span, _OWN_ARTICLE.sub("", words), True
    at_start = span.start == 0 or _SENTENCE_START.search(before)
    if at_start and (floor < span.start or span.start == 0):
        words = words[0].upper() + words[1:]
    return span, words, False


def _with_fitting_article(span: Span, words: str, article: re.Match[str] | None) -> tuple[Span, str, bool]:
    """A name that was put in, with "a" or "an" before it as its first letter wants it."""
    if article is None or _OWN_ARTICLE.match(words):
        return span, words, False
    said, blank = article.groups()
    fitting = said[0] + ("n" if words[0] in "AEIOUaeiou" else "")
    if said.casefold() == fitting.casefold():
        return span, words, False
    return Span(span.start - len(article.group()), span.end), f"{fitting}{blank}{words}", True


def _same_again(gap: str, said: str, words: str) -> bool:
    """Whether only blanks stand between two replacements with the same words."""
    return bool(words) and words.casefold() == said.casefold() and gap.strip(" \t") == ""


def _with_space(text: str, span: Span, floor: int) -> Span:
    """A suppressed span with the blank before it where there is one on either side."""
    left = span.start > floor and text[span.start - 1] == " "
    right = span.end == len(text) or text[span.end] in " .,;:!?\n)"
    return Span(span.start - 1, span.end) if left and right else span
