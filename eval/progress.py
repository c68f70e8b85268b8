"""Progress callbacks of long work."""

from typing import Protocol


class Progress(Protocol):
    """Called with the phase, the amount done and the total, None if unknown."""

    def __call__(self, phase: str, done: int, total: int | None) -> None: ...


def no_progress(phase: str, done: int, total: int | None) -> None:
    """The no-op callback."""


def only(wanted: str, named: str, progress: Progress) -> Progress:
    """A callback that forwards one phase under another name."""

    def passed(phase: str, done: int, total: int | None) -> None:
        if phase == wanted:
            progress(named, done, total)

    return passed
