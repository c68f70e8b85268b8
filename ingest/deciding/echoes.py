"""Entities that repeat, under another label, the words of a replaced identifier.

"Five years" may be an age in one sentence and a duration in another, and a shop may bear its owner's name. An
identifier still leaks if its words remain in another entity. Words are compared as in linking, without case,
accents and width; a word inside a longer one does not match.
"""

import re
from collections import defaultdict
from collections.abc import Collection

from ingest.annotated import AnnotatedText
from ingest.documents import Entity, Identifier
from ingest.language.vocabulary import fold

FEWEST_CHARACTERS = 3
"""Shorter words match everywhere: the age 4 is not in "4 mg". Names may have two characters."""

_WORD = re.compile(r"[^\W_]+")

Words = tuple[str, ...]


def echoes(text: AnnotatedText, gone: Collection[int]) -> set[int]:
    """Links outside ``gone`` with a mention that contains all words of an identifier in ``gone``."""
    words = [_words(text, entity) for entity in text.entities]
    sources = {
        said
        for entity, said in zip(text.entities, words, strict=True)
        if entity.link in gone and _identifies(entity, said)
    }
    lengths = defaultdict[str, set[int]](set)
    for source in sources:
        lengths[source[0]].add(len(source))
    return {
        entity.link
        for entity, said in zip(text.entities, words, strict=True)
        if entity.link not in gone
        for place, word in enumerate(said)
        for length in lengths.get(word, ())
        if said[place : place + length] in sources
    }


def _words(text: AnnotatedText, entity: Entity) -> Words:
    return tuple(_WORD.findall(fold(text.text[entity.span.start : entity.span.end]).casefold()))


def _identifies(entity: Entity, words: Words) -> bool:
    """Whether these words also identify inside another entity."""
    if entity.identifier is Identifier.ATTRIBUTE or not words:
        return False
    is_name = entity.identifier is Identifier.DIRECT and not "".join(words).isdigit()
    return sum(map(len, words)) >= FEWEST_CHARACTERS - is_name
