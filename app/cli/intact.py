"""``lethe bench intact``: truthful sanitization of annotated spans, and the benchmark that they come from."""

import argparse
from pathlib import Path

from app.cli.benches import bench, folder_of
from app.cli.given import settings_of
from app.compose import encoder_of, system_of
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
    report = bench(
        arguments,
        lambda reported: measure_intact(
            Path(arguments.path),
            encoder,
            PoolGuesser(encoder),
            settings.policy.guess_limit,
            arguments.seed,
            reported,
            arguments.documents,
            Path(arguments.judged) if arguments.judged else None,
            lambda: system_of(settings, encoder=encoder),
            arguments.table,
        ),
        markdown,
        folder_of(arguments),
    )
    failed = [each.failed for each in report.methods]
    failed += [each.failed for each in report.benchmark.rows] if report.benchmark else []
    return int(any(failed))
