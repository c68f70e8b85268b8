"""Where results and messages go."""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.private_files import write_private
from models.errors import LetheError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from eval.progress import Progress as Phases
    from eval.reports.schema import Table

REPORT_EVERY = 30.0
"""Seconds between two lines of progress where standard error is no terminal."""

WHOLES = ("systems", "measured")
"""Phases that count what the others are parts of."""


def result(row: Mapping[str, object]) -> None:
    """One JSON line on standard output."""
    sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def result_beside_table(row: Mapping[str, object], as_json: bool) -> None:
    """The figures of a table as one JSON line; at a terminal, where the table is read, only ``as_json``."""
    if as_json or not (sys.stdout.isatty() and sys.stderr.isatty()):
        result(row)


def show(table: "Table", narrow: bool = False) -> None:
    """A table below its caption on standard error, as wide as the terminal allows."""
    from rich.text import Text

    from eval.reports.render import terminal_table

    screen = console()
    screen.print(Text(table.caption))
    screen.print(terminal_table(table, screen.width, narrow))


def write_figures(folder: Path, name: str, figures: str, tables: str) -> None:
    """The figures of a benchmark, as JSON, and its tables as files of a folder; a message names it.

    Raises:
        LetheError: They cannot be written.
    """
    try:
        write_private(folder / f"{name}.json", figures + "\n")
        write_private(folder / "tables.md", tables)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(f"{folder}: the figures could not be written ({reason}).") from None
    message(f"figures: {folder}")


def message(text: str) -> None:
    """One line on standard error, whatever characters a name in it holds."""
    sys.stderr.write(f"lethe: {printable(text)}\n")


def printable(text: str) -> str:
    r"""Text in one line without control characters: unprintable ones are escaped, as in ``\n``."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )


def confirmed(question: str, yes: bool, undone: str) -> bool:
    """Whether the user agrees, at the terminal or by ``yes``. Without a terminal: no."""
    if yes:
        return True
    if not sys.stdin.isatty():
        message(f"{undone}: no terminal to ask on; give --yes to go ahead.")
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def console() -> "Console":
    """Rich output on standard error."""
    from rich.console import Console

    return Console(stderr=True)


def progress(unit: str) -> "Progress":
    """A progress bar on standard error: share done, count of ``unit``, time left.

    It only moves to and fro while nothing is reported to be done. Where standard error is no terminal, it
    prints a line every ``REPORT_EVERY`` seconds.
    """
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    def has_begun(task: Task) -> bool:
        return bool(task.completed or task.fields["count"]) or task.finished

    class Bar(BarColumn):
        def render(self, task: Task) -> ProgressBar:
            shown = super().render(task)
            shown.pulse = shown.pulse or not has_begun(task)
            return shown

    class Done(ProgressColumn):
        def render(self, task: Task) -> Text:
            if not has_begun(task):
                return Text()
            share = "" if task.total is None else f"{task.percentage:>3.0f}% "
            return Text(f"{share}{task.fields['count']} {unit}")

    class Lines(Progress):
        """Bars drawn once, at the end; until then a line now and then."""

        reported_at = time.monotonic()

        def update(self, task_id: TaskID, **changes: Any) -> None:
            super().update(task_id, **changes)
            now = time.monotonic()
            if now - self.reported_at >= REPORT_EVERY:
                self.reported_at = now
                task = self.tasks[self.task_ids.index(task_id)]
                share = "" if task.total is None else f", {task.percentage:.0f}%"
                done = f": {task.fields['count']} {unit}{share}" if has_begun(task) else ""
                message(f"{task.description}{done}")

    screen = console()
    return (Progress if screen.is_terminal else Lines)(
        TextColumn("{task.description}"),
        Bar(),
        Done(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=screen,
    )


def current_phase_on(bar: "Progress") -> "Phases":
    """One bar for the whole work, and one for the current phase."""
    tasks: dict[bool, TaskID] = {}

    def show(phase: str, done: int, total: int | None) -> None:
        of_whole = phase in WHOLES
        task = tasks.get(of_whole)
        if task is None or bar.tasks[bar.task_ids.index(task)].description != phase:
            if task is not None:
                bar.remove_task(task)
            task = tasks[of_whole] = bar.add_task(phase, total=total, count=done)
        bar.update(task, completed=done, total=total, count=done)

    return show
