"""``lethe bench intact``: truthful sanitization of annotated spans, and the benchmark that they come from."""

import argparse
import shlex
import sys
from pathlib import Path

from app.cli.console import current_phase_on, progress, write_figures
from app.cli.given import settings_of
from app.compose import encoder_of, system_of
from eval.reports.files import report_folder
from eval.reports.intact import markdown
from eval.studies.intact.study import measure_intact
from eval.targets import reading_once
from ingest.wording.pool import PoolGuesser


def run(arguments: argparse.Namespace) -> int:
    """Markdown tables on standard output; on request tables and figures as files.

    1 if a method could not sanitize every case: its figures are then incomplete.
    """
    settings = settings_of(arguments)
    encoder = reading_once(encoder_of(settings))
    folder = report_folder(Path(arguments.output)) if arguments.output else None
    with progress("done") as bar:
        report = measure_intact(
            Path(arguments.path),
            encoder,
            PoolGuesser(encoder),
            settings.policy.guess_limit,
            arguments.seed,
            current_phase_on(bar),
            arguments.documents,
            Path(arguments.judged) if arguments.judged else None,
            lambda: system_of(settings, encoder=encoder),
            arguments.table,
        )
    report = report.model_copy(update={"command": _command(arguments)})
    sys.stdout.write(markdown(report))
    if folder:
        write_figures(folder, "intact", report.model_dump_json(indent=1), markdown(report))
    failed = [each.failed for each in report.methods]
    failed += [each.failed for each in report.benchmark.rows] if report.benchmark else []
    return int(any(failed))


def _command(arguments: argparse.Namespace) -> str:
    """The arguments after ``lethe bench intact`` that reproduce the run, without local paths."""
    words = ["PATH"]
    words += ["--documents", str(arguments.documents)] if arguments.documents else []
    words += ["--judged", Path(arguments.judged).name] if arguments.judged else []
    words += ["--table"] if arguments.table else []
    words += ["--seed", str(arguments.seed)] if arguments.seed else []
    return shlex.join(words)
