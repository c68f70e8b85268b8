"""Taking from what may be long only so much at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def packs(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in order in lists of ``size``, of which the last may be shorter and none is empty."""
    remaining = iter(items)
    while pack := list(islice(remaining, size)):
        yield pack
