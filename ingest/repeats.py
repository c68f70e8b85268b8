"""A name that was found in one place is found wherever it stands: left there, it would give the rest away."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ingest.documents import Entity, Span
from ingest.labels import NAMES
from ingest.rules.vocabulary import fold, words

SHORTEST = 3
SOURCE = "rule:repeat"
_WORD = re.compile(r"\w+")


def repeats(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """Mentions beside ``entities``: the names among those, spelled the same, where no entity stands yet.

    Single words of the language are no names by themselves ("Will"), nor is what begins in lower case.
    """
    known = _names(text, entities)
    if not known:
        return []
    named = _occurrences(text, known)
    return list(_free(named, sorted(entity.span for entity in entities)))


def _occurrences(text: str, known: Mapping[str, Mapping[int, Mapping[str, Entity]]]) -> Iterator[Entity]:
    """Every place where a name stands, the longest name first; none overlap."""
    end = 0
    for word in _WORD.finditer(text):
        if word.start() < end or word.group() not in known:
            continue
        name = _longest(text, word.start(), known[word.group()])
        if name is not None:
            end = word.start() + len(name.span)
            yield replace(name, span=Span(word.start(), end), source=SOURCE)


def _free(named: Iterable[Entity], taken: Sequence[Span]) -> Iterator[Entity]:
    """Those that share no character with what is taken; both in the order of the text."""
    reach, seen = 0, 0
    for entity in named:
        while seen < len(taken) and taken[seen].start < entity.span.end:
            reach = max(reach, taken[seen].end)
            seen += 1
        if reach <= entity.span.start:
            yield entity


def _names(text: str, entities: Sequence[Entity]) -> dict[str, dict[int, dict[str, Entity]]]:
    """Names by their first word and their length; of one that was found twice, the surer mention."""
    known: dict[str, dict[int, dict[str, Entity]]] = defaultdict(lambda: defaultdict(dict))
    for entity in sorted(entities, key=lambda e: (e.confidence, e.label)):
        name = text[entity.span.start : entity.span.end]
        first = _WORD.match(name)
        if entity.label in NAMES and first is not None and _is_peculiar(name):
            known[first.group()][len(name)][name] = entity
    return known


def _is_peculiar(name: str) -> bool:
    ordinary = words("common_words", "weekday_months", "not_names", "public_bodies", "given_names_words")
    return len(name) >= SHORTEST and name[0].isupper() and fold(name) not in ordinary


def _longest(text: str, start: int, known: Mapping[int, Mapping[str, Entity]]) -> Entity | None:
    for length in sorted(known, reverse=True):
        after = text[start + length : start + length + 1]
        entity = known[length].get(text[start : start + length])
        if entity is not None and not (after.isalnum() or after == "_"):
            return entity
    return None
