"""``lethe bench marks``: what methods do to what annotators marked."""

import argparse
import shlex
import sys
from pathlib import Path

from app.cli.console import current_phase_on, message, progress
from app.cli.given import settings_of
from app.compose import system_of
from app.demo.corpus import corpus_path
from app.settings.report import run_settings
from eval.corpora.marked import marked_corpora
from eval.reports.files import report_folder
from eval.studies.marks.study import MarksReport, Options, markdown, measure_marks
from ingest.private_files import write_private
from models.errors import ConfigurationError, LetheError


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request tables, figures and rows as files.

    1 if a method could not sanitize every document: its figures are then incomplete.
    """
    data = Path(arguments.data)
    if not data.is_dir():
        raise ConfigurationError(f"{data} is not a folder: name the one with a subfolder for each corpus.")
    settings = settings_of(arguments)
    system = system_of(settings)
    if not system.policy.has_threshold:
        raise ConfigurationError(
            f"The benchmark compares lethe with its controls, and the settings say {system.policy.name}: set "
            "policy.name to lethe."
        )
    folder = report_folder(Path(arguments.output)) if arguments.output else None
    options = Options(
        arguments.corpus or marked_corpora(), arguments.seed, arguments.learned, demo=corpus_path()
    )
    with progress("done") as bar:
        report = measure_marks(
            system, data, options, current_phase_on(bar), folder=folder, made_with=run_settings(settings)
        )
    report = report.model_copy(update={"command": _command(arguments)})
    sys.stdout.write(markdown(report))
    for name, reason in report.absent.items():
        message(f"{name} is absent: {reason}")
    if folder:
        _write(report, folder)
        message(f"figures: {folder}")
    return 1 if any(part.failed for corpus in report.corpora for part in corpus.parts) else 0


def _command(arguments: argparse.Namespace) -> str:
    """The arguments after ``lethe bench marks`` that reproduce the run, without local paths."""
    words = ["DATA"]
    for name in arguments.corpus or ():
        words += ["--corpus", name]
    words += ["--learned"] if arguments.learned else []
    words += ["--seed", str(arguments.seed)] if arguments.seed else []
    return shlex.join(words)


def _write(report: MarksReport, folder: Path) -> None:
    try:
        write_private(folder / "marks.json", report.model_dump_json(indent=1) + "\n")
        write_private(folder / "tables.md", markdown(report))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(f"{folder}: the figures could not be written ({reason}).") from None
