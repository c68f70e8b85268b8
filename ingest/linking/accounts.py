"""Links across labels: an address or account whose name spells a person whom the text names."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Document, Entity, Span
from ingest.labels import label_of
from ingest.linking.names import PERSON, naming_of
from ingest.linking.people import MOST_WORDS
from ingest.linking.values import EMAIL, address
from ingest.rules.names import SUFFIXES
from ingest.rules.vocabulary import fold

HANDLE = "account handle"
PERSONAL_LINK = "personal web link"
HOLDER = "bank account name"

_SHORTEST = 3
"""Two letters name too many people to be taken for one of them."""
_SCHEME = re.compile(r"^[a-z]+://(?:www\.)?", re.IGNORECASE)
_PATH = re.compile(r"[/?#&=]+")
_EXTENSION = re.compile(r"[+%]")
_LAST_FIGURES = re.compile(r"[0-9]+$")
_SEVERAL = -1


def link_accounts(document: Document, linked: Sequence[Entity]) -> list[Entity]:
    """Linked entities with each account under the link of the one person whose name it spells.

    Accounts are e-mail addresses, handles, personal web links and account holders: anna.keller@..., akeller
    and @keller_a belong to the Anna Keller of the text. What spells two persons, or nobody, keeps its own
    link. Numbers count from 0 in the order of the text.
    """
    people = _spelled(document.text, linked)
    joined: dict[int, int] = {}
    for entity in linked:
        name = _account_name(entity.label, document.text[entity.span.start : entity.span.end])
        person = people.get(name, _SEVERAL)
        if person != _SEVERAL:
            joined[entity.link] = person
    numbers: dict[int, int] = {}
    return [
        replace(entity, link=numbers.setdefault(joined.get(entity.link, entity.link), len(numbers)))
        for entity in linked
    ]


def rigid_apart(text: AnnotatedText) -> AnnotatedText:
    """The text with the rigid mentions of each link under a number of their own.

    A rigid identifier goes whatever is decided about the name that it is linked with, and so the name must
    not go because of it, nor may what is left of the link be measured as if it were still there.
    """
    beyond = 1 + max((entity.link for entity in text.entities), default=0)
    apart = [
        replace(entity, link=beyond + entity.link) if label_of(entity.label).rigid else entity
        for entity in text.entities
    ]
    return replace(text, entities=apart)


def _spelled(text: str, linked: Sequence[Entity]) -> Mapping[str, int]:
    """What the persons of a text may be called in accounts, with their links."""
    people: dict[str, int] = {}
    for entity in linked:
        if entity.label == PERSON:
            for name in _spellings(naming_of(text, entity.span).words):
                same = people.setdefault(name, entity.link) == entity.link
                people[name] = entity.link if same else _SEVERAL
    return people


def _spellings(words: tuple[str, ...]) -> Collection[str]:
    """annakeller, kelleranna, akeller, kellera, annak and the like; for a single word that word."""
    name = [word for word in words if word not in SUFFIXES]
    if not name or len(name) > MOST_WORDS:
        return ()
    first, last, given, family = name[0], name[-1], "".join(name[:-1]), "".join(name[1:])
    initials = "".join(word[0] for word in name[:-1])
    found = {first, last, family, "".join(name), first + last, last + first, last + given, family + first}
    found |= {first[0] + last, last + first[0], first[0] + family, family + first[0], first + last[0]}
    found |= {initials + last, last + initials}
    return [spelled for spelled in found if len(spelled) >= _SHORTEST]


def _account_name(label: str, said: str) -> str:
    """The letters of an account's own name, folded; "" for what is no account."""
    if label == EMAIL:
        said = _EXTENSION.split(address(said).partition("@")[0])[0]
    elif label == HANDLE:
        said = said.lstrip("@").partition("@")[0]
    elif label == PERSONAL_LINK:
        host, *path = [part for part in _PATH.split(_SCHEME.sub("", said)) if part] or [""]
        said = path[-1] if path else host.partition(".")[0]
    elif label == HOLDER:
        said = "".join(naming_of(said, Span(0, len(said))).words)
    else:
        return ""
    letters = "".join(filter(str.isalnum, fold(said).casefold()))
    return _LAST_FIGURES.sub("", letters)
