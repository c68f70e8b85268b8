"""Fields: what stands in them follows from their names and from all their cells, whatever the words.

"Young" in a column of names is a name, and 21090445 beside "ssn" is a number of a person. A trained head
decides on the kind of each field; a user may name the kind of some.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain, islice

from ingest.detection.cells import Cell, cells_of
from ingest.detection.field_words import NOTHING, SAMPLE, features, parts_of, type_of
from ingest.detection.overlaps import CharacterSet, strictest
from ingest.detection.repeats import SOURCE as REPEAT
from ingest.detection.sources import MODEL, PATTERN, by_rule
from ingest.documents import Entity, Identifier, Span
from ingest.labels import FREE, KINDS, NONE, PERSON, label_of
from ingest.language.vocabulary import WORD, fold, words
from models.fields import embedded_head

_SIGNS = " \t\n.,:;()+#'\"-"
_OF_MANY_FORMS = frozenset(("phone number", "reference number", "date", "time"))
"""Labels of patterns that fit other numbers too."""
_SAYS_NOTHING = frozenset(("flag", "one figure", "part"))
"""Forms of cells that say nothing of anybody under a name that says nothing."""
_READ_AS_TEXT = frozenset(("text", "words with a name"))
_LIKELY = 0.5
_NAME_FROM = 0.35
"""How likely a name has to be where nothing else of a person is likelier: one that stays costs more."""
_SURE = 0.9
"""How likely nothing personal has to be for what a model finds there to be dropped."""
_SAID = 1.0
"""How likely the kind is that a user named."""
_LONGEST_NAME = 8
_WORDS = 2
_IN_WORDS = frozenset(
    ("name", "given name", "family name", "city", "region", "country", "job", "organization", "nationality")
    + ("religion", "marital status", "gender", "handle", "address", "password")
)
"""Kinds whose cells hold a letter; those of the others hold a figure, but for e-mail addresses."""
_FIGURE = re.compile("[0-9]")
_LETTERS = re.compile(r"[^\W\d_]+")
_SENTENCE = re.compile(r"[.!?] |[!?]$|[^\W\d_]{4}\.$")
_PROGRAMS = re.compile(r"[^\W\d_A-Z]+(?:[A-Z][a-z]+)*|[A-Z][a-z]+(?:[A-Z][a-z]+)+|\w*_\w*|[A-Z]{2,5}")
"""Names of fields as programs write them."""
_IN_CAPITALS = re.compile(r"[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]*)+")
"""As people are named: Orrin Vexling."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a text and what stands in it: a kind of ``KINDS``, free text or none."""

    path: tuple[str, ...] = field(repr=False)
    kind: str
    likely: float
    cells: Sequence[Cell] = field(repr=False)
    beside: Sequence[str] = field(default=(), repr=False)

    @property
    def in_lines(self) -> bool:
        """Whether it stands in lines of a text, where somebody may also speak."""
        return self.cells[0].group == "lines"

    @property
    def values(self) -> list[Span]:
        """Where something stands in it."""
        return [cell.value for cell in self.cells if cell.value]


_FORM = 0.9
"""The share of a text's lines from which names and values make it a record."""


def fields_of(text: str, given: Mapping[str, str] | None = None) -> list[Field]:
    """The fields of a text. ``given`` are kinds by the name of a field or by its path: "patient.name"."""
    by_field: dict[tuple[str, tuple[str, ...]], list[Cell]] = defaultdict(list)
    cells = cells_of(text, is_usual_name)
    in_lines = sum(cell.group == "lines" for cell in cells)
    is_form = in_lines >= _FORM * sum(map(bool, map(str.strip, text.split("\n"))))
    for cell in cells:
        if is_form or cell.group != "lines" or given:
            by_field[cell.group, cell.path].append(cell)
    beside: dict[tuple[str, tuple[str, ...]], dict[str, None]] = defaultdict(dict)
    for group, path in by_field:
        beside[group, path[:-1]][path[-1]] = None
    own_kinds = {name.lower(): kind for name, kind in (given or {}).items()}
    found = []
    for (group, path), cells in by_field.items():
        others = [name for name in list(beside[group, path[:-1]])[:_MOST_BESIDE] if name != path[-1]]
        values = islice((cell.value for cell in cells if cell.value), _MOST_CELLS)
        said = list(dict.fromkeys(text[value.start : value.end] for value in values))
        own = own_kinds.get(".".join(path).lower()) or own_kinds.get(path[-1].lower())
        kind, likely = (own, _SAID) if own else _kind(path, tuple(others), tuple(said[:SAMPLE]))
        found.append(Field(path, kind, likely, cells, others))
    return found


_MOST_BESIDE, _FEWEST_BESIDE = 20, 2
_MOST_CELLS = 200


