"""Entities that repeat, under another label, the words of an identifier that goes.

"Five years" may be somebody's age in one sentence and a duration in another, and a shop may bear its owner's
name: an identifier is not gone while its words are left in an entity that was found.
"""

import re
import unicodedata
from collections.abc import Collection

from ingest.annotated import AnnotatedText
from ingest.documents import Entity

FEWEST_CHARACTERS = 3
"""Less than that is found everywhere and says nothing: the age of "Ana, 4" is not in "4 mg"."""

_WORD = re.compile(r"\w+")


def echoes(text: AnnotatedText, identifiers: Collection[int]) -> set[int]:
    """Links outside of ``identifiers`` with a mention that has in it all words of a mention of theirs."""
    said: dict[str, set[tuple[str, ...]]] = {}
    for entity in text.entities:
        if entity.link in identifiers and len(entity.span) >= FEWEST_CHARACTERS:
            words = _words(text, entity)
            if words:
                said.setdefault(words[0], set()).add(words)
    return {
        entity.link
        for entity in text.entities
        if entity.link not in identifiers and _has_any(_words(text, entity), said)
    }


def _words(text: AnnotatedText, entity: Entity) -> tuple[str, ...]:
    said = text.text[entity.span.start : entity.span.end]
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", said).casefold()))


def _has_any(words: tuple[str, ...], said: dict[str, set[tuple[str, ...]]]) -> bool:
    return any(
        words[place : place + len(others)] == others
        for place, word in enumerate(words)
        for others in said.get(word, ())
    )
