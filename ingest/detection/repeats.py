"""Propagate each detected name to all its occurrences: one missed occurrence would reveal the others."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cache

from ingest.documents import Entity, Identifier, Span
from ingest.labels import LABELS, NAMES, PERSON, label_of
from ingest.language.name_grammar import eponym_noun_at
from ingest.language.naming import naming_of
from ingest.language.tokens import ALL_CAPS, CAPITAL, LOWER, Tokens, tokenize
from ingest.language.vocabulary import words
from ingest.spans import merged, union_of

SHORTEST = 3
SOURCE = "rule:repeat"
FIELD = "rule:field"
"""The source of what stands in a field, by its name."""
FILE = re.compile(
    r"(?<![\w.-])[\w.-]*\.(?:pdf|docx?|xlsx?|pptx?|odt|rtf|txt|csv|msg|eml|zip|jpe?g|png|gif|heic|mp[34]|wav|mov)\b",
    re.IGNORECASE,
)
"""File names contain names in any case: keller_scan.pdf."""
PATH = re.compile(r"(?<!\w)(?:[~.]|[A-Za-z]:)?(?:[/\\][\w.~@-]++){2,}+|(?<![\w.-])[^\W_]++(?:_[^\W_]++)++")
"""So do paths and identifiers: /home/keller_a/notes, keller_visit."""
ACCOUNT = re.compile(
    r"(?<![\w.-])(?:[^\W\d_]{1,2}[._-][^\W\d_]{3,40}+|[^\W\d_]{3,40}+[._-][^\W\d_]{1,2})[0-9]{0,4}+(?![\w-]|\.\w)"
)
"""User names of a name and an initial: a.keller, keller_a2."""
SHORTEST_JOINED = 6

_PLAIN_TITLES = frozenset(
    ("mr", "mrs", "ms", "miss", "mx", "mister", "missus", "dr", "drs", "prof", "sir", "madam", "madame")
    + ("messrs", "mme", "mlle", "monsieur", "herr", "frau", "rev", "hon", "doctor", "professor")
)
"""Titles that are never names, unlike Sheikh, Dean and Cardinal."""

_Names = dict[int, dict[tuple[str, ...], Entity]]
"""Names by their number of words, folded as in ``ingest.language.tokens``."""


def repeats(
    text: str, entities: Sequence[Entity], elsewhere: tuple[str, Sequence[Entity]] | None = None
) -> list[Entity]:
    """Further mentions of the names among ``entities``, with any capitalization and spacing.

    Also searches for the names of ``elsewhere``, another text with its entities.

    A person is searched by each part of the name. No name is searched inside another name, but persons are
    searched inside organizations and medical terms, since these may be kept; known eponyms are excluded. An
    ordinary word is no name by itself ("Will"). A single word needs a capital letter, or must be found in
    small letters elsewhere, in the name of a file, folder or user, or joined with the rest of the name
    (akeller).
    """
    others = elsewhere[1] if elsewhere else ()
    if not any(_may_be_named(entity) for entity in (*entities, *others)):
        return []
    tokens = tokenize(text)
    known = _Known()
    if elsewhere:
        known.add(tokenize(elsewhere[0]), others)
    known.add(tokens, entities)
    return list(_found(_Text(tokens, entities), known))


def _may_be_named(entity: Entity) -> bool:
    """Whether the entity has a name; entities with a user's own label may."""
    return entity.label in NAMES or entity.label not in LABELS


class _Known:
    """The names to search, by first word; a name with several labels has the riskiest."""

    def __init__(self) -> None:
        self.names: dict[str, _Names] = defaultdict(lambda: defaultdict(dict))
        self.joined: set[str] = set()
        self.small: set[str] = set()

    def add(self, tokens: Tokens, entities: Sequence[Entity]) -> None:
        """Add the names among the entities of a text."""
        for entity in sorted(entities, key=lambda e: (label_of(e.label).risk, e.confidence, e.label)):
            first = bisect_left(tokens.starts, entity.span.start)
            end = bisect_right(tokens.ends, entity.span.end)
            if first < end and _may_be_named(entity) and _is_peculiar(tokens, first, end):
                name = tuple(tokens.folded[first:end])
                self.names[name[0]][len(name)][name] = entity
        persons = [entity for entity in entities if entity.label == PERSON]
        ordinary = _ordinary()
        small = _in_small_letters(tokens, persons)
        self.small |= small.keys()
        for part, person in (_known_parts(tokens, persons) | small).items():
            # What stands in a field of names is a name, whatever the word.
            if part not in ordinary or person.source == FIELD:
                self._add_word(part, person)
        for person in persons:
            for form in _joined(naming_of(tokens.text, person.span).words):
                self.joined.add(form)
                self._add_word(form, person)

    def _add_word(self, word: str, person: Entity) -> None:
        other = self.names[word][1].get((word,))
        if other is None or label_of(person.label).risk > label_of(other.label).risk:
            self.names[word][1][word,] = person


