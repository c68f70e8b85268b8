"""JSON inside a text: where its names and values stand, also where it breaks off."""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from ingest.documents import Span

_BEGINS = re.compile(r"\{\s{0,40}\"|\"[\w .-]{1,60}\"\s?:")
_TOKEN = re.compile(r'\s*+(?:"(?P<string>(?:[^"\\\n]|\\.)*+)"|(?P<bare>[-+\w.]++)|(?P<sign>[{}\[\],:]))')


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A text, number, true, false or null; ``names`` lead to it, and ``name`` is where the last one stands.

    ``span`` is without quotation marks; ``bare`` says whether there are none.
    """

    names: tuple[str, ...] = field(repr=False)
    name: Span
    span: Span
    bare: bool


def json_values(text: str) -> Iterator[JsonValue]:
    """The values of all objects in a text, whole or not, but empty texts. Takes linear time."""
    at = 0
    while begins := _BEGINS.search(text, at):
        at = yield from _object(text, begins.start())


def _object(text: str, at: int) -> Generator[JsonValue, None, int]:
    """The values of the object that begins at ``at``; returns where it ends or stops being JSON.

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
            if names_next:
                names[-1] = (text[first:last], Span(first, last) if first < last else None)
            elif first < last and (name := names[-1][1]) is not None:
                path = tuple(each for each, _ in names)
                yield JsonValue(path, name, Span(first, last), token["string"] is None)
        elif sign in "{[":
            open_signs.append(sign == "{")
            names += [("", None)] * open_signs[-1]
        elif sign in "}]":
            names = names[: len(names) - open_signs.pop()]
            if not open_signs:
                return at
        names_next = sign in ("{", ",") and open_signs[-1]
    return max(at, 1)
