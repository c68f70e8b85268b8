"""Apply decisions to a text: whole words, the grammar around them, and the remaining entities."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.annotated import AnnotatedText, residual_spans
from ingest.documents import Action, Decision, Span
from ingest.labels import VAGUE, label_of
from ingest.language.plain_letters import unescaped
from ingest.protocols import Applied
from ingest.spans import Replacement, Shift, joined, resolve, union_of
from ingest.wording.rungs import with_article
from ingest.wording.shape import Shape, unsplit


def apply(text: AnnotatedText, decisions: Sequence[Decision]) -> Applied:
    """Apply decisions.

    A kept mention inside a replaced span is dropped; of a partly replaced one the rest remains.
    """
    rendered = render(text.text, resolve(unsplit(text.text, whole_words(text.text, decisions))))
    shift = Shift(rendered.replacements)
    shown: list[tuple[Decision, tuple[int, int]]] = [
        (decision, shift.of_replacement(number)) for number, decision in enumerate(rendered.decisions)
    ]
    kept = [decision for decision in decisions if decision.action is Action.KEEP]
    for decision in kept:
        for piece, place in residual_spans(text.text, decision.entity, shift):
            part = replace(decision, entity=decision.entity.at(piece))
            shown.append((part, (place.start, place.end)))
    shown.sort(key=lambda pair: (pair[0].entity.span, pair[0].entity.label))
    return Applied(
        text.replaced(rendered.replacements, [decision.entity for decision in kept]),
        decisions,
        [decision for decision, _ in shown],
        [place for _, place in shown],
        rendered.article_repairs,
    )


_ARTICLE_BEFORE = re.compile(r"\b(an?)(\s+[\"“‘']?)$", re.IGNORECASE)
_DETERMINER_BEFORE = re.compile(
    # At most one more word may come between, an adjective or a noun ("the management accountant").
    r"\b(?:(?:one|another)\s+|(?:an?|the|this|that|these|those|my|your|his|her|its|our|their|whose|each|every"
    r"|no|some|any)\s+"
    r"(?:(?!(?:to|in|of|at|on|by|for|from|with|and|or|as|is|was|are|were|has|had|into|than|near|after|before"
    r"|until|since|during|about|over|under|through|via|if|when|while|where|because|not|will|would)\s)"
    r"[a-z-]+\s+)?)[\"“‘']?$",
    re.IGNORECASE,
)
_OWN_ARTICLE = re.compile(r"^(an?) ")
_SENTENCE_START = re.compile(
    r"(?:^|\n[ \t]*|(?<!\b[A-Za-z])(?<!\b(?:no|nr|mr|ms|dr|st|vs|eg|ie))(?<!\b(?:mrs|nos|ref|tel|fax))"
    r"[.!?][\"”’')\]]*\s+)$",
    re.IGNORECASE,
)
_LOOK_BACK = 40


@dataclass(frozen=True, slots=True)
class Rendered:
    """Disjoint replacements in text order, one per decision, and the number of repaired articles.

    ``decisions`` are the given ones with their replacements; a vague one next to another is merged into it. A
    replacement may start one article further left than its decision.
    """

    decisions: Sequence[Decision]
    replacements: Sequence[Replacement]
    article_repairs: int


def render(text: str, resolved: Sequence[Decision]) -> Rendered:
    """Replacements for resolved decisions: descriptors for generalization, nothing for suppression.

    TRIP-RAG's published example reads "a a gender". Here a descriptor replaces an article before it, loses
    its own after another determiner, and is capitalized at the start of a sentence. The same words twice in
    a row are written once, and "a detail" next to another replacement is dropped. An alias is unchanged; an
    article before it is adapted: "a Person", "an Organization".
    """
    shape = Shape(text) if resolved else None
    worded: list[Decision] = []
    replacements: list[Replacement] = []
    repairs, said = 0, ""
    for decision in _without_vague(text, resolved):
        floor = replacements[-1][0].end if replacements else 0
        span, words, repaired = _worded(text, decision, floor)
        if replacements and _same_again(text[replacements[-1][0].end : span.start], said, words):
            last, earlier = replacements[-1]
            replacements[-1] = (Span(last.start, span.start), earlier)
            words = ""
        if shape:
            place = decision.entity.span
            shaped = shape.takes(place, words)
            span, words = (place, shaped) if shaped.startswith('"') and span != place else (span, shaped)
        worded.append(replace(decision, replacement=words))
        replacements.append((span, words))
        said = words or said
        repairs += repaired
    return Rendered(worded, replacements, repairs)


def _without_vague(text: str, resolved: Sequence[Decision]) -> list[Decision]:
    """Merge a detail without words into another generalized mention if only blanks separate them."""

    def both(one: Decision, other: Decision) -> Decision:
        telling = one if _is_bare(other) else other
        return replace(telling, entity=telling.entity.at(union_of(one.entity.span, other.entity.span)))

    return joined(resolved, lambda one, other: _one_says_nothing(text, one, other), both)


def _one_says_nothing(text: str, one: Decision, other: Decision) -> bool:
    beside = not text[one.entity.span.end : other.entity.span.start].strip(" ")
    generalized = one.action is other.action is Action.GENERALIZE
    return beside and generalized and (_is_bare(one) or _is_bare(other))


def _is_bare(decision: Decision) -> bool:
    """Whether a detail has no words but its kind: others, such as a verb, belong to the sentence."""
    return decision.entity.label == VAGUE and decision.replacement[:1] in ("", "[")


def _worded(text: str, decision: Decision, floor: int) -> tuple[Span, str, bool]:
    span = decision.entity.span
    if decision.action is Action.SUPPRESS:
        return _with_space(text, span, floor), "", False
    words = decision.replacement or label_of(decision.entity.label).descriptor
    before = text[max(floor, span.start - _LOOK_BACK) : span.start]
    article = _ARTICLE_BEFORE.search(before)
    if decision.action is not Action.GENERALIZE:
        return _with_fitting_article(span, words, article)
    if article and (own := _OWN_ARTICLE.match(words)):
        first = own[1].capitalize() if article[1][0].isupper() else own[1]
        quoted = f"{article[2].strip()}{words[own.end() :]}"
        return Span(span.start - len(article[0]), span.end), f"{first} {quoted}", True
    if _DETERMINER_BEFORE.search(before) and _OWN_ARTICLE.match(words):
        return span, _OWN_ARTICLE.sub("", words), True
    if article:
        return _with_fitting_article(span, words, article)
    at_start = span.start == 0 or _SENTENCE_START.search(before)
    small = text[span.start : span.start + 1].islower()
    if at_start and not small and (floor < span.start or span.start == 0):
        words = words[0].upper() + words[1:]
    return span, words, False


def _with_fitting_article(span: Span, words: str, article: re.Match[str] | None) -> tuple[Span, str, bool]:
    """The replacement name, with "a" or "an" before it to match its first letter."""
    first = next(filter(str.isalnum, words), "")
    if article is None or not first or _OWN_ARTICLE.match(words):
        return span, words, False
    said, blank = article.groups()
    fitting = said[0] + ("n" if with_article(words.lstrip("[(\"“‘'")).startswith("an ") else "")
    if said.casefold() == fitting.casefold():
        return span, words, False
    return Span(span.start - len(article.group()), span.end), f"{fitting}{blank}{words}", True


def _same_again(gap: str, said: str, words: str) -> bool:
    """Whether only blanks separate two replacements with the same words."""
    return bool(words) and words.casefold() == said.casefold() and gap.strip(" ") == ""


def _with_space(text: str, span: Span, floor: int) -> Span:
    """A suppressed span, extended by the blank before it if it has blanks on both sides."""
    left = span.start > floor and text[span.start - 1] == " "
    right = span.end == len(text) or text[span.end] in " .,;:!?\n)"
    return Span(span.start - 1, span.end) if left and right else span


_SPACELESS = (
    "\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Scripts without blanks between words, or that attach endings to names as Korean does."""
