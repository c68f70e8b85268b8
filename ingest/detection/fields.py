"""Fields: what stands in them follows from their names and from all their cells, whatever the words.

"Young" in a column of names is a name, and 21090445 beside "ssn" is a number of a person. A trained head
decides on the kind of each field; a user may name the kind of some.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from ingest.detection.cells import Cell, cells_of
from ingest.detection.field_words import NOTHING, SAMPLE, features, parts_of, type_of
from ingest.detection.overlaps import CharacterSet
from ingest.detection.repeats import SOURCE as REPEAT
from ingest.detection.rules.hits import hit
from ingest.documents import Entity, Identifier, Span
from ingest.labels import FREE, KINDS, NONE, PERSON, label_of
from ingest.language.vocabulary import WORD, fold, words
from models.fields.head import embedded_head

_SIGNS = " .,:;()+#'\"-"
_OF_MANY_FORMS = frozenset(("phone number", "reference number", "date", "time"))
"""Labels of patterns that fit other numbers too."""
_SAYS_NOTHING = frozenset(("flag", "one figure", "part"))
"""Forms of cells that say nothing of anybody under a name that says nothing."""
_LIKELY = 0.5
_NAME_FROM = 0.35
"""How likely a name has to be where nothing else of a person is likelier: one that stays costs more."""
_SURE = 0.9
"""How likely nothing personal has to be for what a model finds there to be dropped."""
_LONGEST_NAME = 8
_IN_WORDS = frozenset(
    ("name", "given name", "family name", "city", "region", "country", "job", "organization", "nationality")
    + ("religion", "marital status", "gender", "handle", "address", "password")
)
"""Kinds whose cells hold a letter; those of the others hold a figure, but for e-mail addresses."""
_FIGURE = re.compile("[0-9]")
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"[.!?] |[!?]$|[^\W\d_]{4}\.$")
_PROGRAMS = re.compile(r"[^\W\d_A-Z]+(?:[A-Z][a-z]+)*|[A-Z][a-z]+(?:[A-Z][a-z]+)+|\w*_\w*|[A-Z]{2,5}")
"""Names of fields as programs write them."""
_EMPTY = re.compile(
    r'"([^"\n]{1,60}+)"\s{0,4}:\s{0,4}""'
    r"|^[ \t]{0,8}+([^\W\d_][\w.'’/()#-]*+(?:[ \t][\w.'’/()#-]++){0,4}+):[ \t]*+$",
    re.M,
)
"""The name of a field that holds nothing."""
_IN_CAPITALS = re.compile(r"[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]*)+")
"""As people are named: Orrin Vexling."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a text and what stands in it: a kind of ``KINDS``, free text or none."""

    path: tuple[str, ...] = field(repr=False)
    kind: str
    likely: float
    cells: Sequence[Cell] = field(repr=False)


def fields_of(text: str, given: Mapping[str, str] | None = None) -> list[Field]:
    """The fields of a text. ``given`` are kinds by the name of a field or by its path: "patient.name"."""
    by_field: dict[tuple[str, tuple[str, ...]], list[Cell]] = defaultdict(list)
    for cell in cells_of(text, is_usual_name):
        by_field[cell.group, cell.path].append(cell)
    beside: dict[tuple[str, tuple[str, ...]], dict[str, None]] = defaultdict(dict)
    for group, path in by_field:
        beside[group, path[:-1]][path[-1]] = None
    own_kinds = {name.lower(): kind for name, kind in (given or {}).items()}
    found = []
    for (group, path), cells in by_field.items():
        others = [name for name in list(beside[group, path[:-1]])[:_MOST_BESIDE] if name != path[-1]]
        said = list(dict.fromkeys(text[cell.value.start : cell.value.end] for cell in cells[:_MOST_CELLS]))
        own = own_kinds.get(".".join(path).lower()) or own_kinds.get(path[-1].lower())
        kind, likely = (own, 1.0) if own else _kind(path, tuple(others), tuple(said[:SAMPLE]))
        found.append(Field(path, kind, likely, cells))
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
    return bool(parts_of(name)) and _kind((name,), (), ())[0] != FREE


def with_fields(text: str, entities: Sequence[Entity], fields: Sequence[Field]) -> list[Entity]:
    """The mentions and those that fields hold, which take the place of others that hold as much or less.

    What identifies alone gives way only to a field that does too, or that holds the same words and no rigid
    format. In fields that hold nothing, patterns and names within words still count.
    """
    if not fields:
        return list(entities)
    known = {
        _bare(text, each.span)
        for each in entities
        if each.source.startswith("pattern:") and each.label not in _OF_MANY_FORMS
    }
    held = [each for each in _held(text, fields) if _bare(text, each.span) not in known]
    settled = CharacterSet(each.span for each in held)
    as_wholes = {_bare(text, each.span) for each in held}
    direct = CharacterSet(each.span for each in held if each.identifier is Identifier.DIRECT)
    empty = [
        cell
        for each in fields
        for cell in each.cells
        if _holds_nothing(each, text[cell.value.start : cell.value.end])
    ]
    nothing = CharacterSet(cell.value for cell in empty)
    # A name within words is one also there: "status: with Vexling".
    wholly = {_bare(text, cell.value) for cell in empty if cell.group != "lines"}
    kept = [
        each
        for each in entities
        if not (direct if each.identifier is Identifier.DIRECT else settled).holds(each.span)
        and not (_bare(text, each.span) in as_wholes and not label_of(each.label).rigid)
        and (not nothing.holds(each.span) or _is_sure(text, each, wholly))
    ]
    return sorted([*kept, *held], key=lambda each: each.span)


