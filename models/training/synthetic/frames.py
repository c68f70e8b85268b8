r"""Frames and lists of phrases, read once from ``training/data``, and the notation in which they are written.

``{label}`` is a slot, ``{label/style#key}`` one in a style that recurs wherever the key does,
``{p.full}`` a form of a person (p, q, r, s, t; a child is k). ``{^...}``, ``{~...}`` and ``{!...}`` begin
with a capital, are in lower or in upper case. ``{a|b|}`` is a choice, ``[text](label)`` text that is
itself a mention. ``{=##|=####}`` is one of several patterns of digits, ``{5-99}`` a number between two.
``\{`` and ``\}`` are braces.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from models.errors import ConfigurationError
from models.training.labels import DATA, LABELS

_FRAMES, _LISTS = DATA / "templates", DATA / "lists"
_HEAD = "%%"
_SPECIAL = re.compile(r"[{}\[\\]")
_RANGE = re.compile(r"(\d+)-(\d+)")
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


@dataclass(frozen=True, slots=True)
class Digits:
    """One of several patterns of digits and letters, as ``stage.digits`` has them."""

    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """A number from ``low`` to ``high``."""

    low: int
    high: int


Node = Literal | Slot | Choice | Labeled | Digits | Number


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
            special = _SPECIAL.search(source, place + 1)
            end = special.start() if special else len(source)
            nodes.append(Literal(source[place:end]))
            place = end
    return tuple(nodes)


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
    if inner.startswith("="):
        return Digits(tuple(inner.removeprefix("=").split("|=")))
    if numbers := _RANGE.fullmatch(inner):
        return Number(int(numbers[1]), int(numbers[2]))
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


@dataclass(frozen=True, slots=True)
class Frame:
    """A text with slots. ``unvouched`` are the labels that it may hold unmarked."""

    id: str
    nodes: tuple[Node, ...] = field(repr=False)
    unvouched: tuple[str, ...] = ()


@cache
def frames() -> tuple[Frame, ...]:
    """Every frame, in the order of the files.

    A file is named after its register. A line that begins with ``%%`` stands before every frame; what
    follows on it are the labels, after a minus and with commas between, that the frame is not vouched for.

    Raises:
        ConfigurationError: a head line names an unknown label, or a frame's notation is broken.
    """
    return tuple(frame for path in sorted(_FRAMES.glob("*.txt")) for frame in _read(path))


def _read(path: Path) -> list[Frame]:
    read: list[Frame] = []
    head, lines = "", []
    for line in [*path.read_text(encoding="utf-8").splitlines(), _HEAD]:
        if not line.startswith(_HEAD):
            lines.append(line)
            continue
        source = "\n".join(lines).strip("\n")
        if source:
            read.append(_frame(f"{path.stem}-{len(read) + 1:03d}", head, source))
        head, lines = line.removeprefix(_HEAD), []
    return read


def _frame(name: str, head: str, source: str) -> Frame:
    unvouched = tuple(part.strip(" -") for part in head.split(",") if part.strip())
    unknown = [label for label in unvouched if label not in LABELS]
    if unknown:
        raise ConfigurationError(f"Frame {name} has {len(unknown)} unknown labels in its head: correct them.")
    try:
        return Frame(name, parse(source), unvouched)
    except ConfigurationError as error:
        raise ConfigurationError(f"Frame {name} cannot be read. {error}") from error


@cache
def phrases() -> Mapping[str, tuple[str, ...]]:
    """Every list by its name, in the notation of frames.

    A file holds ``[name]`` lines, each followed by its phrases, one a line; ``label/style`` is the
    name of the phrases for that style of a slot.

    Raises:
        ConfigurationError: a phrase stands before the first name.
    """
    lists: dict[str, list[str]] = {}
    for path in sorted(_LISTS.glob("*.txt")):
        name = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("[") and line.endswith("]"):
                name = line[1:-1]
                lists.setdefault(name, [])
            elif line.strip():
                if not name:
                    raise ConfigurationError(
                        f"A phrase has no list, {path.name} line {number}: write [name] before."
                    )
                lists[name].append(line)
    return {name: tuple(entries) for name, entries in lists.items()}


@cache
def names_of(kind: str) -> tuple[str, ...]:
    """The lists for a slot's label: its own, or one for each of its styles."""
    known = phrases()
    return (kind,) if kind in known else tuple(name for name in known if name.startswith(kind + "/"))


def word(random: Random, kind: str) -> str:
    """One entry of a list, as it is written.

    Raises:
        ConfigurationError: there is no such list.
    """
    names = names_of(kind)
    if not names:
        raise ConfigurationError(f"There is no list named {kind!r}: add it to {_LISTS.name}.")
    return random.choice(phrases()[random.choice(names)])
