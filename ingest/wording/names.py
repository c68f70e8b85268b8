"""Who is who: people, organizations and unknown places of a document as Person A, Bank B, Street C."""

import re
from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase

from ingest.annotated import AnnotatedText
from ingest.documents import Entity
from ingest.labels import EMAIL, ORGANIZATION, PERSON, VAGUE
from ingest.language.vocabulary import WORD, fold, words
from ingest.wording.sentence import AREAS
from ingest.wording.sorts import noun_of

Thing = tuple[str, int]
"""A noun and a link."""

_TITLE = (
    r"(?:[Mm]ister|[Mm]issus|Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Doctor|Sir|Dame|Lord|Lady|Judge"
    r"|Rev|Fr|Nurse|Uncle|Aunt|Auntie)"
)
_INITIAL = re.compile(r"(?<![^\W_])[A-Z](?![^\W_]|\.)")
_TITLED = re.compile(rf"(?:{_TITLE}\.? (?:(?:and|&) )?)+")
_TITLE_BEFORE = re.compile(rf"(?<![^\W_]){_TITLE}\.? $")
_CODE = re.compile(r"[A-Z]{2,}-?[0-9]+")
_ACRONYM = re.compile(r"(?:the )?[A-Z]{3,5}")
_BY_LABEL = {"city name": "Town", "county": "County", "state or province": "Region", "country": "Country"}


GOVERNMENT = "Government"
TOLD_APART = (EMAIL, "account handle", "phone number")
"""Labels whose values stand for people, who are told apart by them."""
_OF_ANY_KIND = ("Person", "Organization", "Place", "Town")
"""Nouns that rest on the label alone."""
SURE = 0.85
"""The confidence below which readers of development texts found labels of names wrong far more often."""


def is_sure(entity: Entity) -> bool:
    """Whether the label of a name is believed."""
    return entity.confidence >= SURE or not entity.source.startswith("model:")


def letters(number: int) -> str:
    """A, B, ... Z, AA, AB: the letters of the ``number``-th thing, from 0."""
    found = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(ascii_uppercase))
        found = ascii_uppercase[rest] + found
    return found


class Cast:
    """The people, organizations and places of one text, each noun with letters of its own.

    Letters follow the first mention, so no document's letters say anything about another's.
    """

    def __init__(self, text: AnnotatedText) -> None:
        self._letters: dict[Thing, str] = {}
        self._taken: dict[str, int] = {}
        self._same: dict[tuple[str, str], Thing] = {}
        self._text = text.text
        self._initials = {
            word
            for entity in text.entities
            for word in _INITIAL.findall(text.text, entity.span.start, entity.span.end)
        }
        self._apart = {
            label: list(dict.fromkeys(each.link for each in text.entities if each.label == label))
            for label in TOLD_APART
        }
        self._labels = Counter((entity.label, self._said(entity)) for entity in text.entities)
        self._short = {
            "".join(word[0] for word in WORD.findall(self._said(entity)))
            for entity in text.entities
            if entity.label == PERSON
        }
        self._nouns = {link: self._noun(mentions) for link, mentions in text.mentions().items()}
        # A text may have a Person A of its own.
        nouns = "|".join(map(re.escape, sorted({"Person", "Name", *self._nouns.values()})))
        self._initials |= set(re.findall(rf"(?<!\w)(?:{nouns}) ([A-Z]{{1,2}})(?!\w)", text.text))
        self._governments = len(
            {self._said(each) for each in text.entities if self._nouns[each.link] == GOVERNMENT}
        )

    def apart(self, entity: Entity) -> str | None:
        """The letter of a mail address or the like among several of the text; None if it is alone."""
        links = self._apart[entity.label]
        return letters(links.index(entity.link)) if len(links) > 1 else None

    def name(self, entity: Entity, before: str) -> str:
        """Person A; after a title, or with one, Mr. A; without a letter the only government."""
        noun = self._nouns[entity.link]
        said = self._said(entity)
        thing = noun, entity.link
        if noun != "Person":
            thing = self._same.setdefault((noun, said), thing)
        if thing not in self._letters:
            self._letters[thing] = self._next(noun)
        letter = self._letters[thing]
        if noun == GOVERNMENT and self._governments == 1:
            return GOVERNMENT
        if noun not in ("Person", "Name"):
            return f"{noun} {letter}"
        titled = _TITLED.match(self._text, entity.span.start, entity.span.end)
        if titled and titled.end() < entity.span.end:
            return f"{titled.group()}{letter}"
        return letter if _TITLE_BEFORE.search(before) else f"{noun} {letter}"

    def _is_firm(self, name: str) -> bool:
        """Whether a name is an organization's elsewhere in the text, or an acronym and nobody's initials."""
        said = fold(name).removeprefix("the ")
        if said in words("given_names", "given_names_ambiguous", "surnames"):
            return False
        acronym = _ACRONYM.fullmatch(name) is not None and said not in self._short
        return acronym or self._labels[ORGANIZATION, said] >= max(1, self._labels[PERSON, said])

    def _next(self, noun: str) -> str:
        """The next letters of a noun that no name of the text is written with."""
        number = self._taken.get(noun, 0)
        while letters(number) in self._initials:
            number += 1
        self._taken[noun] = number + 1
        return letters(number)

    def _said(self, entity: Entity) -> str:
        return fold(self._text[entity.span.start : entity.span.end]).removeprefix("the ")

    def _noun(self, mentions: Sequence[Entity]) -> str:
        noun = self._kind(mentions)
        known = noun not in _OF_ANY_KIND and not any(each.label in AREAS for each in mentions)
        sure = known or any(is_sure(each) for each in mentions)
        return noun if sure else "Name"

    def _kind(self, mentions: Sequence[Entity]) -> str:
        said = [(entity.label, self._text[entity.span.start : entity.span.end]) for entity in mentions]
        if all(_CODE.fullmatch(name) for _, name in said):
            return "Item"
        if any(label == PERSON and not self._is_firm(name) for label, name in said):
            return "Person"
        if all(label == VAGUE for label, _ in said):
            return "Name"
        if any(label in (PERSON, ORGANIZATION) for label, _ in said):
            if all(fold(name).endswith(GOVERNMENT.lower()) for _, name in said):
                return GOVERNMENT
            return noun_of(self._text, mentions) or "Organization"
        by_label = (_BY_LABEL[label] for label, _ in said if label in _BY_LABEL)
        return noun_of(self._text, mentions) or next(by_label, "Place")
