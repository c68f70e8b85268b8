r"""The notation in which frames and phrases are written.

``{label}`` is a slot, ``{label/style#key}`` one in a style that recurs wherever the key does,
``{p.full}`` a form of a person (p, q, r, s, t; a child is k). ``{^...}``, ``{~...}`` and ``{!...}`` begin
with a capital, are in lower or in upper case. ``{a|b|}`` is a choice, ``[text](label)`` text that is
itself a mention. ``\{`` and ``\}`` are braces.
"""

import re
from dataclasses import dataclass, field

from models.errors import ConfigurationError

_SLOT = re.compile(r"(?P<case>[\^~!]?)(?P<name>[\w. -]+?)(?:/(?P<style>\w+))?(?:#(?P<key>\w+))?")
_MARKED = re.compile(r"\[([^\[\]]*)\]\(([\w ,]+)\)")


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands as it is."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value; ``case`` is empty or one of ``^ ~ !``."""

    name: str
    style: str = ""
    key: str = ""
    case: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several texts."""

    options: tuple[tuple["Node", ...], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Labeled:
    """Text that is itself a mention."""

    nodes: tuple["Node", ...] = field(repr=False)
    labels: tuple[str, ...]


Node = Literal | Slot | Choice | Labeled


def parse(source: str) -> tuple[Node, ...]:
    """The nodes of a text in this notation.

    Raises:
        ConfigurationError: braces do not match, or a slot has no name.
    """
    nodes: list[Node] = []
    place = 0
    while place < len(source):
        marked = _MARKED.match(source, place)
        if source.startswith(("\\{", "\\}"), place):
            nodes.append(Literal(source[place + 1]))
            place += 2
        elif source[place] == "{":
            end = _closing(source, place)
            nodes.append(_braces(source[place + 1 : end]))
            place = end + 1
        elif marked:
            labels = tuple(label.strip() for label in marked[2].split(","))
            nodes.append(Labeled(parse(marked[1]), labels))
            place = marked.end()
        else:
            if source[place] == "}":
                raise ConfigurationError(
                    f"The brace at character {place} was never opened: write a backslash before it."
                )
            end = _plain_end(source, place)
            nodes.append(Literal(source[place:end]))
            place = end
    return tuple(nodes)


def _plain_end(source: str, start: int) -> int:
    end = start + 1
    while end < len(source) and source[end] not in "{}[\\":
        end += 1
    return end


def _closing(source: str, start: int) -> int:
    depth = 0
    for place in range(start, len(source)):
        depth += {"{": 1, "}": -1}.get(source[place], 0)
        if depth == 0:
            return place
    raise ConfigurationError(
        f"The brace at character {start} is never closed: close it, or write a backslash before it."
    )


def _braces(inner: str) -> Node:
    options = _options(inner)
    if len(options) > 1:
        return Choice(tuple(parse(option) for option in options))
    slot = _SLOT.fullmatch(inner)
    if slot is None:
        raise ConfigurationError(
            f"A slot of {len(inner)} characters is no slot: write a label, a style and a key."
        )
    return Slot(slot["name"], slot["style"] or "", slot["key"] or "", slot["case"])


def _options(inner: str) -> list[str]:
    options = [""]
    depth = 0
    for character in inner:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "|" and depth == 0:
            options.append("")
        else:
            options[-1] += character
    return options
