"""Caching wrappers for batch methods."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar, cast

_Part = TypeVar("_Part")


def remembering(
    part: _Part,
    method: str,
    *,
    key: Callable[[Any], Hashable] = lambda item: item,
    joined: Callable[[list[Any]], Any] = list,
    known: Iterable[tuple[Any, Any]] = (),
    grows: bool = True,
) -> _Part:
    """``part`` with a cached batch ``method``: it is called for new items only.

    ``key`` identifies an item, and ``joined`` combines the answers of all items into one. ``known`` are items
    with their answers; without ``grows`` no others are cached, so that memory stays constant.
    """
    return cast("_Part", _Remembering(part, method, key, joined, known, grows))


class _Remembering:
    def __init__(
        self,
        part: object,
        method: str,
        key: Callable[[Any], Hashable],
        joined: Callable[[list[Any]], Any],
        known: Iterable[tuple[Any, Any]],
        grows: bool,
    ) -> None:
        self._part = part
        self._ask = getattr(part, method)
        self._key, self._joined, self._grows = key, joined, grows
        self._known = {key(item): answer for item, answer in known}
        setattr(self, method, self._answers)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def _answers(self, items: Sequence[Any]) -> Any:
        if not items:
            return self._ask(items)
        keys = [self._key(item) for item in items]
        new = {each: item for each, item in zip(keys, items, strict=True) if each not in self._known}
        fresh = dict(zip(new, self._ask(list(new.values())), strict=True)) if new else {}
        found = self._joined([self._known[each] if each in self._known else fresh[each] for each in keys])
        if self._grows:
            self._known |= fresh
        return found
