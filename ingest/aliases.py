"""Aliases: the same stand-in for the same person or organization in every document.

"Somebody met somebody" loses who met whom. An alias is a keyed digest (HMAC-SHA256) of the normalized name,
so nothing is stored, two runs under one key agree, and whoever lacks the key can neither compute the alias
of a name nor test a guess.

What that costs: documents with one alias are linked, by anybody who reads them. They are pseudonymous and no
longer anonymous. Facts that say little in each document add up over all of them, one document in which
the person is known by other means gives the alias away in all others, and whoever can have texts of
their own sanitized under the key can ask for the alias of a name. Descriptors have none of this.

Namesakes share an alias: a person is known by first name and surname, whatever stands between them. Two
different names share one by chance with a probability of 1 in 191 million; among 1,000 people it happens to
any two with 0.26 %, among 10,000 with 23 %. That mixes up two people and reveals neither.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Entity, Span
from ingest.linking.names import PERSON, naming_of, proper
from ingest.linking.organizations import ORGANIZATION, organization_of, without_bracket
from ingest.rules.names import SUFFIXES

Replacements = Literal["descriptor", "alias"]
"""What stands for people and organizations: words for their kind, or an alias of each."""

ALPHABET = "BCDFGHJKMNPQRTVWXZ234679"
"""No vowels, so that no alias is a word, and of 5 and S, 8 and B, 1, I and L, 0 and O one at most."""

WIDTH = 6

Name = tuple[str, ...]
Thing = tuple[str, int]
"""A label and a link."""

_NOUNS = {PERSON: "Person", ORGANIZATION: "Organization"}
_HYPHEN = re.compile(r"(?<=\w)[-‐‑](?=\w)")
_PERSON_ALIAS = re.compile(rf"(?:^|\s)Person [{ALPHABET}]{{{WIDTH}}}$")


def with_aliases(text: AnnotatedText, decisions: Sequence[Decision], key: bytes) -> list[Decision]:
    """Decisions in which what would be generalized to "somebody" gets the alias of its linked entity.

    Only mentions of people and organizations: an e-mail address that is linked with a person stays "an
    email address". Whoever is never named in full keeps the descriptor. ``key`` has 32 bytes.
    """
    aliases = aliases_of(text, key)
    return [
        replace(decision, action=Action.SURROGATE, replacement=alias)
        if decision.action is Action.GENERALIZE and (alias := aliases.get(_thing(decision.entity)))
        else decision
        for decision in decisions
    ]


def aliases_of(text: AnnotatedText, key: bytes) -> Mapping[Thing, str]:
    """The alias of each person and organization of a text that has one, by label and link."""
    fullest: dict[Thing, tuple[int, Name]] = {}
    for entity in text.entities:
        said = text.text[entity.span.start : entity.span.end]
        told: tuple[int, Name] = (0, ())
        if entity.label == PERSON:
            told = _person(said)
        elif entity.label == ORGANIZATION:
            words = organization_of(without_bracket(said)[0]).words
            told = len(words), words
        if told > (0, ()):
            fullest[_thing(entity)] = max(told, fullest.get(_thing(entity), (0, ())))
    return {thing: alias_of(thing[0], name, key) for thing, (_, name) in fullest.items()}


def alias_of(label: str, name: Name, key: bytes) -> str:
    """The alias of the folded words of a name: "Person K7Q2MX"."""
    said = "\0".join(("lethe alias", label, *name))
    number = int.from_bytes(hmac.digest(key, said.encode(), "sha256"))
    letters = []
    for _ in range(WIDTH):
        number, letter = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return f"{_NOUNS[label]} {''.join(letters)}"


def is_person_alias(words: str) -> bool:
    """Whether words that were put in, with an article or without, stand for a person as "somebody" does."""
    return _PERSON_ALIAS.search(words) is not None


def _person(said: str) -> tuple[int, Name]:
    """How full a name is and what of it counts; (0, ()) without both a first name and a surname."""
    name = naming_of(said, Span(0, len(said))).words
    own = proper(name)
    # "Keller-Braun" has two words and is a surname all the same
    joined = _HYPHEN.sub("", said)
    if len(own) < 2 or len(proper(naming_of(joined, Span(0, len(joined))).words)) < 2:
        return 0, ()
    # sorted, since a name without a comma does not tell which of its words is the surname
    return len(own), (*sorted((own[0], own[-1])), *(word for word in name if word in SUFFIXES))


def _thing(entity: Entity) -> Thing:
    return entity.label, entity.link