def _joined(name: tuple[str, ...]) -> list[str]:
    """A name as one word: akeller, kellera, annakeller, kelleranna. An added s would make a plural."""
    if len(name) < 2:
        return []
    first, last = name[0], name[-1]
    forms = {first[0] + last, first + last, last + first, last + first[0] if first[0] != "s" else ""}
    known = words("common_words", "surnames", "given_names", "given_names_ambiguous", "not_names")
    return [form for form in forms - known if len(form) >= SHORTEST_JOINED and len(last) >= SHORTEST]


@cache
def _ordinary() -> frozenset[str]:
    """Name parts that are mostly ordinary words."""
    unlikely = words("common_words") - words("surnames", "given_names")
    return unlikely | words("given_names_ambiguous", "given_names_words", "weekday_months")


def _is_peculiar(tokens: Tokens, first: int, end: int) -> bool:
    never = words("common_words", "weekday_months", "not_names", "public_bodies", "given_names_words")
    long = tokens.ends[end - 1] - tokens.starts[first] >= SHORTEST
    capital = any(tokens.shapes[index] != LOWER for index in range(first, end))
    return long and capital and (end - first > 1 or tokens.folded[first] not in never)


def _found(place: "_Text", known: _Known) -> Iterator[Entity]:
    index, tokens = 0, place.tokens
    while index < len(tokens):
        entity = next(_standing_at(place, index, known), None)
        if entity is None:
            index += 1
        else:
            yield entity
            index = bisect_left(tokens.starts, entity.span.end)


def _standing_at(place: "_Text", index: int, known: _Known) -> Iterator[Entity]:
    """The names that begin at a word and overlap no other, longest first.

    Digits after a word are ignored: keller2.
    """
    word = place.tokens.folded[index]
    if word not in known.names:
        word = word.rstrip("0123456789")
    names = known.names.get(word, {})
    for size in sorted(names, reverse=True):
        end = index + size
        name = (word, *place.tokens.folded[index + 1 : end])
        entity = names[size].get(name)
        if entity is None or not (name[0] in known.joined or _is_said(place, index, end, known.small)):
            continue
        span = place.tokens.span(index - _is_elided(place.tokens, index), end)
        taken = place.direct if entity.identifier is Identifier.DIRECT else place.taken
        if not taken.touches(span):
            yield replace(entity, span=place.accounts.around(span), source=SOURCE)


def _is_elided(tokens: Tokens, index: int) -> bool:
    """Whether an O' precedes the word, as in O'Hara."""
    return tokens.gap(index) in ("'", "’") and tokens.folded[index - 1] in ("o", "d", "l")


def _is_said(place: "_Text", index: int, end: int, small: Set[str]) -> bool:
    tokens = place.tokens
    if end - index > 1:
        return all(tokens.joined(word) for word in range(index + 1, end))
    if tokens.folded[index] in words("eponyms") and eponym_noun_at(tokens, tokens.possessive_end(end)):
        return False
    span = tokens.span(index, end)
    if tokens.folded[index] in small or _reads_as_name(tokens, index) or place.files.touches(span):
        return True
    in_account = place.accounts.touches(span) or place.paths.touches(span)
    return in_account and tokens.folded[index] not in words("common_words")


class _Places:
    """Spans of a text, indexed for overlap queries."""

    def __init__(self, spans: Iterable[Span]) -> None:
        disjoint = [span for span, _ in merged((span, "") for span in spans)]
        self._starts = [span.start for span in disjoint]
        self._ends = [span.end for span in disjoint]

    def touches(self, span: Span) -> bool:
        return self.around(span) is not span

    def around(self, span: Span) -> Span:
        """The union of the span and the indexed span that it overlaps."""
        place = bisect_right(self._ends, span.start)
        if place == len(self._starts) or self._starts[place] >= span.end:
            return span
        return union_of(span, Span(self._starts[place], self._ends[place]))


