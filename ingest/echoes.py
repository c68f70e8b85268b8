"""Entities that repeat, under another label, the words of an identifier that goes.

"Five years" may be somebody's age in one sentence and a duration in another, and a shop may bear its owner's
name: an identifier is not gone while its words are left in an entity that was found. Words are compared as
linking compares names, without case, accents and width; a word inside a longer one is another word.
"""

import re
from collections.abc import Collection, Iterable

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Identifier
from ingest.rules.vocabulary import fold

FEWEST_CHARACTERS = 3
"""Less than that is found everywhere and says nothing: the age 4 is not in "4 mg". Names may have two."""

_WORD = re.compile(r"[^\W_]+")

Words = tuple[str, ...]


def echoes(text: AnnotatedText, gone: Collection[int]) -> set[int]:
    """Links outside of ``gone`` with a mention that has in it all words of an identifier among ``gone``."""
    words = {number: _words(text, entity) for number, entity in enumerate(text.entities)}
    sources = (
        words[number]
        for number, entity in enumerate(text.entities)
        if entity.link in gone and _tells(entity, words[number])
    )
    said = _Said(sources)
    return {
        entity.link
        for number, entity in enumerate(text.entities)
        if entity.link not in gone and said.within(words[number])
    }


class _Said:
    """Sequences of words, found inside others by their first word and length."""

    def __init__(self, sequences: Iterable[Words]) -> None:
        self._known = set(sequences)
        self._lengths: dict[str, set[int]] = {}
        for words in self._known:
            self._lengths.setdefault(words[0], set()).add(len(words))

    def within(self, words: Words) -> bool:
        """Whether one of them stands in ``words``, whole and in a row."""
        return any(
            words[place : place + length] in self._known
            for place, word in enumerate(words)
            for length in self._lengths.get(word, ())
        )


def _words(text: AnnotatedText, entity: Entity) -> Words:
    return tuple(_WORD.findall(fold(text.text[entity.span.start : entity.span.end]).casefold()))


def _tells(entity: Entity, words: Words) -> bool:
    """Whether these words, found elsewhere, would say the same."""
    if entity.identifier is Identifier.ATTRIBUTE or not words:
        return False
    is_name = entity.identifier is Identifier.DIRECT and not "".join(words).isdigit()
    return sum(map(len, words)) >= FEWEST_CHARACTERS - is_name
