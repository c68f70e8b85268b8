"""The words for each replaced mention: a rung of its ladder, in a form that fits its sentence."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Entity, Span
from ingest.labels import ORGANIZATION, PERSON, VAGUE, label_of
from ingest.language.identification import is_english
from ingest.language.vocabulary import fold
from ingest.spans import resolve
from ingest.wording.dates import NAMES, date_of
from ingest.wording.descriptions import fit_of_description
from ingest.wording.mentions import (
    LOOK,
    Choose,
    Fit,
    Mention,
    behind_the,
    bracket,
    kind,
    like,
    without_second_article,
)
from ingest.wording.moments import fit_of_age, fit_of_date
from ingest.wording.names import GOVERNMENT, TOLD_APART, Cast, is_sure
from ingest.wording.places import (
    adjective_of,
    is_area,
    is_country,
    is_town_in,
    names_of_area,
    people_of,
    rungs_of_place,
)
from ingest.wording.replace import whole_words
from ingest.wording.rungs import Ladder, Rung, Take, most_specific, with_article
from ingest.wording.sentence import AREAS, MOMENTS, Words, edges, is_verbal, plural
from ingest.wording.sentence import fit as fitted
from ingest.wording.sorts import known_of, number_label

PARAGRAPH = 400
"""Characters on each side of a mention in which its language is read."""
_DESCRIBING = frozenset(("demographic attribute", VAGUE))
_AGE = re.compile(r"(?i)(?<![^\W_])(?:aged?\s(?:of\s)?[0-9]|[0-9a-z]+[- ]years?[- ]old(?![^\W_]))")
_YEAR = re.compile(r"(?:1[89]|20)[0-9]{2}")
_OF_A_STATE = re.compile(
    r" (?:laws?|government|authorities|courts?|citizens?|nationals?|police|army|embassy|market|economy"
    r"|officials?|legislature|regulators?|lawmakers?|residents?|polic(?:y|ies)|passport)(?![^\W_])"
)
_OF_GOVERNMENT = re.compile(rf" {GOVERNMENT}(?![^\W_])")
_NAME = re.compile(r"[A-Z][^\W\d_]+(?:[\s-]+[A-Z][^\W\d_]+)+")
"""Two capitalized words or more."""
_SHORT = re.compile(r"U\.?S\.?(?:A\.?)?|U\.?K\.?")
_NOUN_AFTER = re.compile(
    r" (?P<noun>[a-z]+)(?=[.,;:?!)\n]|$| (?:and|or|in|at|on|for|to|is|was|has|had|will)(?![^\W_]))"
)
_AREAS_BEHIND = (
    re.compile(r", ?(?P<area>[A-Z]{2}(?![^\W_])|D\.C\.|[A-Z][a-z]+ [A-Z][a-z]+)"),
    re.compile(r", ?(?P<area>[A-Z][a-z]+)"),
    re.compile(r" \((?P<area>[A-Z][a-z]+(?: [A-Z][a-z]+)?)\)"),
)
_NEAR = re.compile(r"(?i)(?<![^\W_])(?:at|near(?:by)?|outside|close to|just (?:north|south|east|west) of)\s$")
_POSSESSIVE = re.compile(r"['’]s(?![^\W_])")
_QUALIFIED = re.compile(r", [A-Z]")
_LISTED = re.compile(r", [A-Z][a-z]+(?: [A-Z][a-z]+)?(?:,? and |, [A-Z])")


def worded(text: AnnotatedText, decisions: Sequence[Decision], take: Take) -> list[Decision]:
    """The decisions with words for each generalized mention that has none yet.

    Each has the rung that ``take`` takes of its ladder; rungs of dates and places say nothing that another
    replaced mention said. Of overlapping mentions the first has words for all. Spans may grow over words that
    change with the mention: "on" before a month.
    """
    whole = whole_words(text.text, decisions)
    heads = {_key(each): each for each in resolve(whole)}
    wording = _Wording(text, take, whole, heads.values())
    found = []
    for each in whole:
        head = heads.pop(_key(each), None)
        if head is not None and head.action is Action.GENERALIZE and not head.replacement:
            mention = wording.mention(head)
            fit, chance = wording.fit(mention)
            if not _has_room(fit, mention):
                fit, chance = bracket(mention.label), None
            found.append(_with(head, fit, chance))
        else:
            found.append(each)
    return found


def rungs_of(said: str, label: str) -> list[Rung]:
    """The rungs of a value that stands alone, from specific to general; empty where it has no ladder."""
    found: dict[Rung, None] = {}

    def take(_: int, ladder: Ladder) -> Rung:
        found.update(dict.fromkeys(ladder))
        return ladder[0]

    _alone(said, label, take)
    return list(found)


def words_of(said: str, label: str) -> str:
    """The most specific words for a value that stands alone."""
    return _alone(said, label, most_specific)


def _alone(said: str, label: str, take: Take) -> str:
    entity = Entity(Span(0, len(said)), label, label_of(label).identifier, 1.0, "", 0)
    decisions = [Decision(entity, None, Action.GENERALIZE, "")]
    (decision,) = worded(AnnotatedText(said, [entity]), decisions, take)
    return decision.replacement


class _Wording:
    """What the words of one text depend on: who is who, and what else goes."""

    def __init__(
        self, text: AnnotatedText, take: Take, decisions: Sequence[Decision], heads: Iterable[Decision]
    ) -> None:
        self._cast = Cast(text)
        self._english: dict[tuple[int, int], bool] = {}
        self._take = take
        self._text = text.text
        gone = {
            said
            for each in decisions
            if each.action is not Action.KEEP
            for said in _names_of(text.text[each.entity.span.start : each.entity.span.end], each.entity.label)
        }
        self._gone = {tuple(said.split()) for said in gone}
        self._longest = max(map(len, self._gone), default=0)
        self._goes = {each.entity.span.start: each.entity.label for each in heads}
        self._starts = sorted(each.entity.span.start for each in heads)
        self._ends = sorted(each.entity.span.end for each in heads)

    def mention(self, decision: Decision) -> Mention:
        """The mention of a decision in its text."""
        start, end = decision.entity.span.start, decision.entity.span.end
        before, after = bisect_right(self._ends, start) - 1, bisect_left(self._starts, end)
        return Mention(
            decision.entity,
            self._text[start:end],
            self._text[max(0, start - LOOK) : start],
            self._text[end : end + LOOK],
            (
                start - self._ends[before] if before >= 0 else LOOK,
                self._starts[after] - end if after < len(self._starts) else LOOK,
            ),
        )

    def fit(self, mention: Mention) -> tuple[Fit, float | None]:
        """The words for one mention, and the highest chance of their rungs; None if they have none."""
        if mention.label not in TOLD_APART and not self._is_english(mention):
            named = mention.label in AREAS or mention.label in (PERSON, ORGANIZATION)
            return Fit(self._cast.name(mention.entity, "")) if named else bracket(mention.label), None
        fit, chance = self._in_english(mention)
        return edges(mention, fit), chance

    def _in_english(self, mention: Mention) -> tuple[Fit, float | None]:
        label, link = _form_of(mention), mention.entity.link
        mention = replace(mention, entity=replace(mention.entity, label=label))
        taken: list[Rung] = []

        def choose(ladder: Ladder) -> str:
            last = [Rung(bracket(mention.label).words)] if not ladder or ladder[-1].chance else []
            taken.append(self._take(link, [*ladder, *last]))
            return taken[-1].words

        def unsaid(ladder: Ladder) -> str:
            """A rung that no replaced mention said."""
            return choose([rung for rung in ladder if self._is_unsaid(rung.words)])

        if label in AREAS:
            fit = _of_place(mention, self._cast, unsaid, self._goes)
        elif label == PERSON:
            fit = fitted(mention, Words(self._cast.name(mention.entity, mention.before), named=True), {})
        elif label == ORGANIZATION:
            fit = _named(mention, self._cast)
        elif mention.the and _OF_GOVERNMENT.match(mention.after) and people_of(mention.said):
            fit = Fit(GOVERNMENT, right=len(GOVERNMENT) + 1)
        elif label in MOMENTS:
            fit = fit_of_date(mention, unsaid)
        elif label in TOLD_APART:
            letter = self._cast.apart(mention.entity)
            fit = bracket(label, letter or "")
        else:
            fit = (fit_of_age if label == "person age" else fit_of_description)(mention, choose)
            if (
                label == VAGUE
                and fit == bracket(label)
                and not mention.determined
                and _NAME.fullmatch(mention.said)
                and not mention.said.isupper()
            ):
                fit = _named(mention, self._cast)
        return fit, max((rung.chance for rung in taken), default=None)

    def _is_english(self, mention: Mention) -> bool:
        """Whether English words may stand in a mention's paragraph: it is not surely in another language."""
        at = mention.entity.span.start
        first = self._text.rfind("\n\n", max(0, at - PARAGRAPH), at)
        last = self._text.find("\n\n", at, at + PARAGRAPH)
        start = first + 2 if first >= 0 else max(0, at - at % PARAGRAPH - PARAGRAPH)
        end = last if last >= 0 else start + 2 * PARAGRAPH
        if (start, end) not in self._english:
            self._english[start, end] = is_english(self._text[start:end])
        return self._english[start, end]

    def _is_unsaid(self, rung: str) -> bool:
        said = fold(rung).split()
        parts = (
            tuple(said[first:end])
            for first in range(len(said))
            for end in range(first + 1, min(len(said), first + self._longest) + 1)
        )
        return not any(part in self._gone for part in parts)