@lru_cache(maxsize=4096)
def _kind(path: tuple[str, ...], beside: tuple[str, ...], cells: tuple[str, ...]) -> tuple[str, float]:
    """The kind of a field and how likely it is; kinds with one label count together."""
    likely = embedded_head().probabilities(features(path, beside, cells))
    totals: dict[str, float] = defaultdict(float)
    for kind, share in likely.items():
        totals[KINDS.get(kind, kind)] += share
    label = max(totals, key=lambda each: totals[each])
    kind = max((each for each in likely if KINDS.get(each, each) == label), key=lambda each: likely[each])
    if label in (NONE, FREE) and totals[PERSON] >= _NAME_FROM:
        label, kind = PERSON, "name"
    return (kind, totals[label]) if totals[label] >= _LIKELY or label == PERSON else (FREE, totals[label])


@lru_cache(maxsize=4096)
def is_usual_name(name: str) -> bool:
    """Whether fields are called so."""
    if not parts_of(name):
        return False
    kind, likely = _kind((name,), (), ())
    return _is_learned(name) or _is_usual(name) or (kind != FREE and likely >= _SURE)


def _is_usual(name: str) -> bool:
    """Whether the head has learned the name as it is, even if people are called so."""
    return fold(name) in embedded_head().learned


def with_fields(text: str, entities: Sequence[Entity], fields: Sequence[Field]) -> list[Entity]:
    """The mentions, with what fields are known to hold: a value of their kind, or nothing of a person.

    A value is a mention. Others in a known cell go, but for rigid formats and for names that are only a part
    of its words. In all other cells mentions stay, also in those of the field that say the same. Names of
    fields are no mentions.
    """
    if not fields:
        return list(entities)
    found = off_names(text, entities, fields)
    formed = {
        _bare(text, each.span)
        for each in found
        if each.source.startswith(PATTERN) and each.label not in _OF_MANY_FORMS
    }
    known: dict[Span, Entity | None] = {}
    alike: dict[Span, list[Span]] = {}
    for each in fields:
        label = KINDS.get(each.kind)
        same: dict[str, list[Span]] = defaultdict(list)
        for value in each.values:
            said = text[value.start : value.end]
            alike[value] = same[said]
            same[said].append(value)
            if label and _fits(each.kind, said):
                if _bare(text, value) not in formed:
                    known[value] = by_rule(value, label, min(0.99, each.likely), "field")
            elif _holds_nothing(each, said):
                known[value] = None
    cells = sorted(alike)
    kept = [each for each in known.values() if each]
    spread: set[tuple[Span, int, int]] = set()
    for mention in chain.from_iterable(parted(each, cells) for each in found):
        bare = _bare(text, mention.span)
        place = bisect_right(cells, bare.start, key=lambda cell: cell.start) - 1
        cell = cells[place] if place >= 0 and bare.end <= cells[place].end else None
        if cell is None or cell not in known or not _gives_way(text, mention, cell, known[cell]):
            kept.append(mention)
        if cell is not None and cell not in known:
            first, last = bare.start - cell.start, bare.end - cell.start
            others = alike[cell] if (alike[cell][0], first, last) not in spread else ()
            spread.add((alike[cell][0], first, last))
            kept += [mention.at(Span(each.start + first, each.start + last)) for each in others]
    return sorted(strictest(kept).values(), key=lambda each: each.span)


def parted(entity: Entity, cells: Sequence[Span]) -> Iterator[Entity]:
    """The parts of a mention in each cell where it reaches into several, which no item does; else itself."""
    first = bisect_right(cells, entity.span.start, key=lambda cell: cell.end)
    last = bisect_left(cells, entity.span.end, key=lambda cell: cell.start)
    if last - first < 2:
        yield entity
        return
    for cell in cells[first:last]:
        yield entity.at(Span(max(cell.start, entity.span.start), min(cell.end, entity.span.end)))


def _gives_way(text: str, entity: Entity, cell: Span, held: Entity | None) -> bool:
    """Whether a mention in a known cell is dropped; ``held`` is what stands there, None if it is nothing."""
    if entity.required or (held is None and entity.source.startswith((PATTERN, REPEAT))):
        return False
    if entity.identifier is not Identifier.DIRECT or (held and held.identifier is Identifier.DIRECT):
        return True
    has_format = held is not None and label_of(entity.label).rigid and not entity.source.startswith(MODEL)
    is_whole = _bare(text, entity.span) == _bare(text, cell)
    return not has_format and (is_whole or len(_LETTERS.findall(text, cell.start, cell.end)) < _WORDS)


def _bare(text: str, span: Span) -> Span:
    """The span without signs at its ends, unless it has only signs."""
    said = text[span.start : span.end]
    start = span.start + len(said) - len(said.lstrip(_SIGNS))
    return Span(start, start + len(said.strip(_SIGNS))) if said.strip(_SIGNS) else span


