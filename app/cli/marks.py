"""``lethe bench marks``: what methods do to what annotators marked."""

import argparse
import shlex
import sys
from pathlib import Path

from app.cli.console import current_phase_on, message, progress, write_figures
from app.cli.given import check_compared, corpora_in, settings_of
from app.compose import system_of
from app.demo import corpus_path
from app.settings.report import run_settings
from eval.corpora.marked import marked_corpora
from eval.reports.files import report_folder
from eval.studies.marks.study import Options, markdown, measure_marks


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request tables, figures and rows as files.

    1 if a method could not sanitize every document: its figures are then incomplete.
    """
    data = corpora_in(arguments)
    settings = settings_of(arguments)
    system = system_of(settings)
    check_compared(system.policy)
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
        write_figures(folder, "marks", report.model_dump_json(indent=1), markdown(report))
    return 1 if any(part.failed for corpus in report.corpora for part in corpus.parts) else 0


def _command(arguments: argparse.Namespace) -> str:
    """The arguments after ``lethe bench marks`` that reproduce the run, without local paths."""
    words = ["DATA"]
    for name in arguments.corpus or ():
        words += ["--corpus", name]
    words += ["--learned"] if arguments.learned else []
    words += ["--seed", str(arguments.seed)] if arguments.seed else []
    return shlex.join(words)
