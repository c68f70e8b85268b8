"""Structured lines: fields between bars or tabs, JSON, key=value pairs, log lines.

Their separators, keys, levels and loggers identify nobody, and no mention crosses from one value into the
next. A model trained on prose mistakes short figures and codes there for mentions; these are dropped.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.detection.forms import LOOK_BACK, has_form
from ingest.documents import Entity, Identifier, Span
from ingest.language.vocabulary import WORD, fold, words

_LINE = re.compile(r"[^\n]+")
_LEVEL = r"(?<!\w)(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)(?!\w)"
_KEY = r"(?<![\w.-])[A-Za-z_][\w.-]{0,40}="
_LOGGER = r"(?:[ \t:]{0,4}\[[\w. #/-]{0,60}\])?(?:[ \t]{1,4}[\w$]{1,60}(?:\.[\w$]{1,60})+)?"


@dataclass(frozen=True, slots=True)
class _Kind:
    """``sign`` matches only such a line, ``between`` matches its separators."""

    sign: re.Pattern[str] = field(repr=False)
    between: re.Pattern[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Fields:
    """The half-open ranges of a line's values, in order."""

    starts: Sequence[int]
    ends: Sequence[int]


_KINDS = (
    _Kind(re.compile(r"^[A-Z][A-Z0-9]{2}\|"), re.compile(r"^[A-Z][A-Z0-9]{2}(?=\|)|[|^~&]")),
    _Kind(re.compile(r"\|[^|]*\|"), re.compile(r"\|")),
    _Kind(re.compile(r"\t[^\t]*\t"), re.compile(r"\t")),
    _Kind(
        re.compile(r"\"[\w.-]{1,60}\"\s?:"),
        re.compile(r"\"[\w.-]{1,60}\"\s?:\s?|[{}\[\]]|(?<=[\"\d}\]el]),\s?(?=[\"{\[])"),
    ),
    _Kind(
        re.compile(rf"{_KEY}\S[^=]*\s[A-Za-z_][\w.-]{{0,40}}=\S|^[^a-z]{{0,60}}{_LEVEL}|^(?:level|ts)="),
        re.compile(rf"{_KEY}|{_LEVEL}{_LOGGER}"),
    ),
)
"""The first match is a line's kind."""

_AROUND = " \t\"',;()[]{}<>"
_LETTERS = re.compile(r"[^\W\d_]{3}")
_FIGURE = re.compile(r"[+<>~-]{0,2}[0-9][0-9.,:/+x-]*\s?[A-Za-zµ%°]{0,8}(?:/[A-Za-z0-9]{1,4})?")
_CODE = re.compile(r"[A-Z]{1,3}[0-9]{0,2}")
_SHORT = 6
"""Figures with fewer digits are measurements, durations or states."""
_YEAR = 4
_MEASURED = frozenset(
    (
        "quantity",
        "duration",
        "frequency",
        "dosage",
        "medical test",
        "test result",
        "procedure",
        "date",
        "time",
    )
)
"""Labels for which a figure alone identifies nobody, unlike an age or a postal code."""

_USUAL_KEY = re.compile(rf"(?i:key|level|name)|{_LEVEL}")


def by_fields(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """The mentions, split at the fields of structured lines, without false ones.

    Other lines are unchanged. The pieces of a split mention keep all its letters and digits except keys,
    levels, figures and codes; but a direct identifier may itself be a key.
    """
    lines = [match.span() for match in _LINE.finditer(text)]
    starts = [start for start, _ in lines]
    known: dict[int, _Fields | None] = {}

    def fields_of(number: int) -> _Fields | None:
        if number not in known:
            known[number] = _fields(text, *lines[number])
        return known[number]

    kept: list[Entity] = []
    for entity in entities:
        first = bisect_right(starts, entity.span.start) - 1
        last = bisect_right(starts, entity.span.end - 1) - 1
        numbers = range(max(0, first), last + 1)
        if not any(fields_of(number) for number in numbers):
            kept.append(entity)
            continue
        pieces = [
            piece for number in numbers for piece in _pieces(text, entity, fields_of(number), lines[number])
        ]
        kept += [*pieces, *_keys_that_name(text, entity, lambda at: fields_of(bisect_right(starts, at) - 1))]
    return sorted(kept, key=lambda each: each.span)


def _fields(text: str, start: int, end: int) -> _Fields | None:
    """The values of a line; None if it has no structure."""
    line = text[start:end]
    kind = next((kind for kind in _KINDS if kind.sign.search(line)), None)
    if kind is None:
        return None
    between = [(start + match.start(), start + match.end()) for match in kind.between.finditer(line)]
    return _Fields([start, *(last for _, last in between)], [*(first for first, _ in between), end])


def _keys_that_name(
    text: str, entity: Entity, fields_at: Callable[[int], _Fields | None]
) -> Iterator[Entity]:
    """The words of a direct identifier that lie in no value: a name may be the key of a pair."""
    if entity.identifier is not Identifier.DIRECT:
        return
    for word in WORD.finditer(text, entity.span.start, entity.span.end):
        usual = _USUAL_KEY.fullmatch(word.group()) or fold(word.group()) in words("common_words")
        if _LETTERS.search(word.group()) and not usual and not _is_value(word, fields_at(word.start())):
            yield entity.at(Span(*word.span()))


def _is_value(word: re.Match[str], fields: _Fields | None) -> bool:
    """Whether a word lies in a value of its line, or its line has none."""
    if fields is None:
        return True
    number = bisect_right(fields.ends, word.start())
    return number < len(fields.ends) and fields.starts[number] < word.end()


def _pieces(text: str, entity: Entity, fields: _Fields | None, line: tuple[int, int]) -> Iterator[Entity]:
    """The parts of a mention in each field of a line, or in the line if it has no fields."""
    start, end = entity.span.start, entity.span.end
    places = fields or _Fields([line[0]], [line[1]])
    number = bisect_right(places.ends, start)
    while number < len(places.ends) and places.starts[number] < end:
        first, last = max(start, places.starts[number]), min(end, places.ends[number])
        is_part = (first, last) != (start, end)
        if is_part:
            first, last = _trimmed(text, first, last)
        said = text[first:last]
        nothing = not any(char.isalnum() for char in said) or (fields and _is_data(entity, said))
        if not nothing and not (
            is_part and _is_word_beside(entity, said, text[max(0, first - LOOK_BACK) : first])
        ):
            yield entity.at(Span(first, last))
        number += 1


def _trimmed(text: str, first: int, last: int) -> tuple[int, int]:
    while first < last and text[first] in _AROUND:
        first += 1
    while first < last and text[last - 1] in _AROUND:
        last -= 1
    return first, last


def _is_word_beside(entity: Entity, said: str, before: str) -> bool:
    """Whether a piece of a model's number is only a word next to the number."""
    return entity.source.startswith("model:") and not has_form(entity.label, said, before)


def _is_data(entity: Entity, said: str) -> bool:
    """Whether a model, or a rule for prose, mistook a figure or a code for a mention."""
    if entity.label not in _MEASURED or entity.source.startswith("pattern:"):
        return False
    n_digits = sum(char.isdigit() for char in said)
    if entity.label == "date" and n_digits >= _YEAR and said.isdigit():
        return False
    figure = n_digits < _SHORT and _FIGURE.fullmatch(said)
    return bool(figure or _CODE.fullmatch(said)) or (entity.label == "quantity" and n_digits == 0)
