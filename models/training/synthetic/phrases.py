"""Lists of words and phrases, read once from the files beside this module."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random

from models.errors import ConfigurationError

_FOLDER = Path(__file__).parent / "lists"


@cache
def phrases() -> Mapping[str, tuple[str, ...]]:
    """Every list by its name, in the notation of frames.

    A file holds ``[name]`` lines, each followed by its phrases, one a line; ``label/style`` is the
    name of the phrases for that style of a slot.

    Raises:
        ConfigurationError: a phrase stands before the first name.
    """
    lists: dict[str, list[str]] = {}
    for path in sorted(_FOLDER.glob("*.txt")):
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
        raise ConfigurationError(f"There is no list named {kind!r}: add it to {_FOLDER.name}.")
    return random.choice(phrases()[random.choice(names)])