def _form_of(mention: Mention) -> str:
    """The label that the words go by: a country may act, and an attribute be an age or a year."""
    if mention.label == ORGANIZATION and is_country(mention.said):
        return "country"
    if mention.label in _DESCRIBING and _AGE.search(mention.said):
        return "person age"
    if other := number_label(mention):
        return other
    if mention.label in (*AREAS, ORGANIZATION) and mention.said[:1].islower() and " " in mention.said:
        # "riding her bicycle home" is no place
        return VAGUE if is_verbal(known_of(mention).forms) else mention.label
    return "date" if mention.label in _DESCRIBING and _YEAR.fullmatch(mention.said) else mention.label


def _key(decision: Decision) -> tuple[int, str, int]:
    """What tells the first of overlapping decisions."""
    return decision.entity.span.start, decision.entity.label, decision.entity.link


def _has_room(fit: Fit, mention: Mention) -> bool:
    """Whether words take no other replaced mention along, but for the area behind a town."""
    left, right = mention.room
    return fit.left <= left and (fit.right <= right or mention.label in AREAS)


def _names_of(said: str, label: str) -> set[str]:
    """A mention's words, folded, and those by which a rung would say the same."""
    found = {fold(said)}
    if label in AREAS:
        found |= names_of_area(said)
    elif label in MOMENTS and (date := date_of(said)) is not None and date.day is None and date.year:
        found.add(f"{NAMES[date.month - 1]} {date.year}".casefold() if date.month else str(date.year))
    return found


