"""Run all patterns over a text and resolve overlaps."""

from collections.abc import Iterable, Iterator
from functools import cache

from ingest.detection.overlaps import strictness, uncovered
from ingest.detection.patterns import (
    contact,
    dates,
    finance,
    national,
    records,
    spoken,
    technical,
    vehicles,
)
from ingest.detection.patterns.measures import measured
from ingest.detection.patterns.page import Page, WordFinder, page_of
from ingest.detection.patterns.pattern import Pattern, hits
from ingest.detection.patterns.phone import EXTENSION_PLACES, find_phones
from ingest.documents import Entity
from ingest.labels import LABELS

PATTERNS: tuple[Pattern, ...] = (
    *contact.PATTERNS,
    *finance.PATTERNS,
    *technical.PATTERNS,
    *vehicles.PATTERNS,
    *national.PATTERNS,
    *records.PATTERNS,
    *spoken.PATTERNS,
    *dates.PATTERNS,
)


@cache
def word_finder() -> WordFinder:
    """The finder of all patterns' cue words, cached."""
    places = [*(one.where for one in PATTERNS), EXTENSION_PLACES]
    return WordFinder(literal for where in places for literal in where.near)


def find_patterns(text: str) -> list[Entity]:
    """Rigid identifiers, dates and times in ``text``, in text order.

    Spans are half-open, in code points of ``text``, and cover the identifier without its cue word. Two spans
    may overlap, but none lies within another that is treated at least as strictly. The result depends on the
    text alone; time is linear in its length.
    """
    page = page_of(text, word_finder())
    found = _settled(one for one in _found(page) if not measured(one, page.text))
    phones = find_phones(page, [one.span for one in found])
    return _settled([*found, *(one for one in phones if not measured(one, page.text))])


def _found(page: Page) -> Iterator[Entity]:
    for pattern in PATTERNS:
        yield from hits(pattern, page)
    yield from finance.find_ibans(page)
    yield from records.find_application_numbers(page)


def _settled(found: Iterable[Entity]) -> list[Entity]:
    """Drop entities inside another one that is treated at least as strictly."""
    by_source = sorted(set(found), key=lambda one: one.source)
    ordered = sorted(by_source, key=lambda one: strictness(one)[:4], reverse=True)
    return uncovered(ordered, lambda outer, inner: outer.span == inner.span or _risk(outer) >= _risk(inner))


def _risk(one: Entity) -> tuple[bool, float]:
    row = LABELS[one.label]
    return row.rigid, row.risk
