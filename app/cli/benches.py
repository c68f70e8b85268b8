"""What the verbs of ``lethe bench`` share: progress, tables on standard output, files on request."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from app.cli.console import current_phase_on, progress, write_figures
from app.cli.given import command_of
from eval.progress import Progress
from eval.reports.files import report_folder

R = TypeVar("R", bound=BaseModel)


def folder_of(arguments: argparse.Namespace) -> Path | None:
    """The folder of ``--output``, made where it is missing; None without it."""
    return report_folder(Path(arguments.output)) if arguments.output else None


def bench(
    arguments: argparse.Namespace,
    measure: Callable[[Progress], R],
    markdown: Callable[[R], str],
    folder: Path | None,
) -> R:
    """Measure, print the tables, and write them with the figures; the report, with its command."""
    with progress("done") as bar:
        report = measure(current_phase_on(bar))
    report = report.model_copy(update={"command": command_of(arguments)})
    sys.stdout.write(markdown(report))
    if folder:
        write_figures(folder, arguments.bench, report.model_dump_json(indent=1), markdown(report))
    return report