def _fits(kind: str, said: str) -> bool:
    """Whether a cell can hold a value of the kind: "n/a" holds none, and a sentence is no name."""
    if fold(said) in NOTHING or not any(map(str.isalnum, said)):
        return False
    if kind == "email":
        return "@" in said
    if kind == "customer number" and said.isdigit() and len(said) <= _SHORTEST_NUMBER:
        return False
    if kind not in _IN_WORDS:
        return _FIGURE.search(said) is not None
    if kind == "gender":
        return len(said) <= _LONGEST_GENDER
    if kind in ("address", "password", "handle"):
        return kind != "handle" or any(map(str.isalpha, said)) or len(said) > _SHORTEST_NUMBER
    n_words = len(WORD.findall(said))
    few = n_words <= _LONGEST_NAME and not (n_words > 1 and KINDS[kind] == PERSON and _is_learned(said))
    return few and _LETTERS.search(said) is not None and not _SENTENCE.search(said)


_LONGEST_GENDER = 20
_SHORTEST_NUMBER = 3


def _holds_nothing(field: Field, said: str) -> bool:
    """Whether a cell is known to say nothing of a person.

    Words with a name among them are read as text. A field called "name" may hold one, unless a user says no.
    """
    shape = type_of(said)
    may_be_named = shape in ("word", "words") and KINDS.get(_kind(field.path[-1:], (), ())[0]) == PERSON
    sure = field.likely >= (_SAID if may_be_named else _SURE) and shape not in _READ_AS_TEXT
    return (
        (field.kind == NONE and sure)
        or fold(said) in NOTHING
        or (field.kind not in KINDS and shape in _SAYS_NOTHING)
    )


def off_names(text: str, entities: Sequence[Entity], fields: Sequence[Field]) -> list[Entity]:
    """The mentions without names of fields, which stay as they are, unless a field is named for a person.

    Of a mention that reaches beyond a name the rest is left. A cell that is a field's name names nobody.
    """
    fixed = CharacterSet(
        cell.name
        for each in fields
        if is_fixed(each.path[-1], each.in_lines) or _is_among(each, text)
        for cell in each.cells
    )
    titles = CharacterSet(
        value
        for each in fields
        for value in each.values
        for said in [text[value.start : value.end]]
        if _is_learned(said) and not (each.kind in KINDS and _fits(each.kind, said))
    )
    kept: list[Entity] = []
    for mention in entities:
        is_formed = mention.source.startswith(PATTERN) and fixed.holds(mention.span)
        is_title = mention.identifier is Identifier.DIRECT and titles.holds(_bare(text, mention.span))
        if mention.required or is_formed or not (is_title or fixed.touches(mention.span)):
            kept.append(mention)
        elif not is_title:
            rests = [_bare(text, rest) for rest in fixed.without(mention.span)]
            kept += [mention.at(rest) for rest in rests if WORD.search(text, rest.start, rest.end)]
    return kept


def _is_among(field: Field, text: str) -> bool:
    """Whether most of several names beside it are those of fields, and no word of its own is a name.

    In lines of a form its cells are no speech: Anna: how are you?
    """
    known = sum(is_fixed(name, field.in_lines) for name in field.beside)
    if len(field.beside) < _FEWEST_BESIDE or known <= len(field.beside) / 2:
        return False
    said = {type_of(text[value.start : value.end]) for value in field.values[:SAMPLE]}
    speaks = field.in_lines and not said.isdisjoint((*_READ_AS_TEXT, "few small words"))
    return not speaks and (_names_nobody(field.path[-1]) or _is_usual(field.path[-1]))


def _names_nobody(name: str) -> bool:
    known = words("given_names", "surnames") - words("common_words")
    return not any(part in known for part in parts_of(name))


_LONGEST_FIELD = 60
"""Characters of the name of a field; what is longer is a sentence."""


@cache
def _learned() -> frozenset[str]:
    """The names of fields that the head has learned, and their words but for those that may name a person."""
    names = [parts_of(name) for name in embedded_head().learned]
    said = {part for parts in names for part in parts} - words("given_names") - words("surnames")
    return frozenset(said | {" ".join(parts) for parts in names if len(parts) > 1})


def _is_learned(name: str) -> bool:
    own = parts_of(name)
    known = _learned().issuperset(own) or " ".join(own) in _learned()
    return bool(own) and len(name) <= _LONGEST_FIELD and known


def is_fixed(name: str, in_lines: bool = False) -> bool:
    """Whether a field is named as fields are, and not for a person.

    In the lines of a text somebody may speak: Ortwin: how are you? There only words that were learned count.
    """
    if in_lines or len(name) > _LONGEST_FIELD or _is_learned(name):
        return _is_learned(name)
    kind, likely = _kind((name,), (), ())
    if kind != FREE and (likely >= _SURE or (_names_nobody(name) and not _IN_CAPITALS.fullmatch(name))):
        return True
    return _PROGRAMS.fullmatch(name) is not None and _names_nobody(name)
