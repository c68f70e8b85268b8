"""The words for each replaced mention: a rung of its ladder, in a form that fits its sentence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Span
from ingest.labels import ORGANIZATION, PERSON
from ingest.ladders.descriptions import fit_of_description
from ingest.ladders.mentions import (
    LOOK,
    Choose,
    Fit,
    Mention,
    behind_the,
    bracket,
    without_second_article,
)
from ingest.ladders.moments import fit_of_age, fit_of_date
from ingest.ladders.names import Cast
from ingest.ladders.places import adjective_of, is_area, is_country, rungs_of_place
from ingest.ladders.rungs import Ladder, lowest, with_article
from ingest.language.vocabulary import fold
from ingest.rendering.replace import whole_words
from ingest.spans import resolve

_PLACES = frozenset(("place", "city name", "county", "state or province", "country"))
_MOMENTS = frozenset(("date", "date of birth", "time"))
_OF_A_STATE = re.compile(
    r" (?:laws?|government|authorities|courts?|citizens?|nationals?|police|army|embassy|market|economy"
    r"|passport)(?![^\W_])"
)
_AREA_BEHIND = re.compile(r", ?(?P<area>[A-Z]{2}(?![^\W_])|[A-Z][a-z]+(?: [A-Z][a-z]+)?)")


def worded(text: AnnotatedText, decisions: Sequence[Decision], limit: float) -> list[Decision]:
    """The decisions with words for each generalized mention that has none yet.

    Each has the most specific rung whose chance is at most ``limit``; rungs of dates and places say nothing
    that another replaced mention said. Of overlapping mentions the first has words for all. Spans may grow
    over words that change with the mention: "on" before a month.
    """
    whole = whole_words(text.text, decisions)
    heads = {_key(each): each for each in resolve(whole)}
    wording = _Wording(text, limit, whole, heads.values())
    found = []
    for each in whole:
        head = heads.pop(_key(each), None)
        if head is not None and head.action is Action.GENERALIZE and not head.replacement:
            found.append(_with(head, wording.fit(_mention(text.text, head))))
        else:
            found.append(each)
    return found


class _Wording:
    """What the words of one text depend on: who is who, and what else goes."""

    def __init__(
        self, text: AnnotatedText, limit: float, decisions: Sequence[Decision], heads: Iterable[Decision]
    ) -> None:
        self._cast = Cast(text)
        self._limit = limit
        self._gone = {
            fold(text.text[each.entity.span.start : each.entity.span.end])
            for each in decisions
            if each.action is Action.GENERALIZE
        }
        self._goes = {each.entity.span.start: each.entity.label for each in heads}

    def fit(self, mention: Mention) -> Fit:
        """The words for one mention."""
        label = mention.label
        if label == PERSON:
            return Fit(self._cast.name(mention.entity, mention.before))
        if label == ORGANIZATION:
            return _named(mention, self._cast)
        if label in _PLACES:
            return _of_place(mention, self._cast, self._unsaid, self._goes)
        if label in _MOMENTS:
            return fit_of_date(mention, self._unsaid)
        return (fit_of_age if label == "person age" else fit_of_description)(mention, self._any)

    def _unsaid(self, ladder: Ladder) -> str:
        """A rung that no replaced mention said."""
        return lowest(ladder, self._limit, self._is_unsaid).words

    def _any(self, ladder: Ladder) -> str:
        return lowest(ladder, self._limit, lambda _: True).words

    def _is_unsaid(self, rung: str) -> bool:
        return not any(f" {each} " in f" {fold(rung)} " for each in self._gone)


def _key(decision: Decision) -> tuple[int, str, int]:
    """What tells the first of overlapping decisions."""
    return decision.entity.span.start, decision.entity.label, decision.entity.link


def _mention(text: str, decision: Decision) -> Mention:
    start, end = decision.entity.span.start, decision.entity.span.end
    return Mention(
        decision.entity, text[start:end], text[max(0, start - LOOK) : start], text[end : end + LOOK]
    )


def _with(decision: Decision, fit: Fit) -> Decision:
    span = decision.entity.span
    entity = decision.entity.at(Span(span.start - fit.left, span.end + fit.right))
    return replace(decision, entity=entity, replacement=fit.words)


def _of_place(mention: Mention, cast: Cast, choose: Choose, goes: Mapping[int, str]) -> Fit:
    """The area around a place; of "Paris, Texas" with its state, or "a town in" where the state stays."""
    behind = _AREA_BEHIND.match(mention.after)
    area = behind["area"] if behind and is_area(behind["area"]) else ""
    ladder = rungs_of_place(mention.said, area)
    if not ladder:
        unnamed = mention.said.islower() or not any(map(str.isalpha, mention.said))
        return bracket("place") if unnamed else _named(mention, cast)
    if behind and area:
        if goes.get(mention.entity.span.end + behind.start("area")) in _PLACES:
            return Fit(choose(rungs_of_place(area)), right=behind.end())
        return Fit("a town in", right=1)
    rung = choose(ladder)
    if not is_country(mention.said):
        return without_second_article(rung, mention)
    if _OF_A_STATE.match(mention.after):
        return without_second_article(adjective_of(rung) or rung, mention)
    return behind_the(rung if rung.startswith("a ") else f"a country in {rung}", mention)


def _named(mention: Mention, cast: Cast) -> Fit:
    """Bank A; "a bank" for what has no name; without "the" where no noun follows."""
    name = cast.name(mention.entity, mention.before)
    if mention.said.islower() and mention.label == ORGANIZATION:
        return Fit(with_article(name.rpartition(" ")[0].lower()))
    return Fit(name) if mention.modifies else behind_the(name, mention)