class _Text:
    """A text prepared for the search.

    ``direct`` are the spans of direct identifiers, ``taken`` those of direct identifiers or names.
    """

    def __init__(self, tokens: Tokens, entities: Sequence[Entity]) -> None:
        direct = [entity.span for entity in entities if entity.identifier is Identifier.DIRECT]
        self.tokens = tokens
        self.direct = _Places(direct)
        self.taken = _Places([*direct, *(entity.span for entity in entities if _may_be_named(entity))])
        self.files, self.paths, self.accounts = (
            _Places(Span(*match.span()) for match in regex.finditer(tokens.text))
            for regex in (FILE, PATH, ACCOUNT)
        )


def _known_parts(tokens: Tokens, persons: Sequence[Entity]) -> dict[str, Entity]:
    """The folded name parts of at least three letters, each with its most confident person."""
    parts: dict[str, Entity] = {}
    for entity in sorted(persons, key=lambda p: (p.confidence, p.span)):
        first = bisect_left(tokens.starts, entity.span.start)
        end = bisect_left(tokens.starts, entity.span.end)
        named = (index for index in range(first, end) if _is_part(tokens, first, end, index))
        parts |= {tokens.folded[index]: entity for index in named}
    doubtful = (parts.keys() & _doubtful()) | _ordinary_here(tokens, parts.keys())
    return {part: entity for part, entity in parts.items() if part not in doubtful}


def _in_small_letters(tokens: Tokens, persons: Sequence[Entity]) -> dict[str, Entity]:
    """The single words that were found as persons in small letters, but for ordinary and doubtful ones."""
    found = dict[str, Entity]()
    for person in persons:
        index = bisect_left(tokens.starts, person.span.start)
        if index < len(tokens) and tokens.span(index, index + 1) == person.span:
            word = tokens.folded[index]
            if tokens.shapes[index] == LOWER and len(word) >= SHORTEST:
                found[word] = person
    return {word: found[word] for word in found.keys() - _ordinary() - _doubtful() - words("common_words")}


@cache
def _doubtful() -> frozenset[str]:
    never = words("not_names", "organization_cues", "weekday_months", "public_bodies") - words("titles")
    places = words("cities", "countries", "states", "place_words") - words("surnames")
    return (never | places) - words("given_names")


def _is_part(tokens: Tokens, first: int, end: int, index: int) -> bool:
    """Whether a word of a person's mention is part of the name: Sheikh is after a title or given name."""
    word = tokens.folded[index]
    proper = tokens.shapes[index] in (CAPITAL, ALL_CAPS) or tokens.caseless
    if len(word) < 3 or not proper:
        return False
    if word not in words("titles"):
        return True
    before = tokens.folded[index - 1] if index > 0 and tokens.gap(index) in (" ", ". ") else ""
    return index == end - 1 and (
        before in _PLAIN_TITLES or (index > first and before in words("given_names"))
    )


def _reads_as_name(tokens: Tokens, index: int) -> bool:
    """Whether a part of a known name is written as a name here."""
    word, shape = tokens.folded[index], tokens.shapes[index]
    ordinary = word in words("common_words", "given_names_words")
    if shape == CAPITAL:
        return not (ordinary and word in words("common_words") and tokens.opens_sentence(index))
    if shape == ALL_CAPS:
        return not ordinary and len(word) > 3
    return shape == LOWER and tokens.caseless and not ordinary


def _ordinary_here(tokens: Tokens, asked: Set[str]) -> Set[str]:
    """The words in no name list that the text also writes in lower case.

    Addresses and file names do not count, as they are always in lower case: t.quorin@example.org, quorin.pdf.
    """
    doubted = asked - words("given_names", "given_names_ambiguous", "surnames")
    if tokens.caseless or not doubted:
        return frozenset()
    return {
        word
        for index, word in enumerate(tokens.folded)
        if word in doubted
        and tokens.shapes[index] == LOWER
        and len(word) > 3
        and not _within_address(tokens, index)
    }


def _within_address(tokens: Tokens, index: int) -> bool:
    before, after = tokens.gap(index), tokens.gap(index + 1)
    inside = before in (".", "/", "\\") or after in (".", "/", "\\")
    return inside or before.endswith(("@", "_")) or after.startswith(("@", "_"))
