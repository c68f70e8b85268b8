"""Resolve a path to values of a record.

A path joins names by dots: "a.b". After a list, "[0]" takes one item and "[*]" all of them: "a[*].b". At the
end "..." takes every value below, "a...", and alone the whole record. A field named exactly like the path
comes first. "+" joins several paths: "a+b".
"""

import re
from collections.abc import Iterator, Mapping

ALL_BELOW = "..."


def paths_in(fields: Mapping[str, object], wanted: str) -> list[str]:
    """The single paths in a user's request, given a record's fields."""
    return [wanted] if wanted in fields else wanted.split("+")


def may_be_absent(path: str) -> bool:
    """Whether the path matches any number of values, including none."""
    return "[*]" in path or path.endswith(ALL_BELOW)


def found(fields: Mapping[str, object], path: str) -> list[object]:
    """The values at ``path``, in order; empty if there are none."""
    if path in fields:
        return [fields[path]]
    values: list[object] = [fields]
    for step in _steps(path):
        values = [inner for value in values for inner in _stepped(value, step)]
    return values


def begins_in(fields: Mapping[str, object], path: str) -> bool:
    """Whether the path's first field exists."""
    return path in fields or all(_stepped(fields, step) for step in _steps(path)[:1])


def below(value: object) -> Iterator[tuple[str, object]]:
    """Every leaf value, in order, with the name of its field."""
    # A stack, because a record may be nested deeper than calls.
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        name, each = stack.pop()
        if isinstance(each, dict):
            stack += reversed(each.items())
        elif isinstance(each, list):
            stack += ((name, item) for item in reversed(each))
        else:
            yield name, each


def count_values(value: object) -> int:
    """The number of non-empty values."""
    return sum(each is not None and bool(str(each).strip()) for _, each in below(value))


def _steps(path: str) -> list[str]:
    return [step for step in re.split(r"\.|(?=\[)", path.removesuffix(ALL_BELOW)) if step]


def _stepped(value: object, step: str) -> list[object]:
    if not step.startswith("["):
        return [value[step]] if isinstance(value, dict) and step in value else []
    if not isinstance(value, list):
        return []
    if step == "[*]":
        return value
    number = re.fullmatch(r"\[([0-9]{1,9})\]", step)
    return value[int(number[1]) : int(number[1]) + 1] if number else []
