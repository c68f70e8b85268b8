"""Split a long iterable into batches."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def packs(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in order, in lists of ``size``; the last may be shorter, none is empty."""
    remaining = iter(items)
    while pack := list(islice(remaining, size)):
        yield pack
