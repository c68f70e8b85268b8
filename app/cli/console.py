"""Where results and messages go."""

import json
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from app.corpus import Phases

TOLD_EVERY = 30.0
"""Seconds between two lines about work that goes on, where standard error is no terminal."""


def result(row: Mapping[str, object]) -> None:
    """One JSON line on standard output."""
    sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def message(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"lethe: {text}\n")


def console() -> "Console":
    """Rich output on standard error."""
    from rich.console import Console

    return Console(stderr=True)


def progress(unit: str) -> "Progress":
    """A progress bar on standard error: how far, how many of ``unit``, time left.

    Where nobody could see it move, there is a line every ``TOLD_EVERY`` seconds too.
    """
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    class Lines(Progress):
        """Bars that are drawn once, at the end, and told of until then."""

        told = time.monotonic()

        def update(self, task_id: TaskID, **changes: Any) -> None:
            super().update(task_id, **changes)
            now = time.monotonic()
            if now - self.told >= TOLD_EVERY:
                self.told = now
                task = self.tasks[self.task_ids.index(task_id)]
                share = "" if task.total is None else f", {task.percentage:.0f}%"
                message(f"{task.description}: {task.fields['count']} {unit}{share}")

    screen = console()
    return (Progress if screen.is_terminal else Lines)(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn(f"{{task.fields[count]}} {unit}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=screen,
    )


def current_phase_on(bar: "Progress", whole: str = "measured") -> "Phases":
    """One bar for the work as a whole, and one for what is under way, whatever that is."""
    tasks: dict[bool, TaskID] = {}

    def told(phase: str, done: int, total: int | None) -> None:
        of_whole = phase == whole
        if of_whole not in tasks:
            tasks[of_whole] = bar.add_task(phase, total=total, count=done)
        task = tasks[of_whole]
        if bar.tasks[bar.task_ids.index(task)].description != phase:
            bar.reset(task, description=phase, total=total, count=done)
        bar.update(task, completed=done, total=total, count=done)

    return told
