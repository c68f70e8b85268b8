"""Where results and messages go."""

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


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
    """A progress bar on standard error: how far, how many of ``unit``, time left."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn(f"{{task.fields[count]}} {unit}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console(),
    )