def _bare(text: str, span: Span) -> tuple[int, int]:
    """The range without signs at its ends."""
    said = text[span.start : span.end]
    before, behind = len(said) - len(said.lstrip(_SIGNS)), len(said) - len(said.rstrip(_SIGNS))
    return span.start + before, span.end - behind


def _held(text: str, fields: Sequence[Field]) -> Iterator[Entity]:
    for each in fields:
        label = KINDS.get(each.kind)
        for cell in each.cells if label else ():
            if label and _fits(each.kind, text[cell.value.start : cell.value.end]):
                yield hit(cell.value, label, min(0.99, each.likely), "field")


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
    few = len(WORD.findall(said)) <= _LONGEST_NAME
    return few and _LETTER.search(said) is not None and not _SENTENCE.search(said)


_LONGEST_GENDER = 20
_SHORTEST_NUMBER = 3


def _holds_nothing(field: Field, said: str) -> bool:
    shape = type_of(said)
    none = field.kind == NONE and field.likely >= _SURE and shape != "text"
    return none or fold(said) in NOTHING or (field.kind == FREE and shape in _SAYS_NOTHING)


def _is_sure(text: str, entity: Entity, wholly: Collection[tuple[int, int]]) -> bool:
    """Whether a mention is one also in a field that holds nothing: of a pattern, of a name.

    A single name that is ``wholly`` a cell is not, if it is not known: the field is taken at its word.
    """
    if entity.source.startswith("pattern:") or entity.source == REPEAT:
        return True
    if entity.identifier is Identifier.DIRECT and _bare(text, entity.span) not in wholly:
        return True
    said = [fold(word) for word in WORD.findall(text[entity.span.start : entity.span.end])]
    return entity.label == PERSON and len(said) > 1 and said[0] in words("given_names")


def off_names(text: str, entities: Sequence[Entity], fields: Sequence[Field]) -> list[Entity]:
    """The mentions but for names of fields, which stay as they are, unless a field is named for a person."""
    around: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for each in fields:
        around[each.cells[0].group, each.path[:-1]].append(each.path[-1])
    named = [
        cell.name
        for each in fields
        if is_fixed(each.path[-1], each.cells[0].group == "lines")
        or _is_among(each, around[each.cells[0].group, each.path[:-1]], text)
        for cell in each.cells
    ]
    empty = (Span(*match.span(match.lastindex or 0)) for match in _EMPTY.finditer(text))
    named += [span for span in empty if is_fixed(text[span.start : span.end], in_lines=True)]
    fixed = CharacterSet(named)
    return [
        each
        for each in entities
        if each.required or each.source.startswith("pattern:") or not fixed.touches(each.span)
    ]


def _is_among(field: Field, names: Sequence[str], text: str) -> bool:
    """Whether most of several names beside it are those of fields, and no word of its own is a name.

    In lines of a form its cells are no speech: Anna: how are you?
    """
    others = [name for name in names if name != field.path[-1]][:_MOST_BESIDE]
    in_lines = field.cells[0].group == "lines"
    if len(others) < _FEWEST_BESIDE or sum(is_fixed(name, in_lines) for name in others) <= len(others) / 2:
        return False
    said = {type_of(text[cell.value.start : cell.value.end]) for cell in field.cells[:SAMPLE]}
    speaks = in_lines and not said.isdisjoint(("text", "few small words"))
    return not speaks and _names_nobody(field.path[-1])


def _names_nobody(name: str) -> bool:
    known = words("given_names", "surnames") - words("common_words")
    return not any(part in known for part in parts_of(name))


_LONGEST_FIELD = 60
"""Characters of the name of a field; what is longer is a sentence."""


@cache
def _learned_words() -> frozenset[str]:
    """The words of the names that the head has learned, but for those that may name a person."""
    learned = {part for name in embedded_head().learned for part in parts_of(name)}
    return frozenset(learned - words("given_names") - words("surnames"))


def is_fixed(name: str, in_lines: bool = False) -> bool:
    """Whether a field is named as fields are, and not for a person.

    In the lines of a text somebody may speak: Ortwin: how are you? There only words that were learned count.
    """
    if in_lines:
        own = parts_of(name)
        return bool(own) and _learned_words().issuperset(own)
    if len(name) > _LONGEST_FIELD:
        return False
    kind, likely = _kind((name,), (), ())
    if kind != FREE and (likely >= _SURE or (_names_nobody(name) and not _IN_CAPITALS.fullmatch(name))):
        return True
    return _PROGRAMS.fullmatch(name) is not None and _names_nobody(name)