def _with(decision: Decision, fit: Fit, chance: float | None) -> Decision:
    span = decision.entity.span
    entity = decision.entity.at(Span(span.start - fit.left, span.end + fit.right))
    return replace(decision, entity=entity, replacement=fit.words, chance=chance)


def _of_place(mention: Mention, cast: Cast, choose: Choose, goes: Mapping[int, str]) -> Fit:
    """The area around a place; of "Paris, Texas" with its state, or "a town in" where the state stays."""
    end = mention.entity.span.end
    behind = _area_behind(mention.after)
    area = behind["area"] if behind else ""
    # A name that may be another thing's says nothing about the world.
    known = is_sure(mention.entity)
    ladder = rungs_of_place(mention.said, mention.label, area) if known else []
    if not area and _QUALIFIED.match(mention.after) and (end + 2 not in goes or goes[end + 2] in AREAS):
        # London, Ontario: what stands behind it says which one is meant
        ladder = ladder if is_area(mention.said) or _is_listed(mention) else []
    if not ladder:
        unnamed = mention.said.islower() or not any(map(str.isalpha, mention.said))
        return kind(mention, "place") if unnamed else _named(mention, cast)
    if behind and mention.after[1] in " (" and is_town_in(mention.said, area):
        if goes.get(end + behind.start("area")) in AREAS:
            return Fit(choose(rungs_of_place(area) or ladder), right=behind.end())
        return Fit("a town in", right=1) if mention.after[0] == "," else Fit("a town")
    rung = choose(ladder)
    if rung.startswith("["):
        return Fit(rung)
    if not is_country(mention.said):
        if is_area(mention.said) and _OF_A_STATE.match(mention.after):
            return Fit("state")
        return _of_area(rung, mention)
    return _of_country(rung, mention)


def _of_country(area: str, mention: Mention) -> Fit:
    """A country in an area; before a noun or a possessive by the area's adjective: "your European trip"."""
    adjective = adjective_of(area)
    short = _SHORT.fullmatch(mention.said) and mention.modifies and not mention.determined
    if short or _OF_A_STATE.match(mention.after):
        return without_second_article(adjective or "national", mention)
    if adjective and _POSSESSIVE.match(mention.after):
        return behind_the(with_article(f"{adjective} country"), mention)
    if adjective and mention.determined and not mention.the and mention.modifies:
        return Fit(adjective)
    return behind_the(area if area.startswith("a ") else f"a country in {area}", mention)


def _of_area(area: str, mention: Mention) -> Fit:
    """An area, which what was at or near a place of it is in; of "our Leeds office" behind its noun."""
    near, noun = _NEAR.search(mention.before), _NOUN_AFTER.match(mention.after)
    if mention.modifies and (near or mention.determined) and noun and noun.end() <= mention.room[1]:
        of_area = f"{noun['noun']} in {area}"
        return Fit(of_area if mention.determined else with_article(of_area), right=noun.end())
    if near and len(near[0]) <= mention.room[0]:
        return Fit(like(f"in {area}", near[0]), len(near[0]))
    return without_second_article(area, mention)


def _area_behind(after: str) -> re.Match[str] | None:
    """A state or country behind a comma: Texas in ", Texas Governor"."""
    for pattern in _AREAS_BEHIND:
        found = pattern.match(after)
        if found and is_area(found["area"]):
            return found
    return None


def _is_listed(mention: Mention) -> bool:
    """Whether a list of places goes on behind a place: Boston, Chicago and Denver."""
    return _LISTED.match(mention.after) is not None


def _named(mention: Mention, cast: Cast) -> Fit:
    """Bank A; "a bank" for what has no name; without "the" where no noun follows."""
    name = cast.name(mention.entity, mention.before)
    if mention.said.islower() and mention.label == ORGANIZATION:
        noun = name.rpartition(" ")[0].lower()
        if noun == "name":
            return bracket(VAGUE)
        return Fit(plural(noun) if mention.said.endswith("s") else with_article(noun))
    if name == GOVERNMENT:
        return without_second_article(f"the {name}", mention)
    return fitted(mention, Words(name, named=True), {})
