"""Run every pattern over a text and settle who found what."""

from collections.abc import Iterable, Iterator
from functools import cache

from ingest.documents import Entity
from ingest.labels import LABELS
from ingest.patterns import (
    addresses,
    ages,
    contact,
    dates,
    finance,
    money,
    national,
    records,
    technical,
    vehicles,
)
from ingest.patterns.page import Page, WordFinder, page_of
from ingest.patterns.pattern import Pattern, hits
from ingest.patterns.phone import EXTENSION_PLACES, find_phones

PATTERNS: tuple[Pattern, ...] = (
    *contact.PATTERNS,
    *finance.PATTERNS,
    *money.PATTERNS,
    *technical.PATTERNS,
    *vehicles.PATTERNS,
    *national.PATTERNS,
    *records.PATTERNS,
    *addresses.PATTERNS,
    *dates.PATTERNS,
    *ages.PATTERNS,
)
OTHER_PLACES = (dates.NEAR_BIRTH, EXTENSION_PLACES)


@cache
def word_finder() -> WordFinder:
    """Finds the cue words of all patterns; made once."""
    places = [one.where for one in PATTERNS] + list(OTHER_PLACES)
    return WordFinder(literal for where in places for literal in where.near)


def find_patterns(text: str) -> list[Entity]:
    """Rigid identifiers, dates, ages, sums and addresses in ``text``, by place.

    Spans are half-open, in code points of ``text``, and cover what identifies, not the cue word
    before it. Two spans may overlap, but none lies within another that is treated at least as
    strictly. The answer depends on the text alone; time grows linearly with its length.
    """
    page = page_of(text, word_finder())
    found = _settled(dates.with_birth_dates(page, _found(page)))
    phones = find_phones(page, [one.span for one in found])
    return _settled([*found, *phones])


def _found(page: Page) -> Iterator[Entity]:
    for pattern in PATTERNS:
        yield from hits(pattern, page)
    yield from finance.find_ibans(page)
    yield from records.find_application_numbers(page)


def _strictness(one: Entity) -> tuple[bool, float, float]:
    row = LABELS[one.label]
    return row.rigid, row.risk, one.confidence


def _settled(found: Iterable[Entity]) -> list[Entity]:
    """Drop what lies within an entity that is treated at least as strictly.

    An entity that only overlaps a stricter one stays: dropping it would let characters survive.
    """
    ordered = sorted(
        set(found),
        key=lambda one: (
            one.span.start,
            -one.span.end,
            *map(_negated, _strictness(one)),
            one.source,
        ),
    )
    kept: list[Entity] = []
    reaching: list[Entity] = []
    for one in ordered:
        reaching = [other for other in reaching if other.span.end > one.span.start]
        if not any(_covers(other, one) for other in reaching):
            kept.append(one)
            reaching.append(one)
    return kept


def _negated(value: bool | float) -> float:
    return -float(value)


def _covers(outer: Entity, inner: Entity) -> bool:
    if inner.span.end > outer.span.end:
        return False
    if inner.span == outer.span:
        return True
    return _strictness(outer)[:2] >= _strictness(inner)[:2]
