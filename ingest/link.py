"""Linking: which mentions of a document name the same person or thing.

Scores and decisions belong to the linked entity. A name that occurs twice would have no marginal risk if
only one mention were taken away, since the other still says it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ingest.documents import Document, Entity

PERSON = "person full name"

_POSSESSIVE = re.compile(r"[’']s?$")
_WORD = re.compile(r"\w+(?:[’'-]\w+)*")


def link(document: Document, entities: Sequence[Entity]) -> list[Entity]:
    """The entities in the order of the text, each with the number of its linked entity.

    Mentions with one label and the same words are linked, whatever their case; a shorter form of a
    person's name (surname, first name, initials) joins the one longer name that it fits. A form that fits
    two people stays by itself.
    """
    ordered = sorted(entities, key=lambda e: (e.span, e.label, e.source))
    keys = [_key(document.text[e.span.start : e.span.end], e.label) for e in ordered]
    same_as = _person_forms({words for label, words in keys if label == PERSON})
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    linked = []
    for entity, (label, words) in zip(ordered, keys, strict=True):
        key = (label, same_as.get(words, words) if label == PERSON else words)
        linked.append(replace(entity, link=numbers.setdefault(key, len(numbers))))
    return linked


def _key(mention: str, label: str) -> tuple[str, tuple[str, ...]]:
    words = tuple(_POSSESSIVE.sub("", word).casefold() for word in _WORD.findall(mention))
    if not words:
        return label, (mention.casefold(),)
    if label == PERSON and "," in mention and len(words) > 1:
        words = (*words[1:], words[0])  # "Keller, Anna" is "Anna Keller"
    return label, words


def _person_forms(names: set[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Each name with the longest name that it is a form of."""
    longest_first = sorted(names, key=lambda words: (-len(words), -sum(map(len, words)), words))
    holders: dict[str, list[tuple[str, ...]]] = {}
    forms: dict[tuple[str, ...], tuple[str, ...]] = {}
    for words in longest_first:
        fitting = [name for name in _candidates(words, holders) if _fits(words, name)]
        whole = fitting[0] if len(fitting) == 1 else words
        forms[words] = whole
        if whole is words:
            for word in set(words):
                holders.setdefault(word, []).append(words)
    return forms


def _candidates(
    form: tuple[str, ...], holders: Mapping[str, Sequence[tuple[str, ...]]]
) -> Collection[tuple[str, ...]]:
    """The names that the form could fit, all of which hold its rarest written-out word.

    Trying the holders of every word would take quadratic time where many people share a first name.
    """
    whole = [holders.get(word, ()) for word in form if len(word) > 1]
    return min(whole, key=len) if whole else {name for word in form for name in holders.get(word, ())}


def _fits(form: tuple[str, ...], name: tuple[str, ...]) -> bool:
    """Whether each word of the form is, in order, a word of the name or its initial."""
    rest = iter(name)
    return all(any(word == part or (len(word) == 1 and part[0] == word) for part in rest) for word in form)
