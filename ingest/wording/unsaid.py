"""Mentions of which nothing true can be said but their kind, and which need not go."""

import re

from ingest.annotated import AnnotatedText
from ingest.detection.sources import is_doubted
from ingest.documents import Entity, Identifier
from ingest.wording.mentions import names_only_a_kind
from ingest.wording.moments import OF_WEEK
from ingest.wording.numerals import VALUES
from ingest.wording.words import words_of

UNSAID = 0.2
"""The probability of having to go below which a phrase in small letters without words of its own stays.

Readers of development texts found few of such replacements right (docs/decisions.md).
"""
_MOMENTS = ("date", "time", "duration")
"""What may have a capital because it opens a sentence, and what counts days and years in words."""
_SAID = frozenset(
    ("date", "time", "duration", "frequency", "person age", "demographic attribute", "identifying detail")
    + ("event", "gender", "nationality", "diagnosis", "disease", "symptom", "procedure", "medical test")
    + ("job title", "job area", "job type", "religion")
)
"""Labels of phrases; names, places, addresses, codes and numbers have others."""
_WORD = re.compile("[a-z]+")
_WHICH = re.compile("(?i)^(?:this|next|last) ")


def unsaid(text: AnnotatedText) -> set[int]:
    """The links of which only "[personal detail]" or "a certain day" could stand for any mention.

    A mention is none of these if it identifies by itself, has a capital, a number or an article and is no day
    of the week, is no phrase but a name, or probably has to go.
    """
    return {
        link
        for link, mentions in text.mentions().items()
        if all(_is_unsaid(each, text.text) for each in mentions)
    }


def _is_unsaid(entity: Entity, text: str) -> bool:
    if entity.need is None or entity.need.must >= UNSAID or not is_doubted(entity):
        return False
    if entity.label not in _SAID or entity.identifier is Identifier.DIRECT:
        return False
    said = text[entity.span.start : entity.span.end]
    if entity.label in _MOMENTS and OF_WEEK.fullmatch(_WHICH.sub("", said)):
        return True
    small = said[1:].islower() and (said[0].islower() or entity.label in _MOMENTS)
    figures = any(map(str.isdigit, said))
    counted = entity.label not in _MOMENTS and not VALUES.keys().isdisjoint(_WORD.findall(said))
    if not small or figures or counted:
        return False
    return names_only_a_kind(words_of(said, entity.label), entity.label)