_SPACELESS_CHAR = re.compile(f"[{_SPACELESS}]")
_CHAR = rf"[^\W_{_SPACELESS}]"
_JOINT = r"(?<=[0-9])(?:\.(?=[0-9])|:(?=[0-9]{2}(?![0-9]))|,(?=[0-9]{3}(?![0-9])))"
"""Between digits of one number or time; any other comma may part the cells of a table."""
_TOKEN = re.compile(rf"{_CHAR}+(?:(?:{_JOINT}|(?<=[A-Z])&(?=[A-Z])){_CHAR}+)*")
_INNER = frozenset(".,:&")
_LETTERS_OR_DIGITS = re.compile(rf"[^\W\d_{_SPACELESS}]+|[0-9]+")


def whole_words(text: str, decisions: Sequence[Decision]) -> list[Decision]:
    """Widen replacing decisions so that none begins or ends inside a word or number.

    "38" of "38.5", "12" of "12th" and "B" of "B&Q" are widened to the whole token. An alias or a changed
    value is widened only if letters would touch letters, or digits digits: "14" may precede "mg".
    """
    text = unescaped(text)
    if not any(_touches(text, each.entity.span) for each in decisions):
        return list(decisions)
    by_action = {
        Action.GENERALIZE: _Tokens(text, _TOKEN),
        Action.SURROGATE: _Tokens(text, _LETTERS_OR_DIGITS),
    }
    return [
        _widened(by_action[each.action], each) if each.action in by_action else each for each in decisions
    ]


def _touches(text: str, span: Span) -> bool:
    """Whether the span touches a letter, a digit or a separator within a number."""
    before, behind = text[max(0, span.start - 1) : span.start], text[span.end : span.end + 1]
    return before.isalnum() or behind.isalnum() or before in _INNER or behind in _INNER


class _Tokens:
    """The words and numbers of a text, cached."""

    def __init__(self, text: str, kind: re.Pattern[str]) -> None:
        self.text = text
        self._spans = [match.span() for match in kind.finditer(text)]
        self._starts = [start for start, _ in self._spans]

    def around(self, place: int) -> tuple[int, int] | None:
        """The token that the character at ``place`` belongs to."""
        index = bisect_right(self._starts, place) - 1
        if index < 0 or place >= self._spans[index][1]:
            return None
        return self._spans[index]


def _widened(tokens: _Tokens, decision: Decision) -> Decision:
    span = decision.entity.span
    start, end = span.start, span.end
    before, behind = tokens.around(start - 1), tokens.around(end)
    if before and _are_one(decision, tokens.text[start - 1], tokens.text[start]):
        start = before[0]
    if behind and _are_one(decision, tokens.text[end], tokens.text[end - 1]):
        end = behind[1]
    return replace(decision, entity=replace(decision.entity, span=Span(start, end)))


def _are_one(decision: Decision, outside: str, inside: str) -> bool:
    """Whether two characters at an edge belong together, or would after the replacement."""
    if decision.action is Action.SURROGATE:
        return (outside.isalpha() and inside.isalpha()) or (outside.isdigit() and inside.isdigit())
    return _SPACELESS_CHAR.match(inside) is None
