"""An age that stands bare beside a name: "Tobias Keller, 61, keeps ..." or "Keller (61)"."""

import re
from collections.abc import Sequence

from ingest.documents import Entity, Span
from ingest.rules.hits import hit

_AFTER_A_NAME = re.compile(
    r"(?:, (?P<between>\d{1,3})(?=,(?! \d)| years?\b|\.(?!\d)|;| and\b)|\s\((?P<in>\d{1,3})\))"
)
_OLDEST = 115


def ages_after(text: str, persons: Sequence[Entity]) -> list[Entity]:
    """The ages right after a person's name, in the order of the names."""
    found = []
    for person in persons:
        match = _AFTER_A_NAME.match(text, person.span.end)
        if match:
            start, end = match.span(match.lastgroup or 0)
            if int(text[start:end]) <= _OLDEST:
                found.append(hit(Span(start, end), "person age", 0.8, "age-after-name"))
    return found
