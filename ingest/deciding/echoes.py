"""Entities that repeat, under another label, the words of a replaced identifier.

"Five years" may be an age in one sentence and a duration in another, and a shop may bear its owner's name. An
identifier still leaks if its words remain in another entity. Words are compared as in linking, without case,
accents and width; a word inside a longer one does not match.
"""

import re
from collections.abc import Collection, Iterable

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Identifier
from ingest.language.vocabulary import fold

FEWEST_CHARACTERS = 3
"""Shorter words match everywhere: the age 4 is not in "4 mg". Names may have two characters."""

_WORD = re.compile(r"[^\W_]+")

Words = tuple[str, ...]


def echoes(text: AnnotatedText, gone: Collection[int]) -> set[int]:
    """Links outside ``gone`` with a mention that contains all words of an identifier in ``gone``."""
    words = {number: _words(text, entity) for number, entity in enumerate(text.entities)}
    sources = (
        words[number]
        for number, entity in enumerate(text.entities)
        if entity.link in gone and _identifies(entity, words[number])
    )
    said = _WordSequences(sources)
    return {
        entity.link
        for number, entity in enumerate(text.entities)
        if entity.link not in gone and said.within(words[number])
    }


class _WordSequences:
    """Word sequences, indexed by their first word and length for containment tests."""

    def __init__(self, sequences: Iterable[Words]) -> None:
        self._known = set(sequences)
        self._lengths: dict[str, set[int]] = {}
        for words in self._known:
            self._lengths.setdefault(words[0], set()).add(len(words))

    def within(self, words: Words) -> bool:
        """Whether ``words`` contains one of the sequences contiguously."""
        return any(
            words[place : place + length] in self._known
            for place, word in enumerate(words)
            for length in self._lengths.get(word, ())
        )


def _words(text: AnnotatedText, entity: Entity) -> Words:
    return tuple(_WORD.findall(fold(text.text[entity.span.start : entity.span.end]).casefold()))


def _identifies(entity: Entity, words: Words) -> bool:
    """Whether these words also identify inside another entity."""
    if entity.identifier is Identifier.ATTRIBUTE or not words:
        return False
    is_name = entity.identifier is Identifier.DIRECT and not "".join(words).isdigit()
    return sum(map(len, words)) >= FEWEST_CHARACTERS - is_name
