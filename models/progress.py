"""How far long work is, reported between two batches of a model, and where it can be ended."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[int], None] | None] = ContextVar("listener", default=None)


def report(tokens: int) -> None:
    """Report that a model has read so many tokens more, 0 while something else is waited for."""
    if listener := _listener.get():
        listener(tokens)


@contextmanager
def reported_to(listener: Callable[[int], None]) -> Iterator[None]:
    """Within the block, ``listener`` gets the reports of this thread; what it raises ends the work."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
