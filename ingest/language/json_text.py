"""JSON inside a text: where its names and values stand, also where it breaks off."""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from ingest.documents import Span

_BEGINS = re.compile(r"\{\s{0,40}\"|\A\s{0,40}\[\s{0,40}[\"{\[]|\"[\w .-]{1,60}\"\s?:")
_TOKEN = re.compile(r'\s*+(?:"(?P<string>(?:[^"\\\n]|\\.)*+)"|(?P<bare>[-+\w.]++)|(?P<sign>[{}\[\],:]))')


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A name, or what stands under it: a text, number, true, false or null.

    ``names`` lead to it, at most the last eight, and ``name`` is where the last one stands; both are empty
    for what stands in a list of no object. ``span`` is without quotation marks, and None for the name by
    itself; ``bare`` says whether a value has no quotation marks.
    """

    names: tuple[str, ...] = field(repr=False)
    name: Span | None
    span: Span | None = None
    bare: bool = False


_DEEPEST = 8
"""Names of a value's path, since a path for each name of deep JSON would take quadratic space."""


def json_values(text: str) -> Iterator[JsonValue]:
    """The names and values of all objects in a text, and of a list that begins it, whole or not.

    Empty texts are no values. Takes linear time.
    """
    at = 0
    while begins := _BEGINS.search(text, at):
        at = yield from _object(text, begins.start())


def _object(text: str, at: int) -> Generator[JsonValue, None, int]:
    """The names and values of the object that begins at ``at``; returns where it ends or stops being JSON.

    One that begins with a name was cut off in front.
    """
    # What is open: True for an object. Names and their places are those of the objects alone.
    cut_off = text[at] == '"'
    open_signs = [True] if cut_off else []
    names: list[tuple[str, Span | None]] = [("", None)] if cut_off else []
    names_next = cut_off
    while token := _TOKEN.match(text, at):
        at = token.end()
        sign = token["sign"]
        if sign is None:
            first, last = token.span("string" if token["string"] is not None else "bare")
            said = Span(first, last) if first < last else None
            if names_next:
                names[-1] = (text[first:last], said)
            if said:
                path = tuple(each for each, _ in names[-_DEEPEST:])
                name = names[-1][1] if names else None
                yield JsonValue(
                    path, name, *((None, False) if names_next else (said, token["string"] is None))
                )
        elif sign in "{[":
            open_signs.append(sign == "{")
            names += [("", None)] * open_signs[-1]
        elif sign in "}]":
            if open_signs.pop():
                names.pop()
            if not open_signs:
                return at
        names_next = sign in ("{", ",") and open_signs[-1]
    return max(at, 1)
