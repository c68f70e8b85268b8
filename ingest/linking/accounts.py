"""Links across labels: accounts whose name spells a person named in the text."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Document, Entity, Span
from ingest.labels import EMAIL, HANDLE, PERSON, PERSONAL_LINK, label_of
from ingest.language.naming import naming_of
from ingest.language.vocabulary import fold
from ingest.linking.names import spellings
from ingest.linking.values import address

_SCHEME = re.compile(r"^[a-z]+://(?:www\.)?", re.IGNORECASE)
_PATH = re.compile(r"[/?#&=]+")


def link_accounts(document: Document, linked: Sequence[Entity]) -> list[Entity]:
    """Give each account the link of the one person whose name it spells.

    Accounts are e-mail addresses, handles, personal web links and account holders: anna.keller@..., akeller
    and @keller_a belong to the Anna Keller of the text. An account that spells two persons, or none, keeps
    its own link. Links are numbered from 0 in text order.
    """
    people: dict[str, set[int]] = {}
    for entity in linked:
        if entity.label == PERSON:
            for name in spellings(naming_of(document.text, entity.span).words):
                people.setdefault(name, set()).add(entity.link)
    joined: dict[int, int] = {}
    for entity in linked:
        name = _account_name(entity.label, document.text[entity.span.start : entity.span.end])
        if len(spelled := people.get(name, set())) == 1:
            joined[entity.link] = min(spelled)
    numbers: dict[int, int] = {}
    return [
        replace(entity, link=numbers.setdefault(joined.get(entity.link, entity.link), len(numbers)))
        for entity in linked
    ]


def rigid_apart(text: AnnotatedText) -> AnnotatedText:
    """The text with the rigid mentions of each link moved to a link of their own.

    A rigid identifier is always replaced. The name linked with it must not be replaced because of it, nor
    measured as if the identifier were still present.
    """
    beyond = 1 + max((entity.link for entity in text.entities), default=0)
    apart = [
        replace(entity, link=beyond + entity.link) if label_of(entity.label).rigid else entity
        for entity in text.entities
    ]
    return replace(text, entities=apart)


def _account_name(label: str, said: str) -> str:
    """The folded letters of an account name; "" if it is no account."""
    if label == EMAIL:
        said = re.split("[@+%]", address(said))[0]
    elif label == HANDLE:
        said = said.lstrip("@").partition("@")[0]
    elif label == PERSONAL_LINK:
        host, *path = [part for part in _PATH.split(_SCHEME.sub("", said)) if part] or [""]
        said = path[-1] if path else host.partition(".")[0]
    elif label == "bank account name":
        said = "".join(naming_of(said, Span(0, len(said))).words)
    else:
        return ""
    return "".join(filter(str.isalnum, fold(said).casefold())).rstrip("0123456789")
