"""Mentions of which nothing true can be said but their kind, and which need not go."""

from dataclasses import replace

from ingest.annotated import AnnotatedText
from ingest.detection.sources import is_doubted
from ingest.documents import Entity, Identifier
from ingest.ladders.mentions import names_only_a_kind
from ingest.ladders.numerals import VALUES
from ingest.ladders.wording import words_of

UNSAID = 0.2
"""The probability of having to go below which a phrase in small letters without words of its own stays.

On judged development texts 4 of 43 such replacements below it were right.
"""
_MOMENTS = ("date", "time", "duration")
"""What may have a capital because it opens a sentence."""
_COUNTED = ("person age", "quantity", "monetary amount")
_NAMED = ("medication", "account handle")
"""What is a name in small letters too."""


def without_unsaid(text: AnnotatedText, keep: frozenset[str]) -> AnnotatedText:
    """The text without mentions that only "[personal detail]" or "a certain day" could stand for.

    Readers found most of these replacements needless or broken. A mention remains if it identifies by itself,
    has a capital or a figure, is of a label in ``keep``, or probably has to go.
    """
    return replace(text, entities=[each for each in text.entities if not _is_unsaid(each, text.text, keep)])


def _is_unsaid(entity: Entity, text: str, keep: frozenset[str]) -> bool:
    if entity.need is None or entity.need.must >= UNSAID or not is_doubted(entity):
        return False
    said = text[entity.span.start : entity.span.end]
    plain = said[1:].islower() and not any(map(str.isdigit, said))
    plain = plain and (said[0].islower() or entity.label in _MOMENTS)
    counted = entity.label in _COUNTED and not VALUES.keys().isdisjoint(said.split())
    named = entity.label in _NAMED or entity.identifier is Identifier.DIRECT
    if not plain or counted or named or entity.label in keep:
        return False
    return names_only_a_kind(words_of(said, entity.label), entity.label)
