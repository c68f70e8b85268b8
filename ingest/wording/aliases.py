"""Aliases: the same stand-in for the same person or organization in every document.

"Somebody met somebody" loses who met whom. An alias is a keyed digest (HMAC-SHA256) of the normalized name,
so nothing is stored, two runs under one key agree, and without the key nobody can compute the alias of a
name or test a guess.

The cost: any reader can link documents with the same alias. They are pseudonymous, no longer anonymous. Facts
that say little in each document add up over all of them. One document in which the person is known by other
means reveals the alias in all others. A user who can have texts sanitized under the key can look up the alias
of a name. Descriptors have none of these problems.

Namesakes share an alias: only first name and surname count. Two different names share one by chance with
probability 1 in 191 million; some two of 1,000 people do with 0.26 %, of 10,000 with 23 %. Such a collision
mixes up two people and reveals neither.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.documents import Action, Decision, Entity, Span
from ingest.labels import ORGANIZATION, PERSON
from ingest.language.name_grammar import SUFFIXES
from ingest.language.naming import naming_of, proper
from ingest.linking.names import organization_of, without_bracket

ALPHABET = "BCDFGHJKMNPQRTVWXZ234679"
"""No vowels, so that no alias is a word, and no look-alikes such as 5 and S or 8 and B together."""

WIDTH = 6

Name = tuple[str, ...]
Thing = tuple[str, int]
"""A label and a link."""

_NOUNS = {PERSON: "Person", ORGANIZATION: "Organization"}
_HYPHEN = re.compile(r"(?<=\w)[-‐‑](?=\w)")
_ALIAS = re.compile(rf"\b(?:{'|'.join(_NOUNS.values())}) [{ALPHABET}]{{{WIDTH}}}$")
_PERSON_ALIAS = re.compile(rf"(?:^|\s)Person (?:[{ALPHABET}]{{{WIDTH}}}|[A-Z]{{1,2}})$")


def with_aliases(text: AnnotatedText, decisions: Sequence[Decision], key: bytes) -> list[Decision]:
    """The decisions with aliases in place of "somebody" and the like.

    Only for mentions of people and organizations: an e-mail address linked with a person stays "an email
    address". Entities never named in full keep the descriptor. ``key`` has 32 bytes.
    """
    aliases = aliases_of(text, key)
    return [
        replace(decision, action=Action.SURROGATE, replacement=alias)
        if decision.action is Action.GENERALIZE and (alias := aliases.get(_thing(decision.entity)))
        else decision
        for decision in decisions
    ]


def aliases_of(text: AnnotatedText, key: bytes) -> Mapping[Thing, str]:
    """The alias of each person and organization named in full, by label and link."""
    return {thing: alias_of(thing[0], name, key) for thing, name in full_names(text).items()}


def full_names(text: AnnotatedText) -> Mapping[Thing, Name]:
    """The fullest name of each person and organization named in full, by label and link."""
    fullest: dict[Thing, tuple[int, Name]] = {}
    for entity in text.entities:
        said = text.text[entity.span.start : entity.span.end]
        fullness: tuple[int, Name] = (0, ())
        if entity.label == PERSON:
            fullness = _person(said)
        elif entity.label == ORGANIZATION:
            words, _ = organization_of(without_bracket(said))
            fullness = len(words), words
        if fullness > (0, ()):
            fullest[_thing(entity)] = max(fullness, fullest.get(_thing(entity), (0, ())))
    return {thing: name for thing, (_, name) in fullest.items()}


def alias_of(label: str, name: Name, key: bytes) -> str:
    """The alias of the folded words of a name: "Person K7Q2MX"."""
    return f"{_NOUNS[label]} {letters_of(('lethe alias', label, *name), WIDTH, key)}"


def letters_of(said: Sequence[str], width: int, key: bytes) -> str:
    """``width`` letters of ``ALPHABET``: a keyed digest of the words."""
    number = int.from_bytes(hmac.digest(key, "\0".join(said).encode(), "sha256"))
    letters = []
    for _ in range(width):
        number, letter = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return "".join(letters)


def alias_in(words: str) -> str | None:
    """The alias that a replacement is, without an article before it; None for any other words."""
    found = _ALIAS.search(words)
    return found and found[0]


def is_person_alias(words: str) -> bool:
    """Whether a replacement, with or without an article, is the alias or the letter of a person."""
    return _PERSON_ALIAS.search(words) is not None


def _person(said: str) -> tuple[int, Name]:
    """The name's fullness and its compared words; (0, ()) without both a first name and a surname."""
    name = naming_of(said, Span(0, len(said))).words
    own = proper(name)
    # "Keller-Braun" has two words but is only a surname
    joined = _HYPHEN.sub("", said)
    if len(own) < 2 or len(proper(naming_of(joined, Span(0, len(joined))).words)) < 2:
        return 0, ()
    # sorted, since without a comma it is unknown which word is the surname
    return len(own), (*sorted((own[0], own[-1])), *(word for word in name if word in SUFFIXES))


def _thing(entity: Entity) -> Thing:
    return entity.label, entity.link
