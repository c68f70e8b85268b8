"""A name that was found in one place is found wherever it stands: left there, it would give the rest away."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ingest.documents import Entity, Identifier, Span
from ingest.labels import LABELS, NAMES, label_of
from ingest.rules.names import eponym_noun_at
from ingest.rules.propagate import known_parts, reads_as_name
from ingest.rules.tokens import LOWER, Tokens, tokenize
from ingest.rules.vocabulary import words
from ingest.spans import merged

PERSON = "person full name"
SHORTEST = 3
SOURCE = "rule:repeat"
FILE = re.compile(
    r"(?<![\w.-])[\w.-]*\.(?:pdf|docx?|xlsx?|pptx?|odt|rtf|txt|csv|msg|eml|zip|jpe?g|png|gif|heic|mp[34]|wav|mov)\b",
    re.IGNORECASE,
)
"""A file is called by whom it is about, in any case: keller_scan.pdf."""

_Names = dict[int, dict[tuple[str, ...], Entity]]
"""By their number of words, in the folded form of ``ingest.rules.tokens``."""


def repeats(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """Mentions beside ``entities``: the names among those, however they are capitalized and spaced.

    A person is looked for by each part of the name. No name is looked for where another one stands; but
    somebody's is within organizations and medical terms too, since these may be kept as they are, save for
    a known eponym. Single words of the language are no names by themselves ("Will"), and a single word has
    to have a capital letter, or to stand in the name of a file.
    """
    if not any(_may_be_named(entity) for entity in entities):
        return []
    tokens = tokenize(text)
    return list(_found(_Text(tokens, entities), _names(tokens, entities)))


def _may_be_named(entity: Entity) -> bool:
    """Whether it is called by a name; what a user's own label stands for may be."""
    return entity.label in NAMES or entity.label not in LABELS


def _names(tokens: Tokens, entities: Sequence[Entity]) -> Mapping[str, _Names]:
    """Names by their first word; of one that has several labels, the riskiest."""
    known: dict[str, _Names] = defaultdict(lambda: defaultdict(dict))
    for entity in sorted(entities, key=lambda e: (label_of(e.label).risk, e.confidence, e.label)):
        first = bisect_left(tokens.starts, entity.span.start)
        end = bisect_right(tokens.ends, entity.span.end)
        if first < end and _may_be_named(entity) and _is_peculiar(tokens, first, end):
            name = tuple(tokens.folded[first:end])
            known[name[0]][len(name)][name] = entity
    persons = [entity for entity in entities if entity.label == PERSON]
    ordinary = _ordinary()
    for part, person in known_parts(tokens, persons).items():
        if part not in ordinary and _is_riskier(person, known[part][1].get((part,))):
            known[part][1][part,] = person
    return known


def _is_riskier(entity: Entity, other: Entity | None) -> bool:
    return other is None or label_of(entity.label).risk > label_of(other.label).risk


def _ordinary() -> frozenset[str]:
    """Parts of names that mostly mean something else."""
    unlikely = words("common_words") - words("surnames", "given_names")
    return unlikely | words("given_names_ambiguous", "given_names_words", "weekday_months")


def _is_peculiar(tokens: Tokens, first: int, end: int) -> bool:
    never = words("common_words", "weekday_months", "not_names", "public_bodies", "given_names_words")
    long = tokens.ends[end - 1] - tokens.starts[first] >= SHORTEST
    capital = any(tokens.shapes[index] != LOWER for index in range(first, end))
    return long and capital and (end - first > 1 or tokens.folded[first] not in never)


def _found(place: "_Text", known: Mapping[str, _Names]) -> Iterator[Entity]:
    index, tokens = 0, place.tokens
    while index < len(tokens):
        names = known.get(tokens.folded[index], {})
        entity = next(_standing_at(place, index, names), None)
        if entity is None:
            index += 1
        else:
            yield entity
            index = bisect_left(tokens.starts, entity.span.end)


def _standing_at(place: "_Text", index: int, names: _Names) -> Iterator[Entity]:
    """The names that begin with a word and stand where no other does, the longest first."""
    for size in sorted(names, reverse=True):
        end = index + size
        entity = names[size].get(tuple(place.tokens.folded[index:end]))
        if entity is None or not _is_said(place, index, end):
            continue
        span = place.tokens.span(index, end)
        taken = place.direct if entity.identifier is Identifier.DIRECT else place.taken
        if not taken.touches(span):
            yield replace(entity, span=span, source=SOURCE)


def _is_said(place: "_Text", index: int, end: int) -> bool:
    tokens = place.tokens
    if end - index > 1:
        return all(tokens.joined(word) for word in range(index + 1, end))
    eponym = tokens.folded[index] in words("eponyms") and eponym_noun_at(tokens, tokens.possessive_end(end))
    return not eponym and (reads_as_name(tokens, index) or place.files.touches(tokens.span(index, end)))


class _Places:
    """Places of a text; asked many times whether a span has a character of one."""

    def __init__(self, spans: Iterable[Span]) -> None:
        disjoint = [span for span, _ in merged((span, "") for span in spans)]
        self._starts = [span.start for span in disjoint]
        self._ends = [span.end for span in disjoint]

    def touches(self, span: Span) -> bool:
        place = bisect_right(self._ends, span.start)
        return place < len(self._starts) and self._starts[place] < span.end


class _Text:
    """A text as names are looked for in it.

    ``direct`` is where identifiers stand that tell by themselves, ``taken`` where these or names stand.
    """

    def __init__(self, tokens: Tokens, entities: Sequence[Entity]) -> None:
        direct = [entity.span for entity in entities if entity.identifier is Identifier.DIRECT]
        self.tokens = tokens
        self.direct = _Places(direct)
        self.taken = _Places([*direct, *(entity.span for entity in entities if _may_be_named(entity))])
        self.files = _Places(Span(*file.span()) for file in FILE.finditer(tokens.text))
