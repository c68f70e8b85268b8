"""``lethe attack``."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.attacking import extraction
from app.cli.console import console, message, progress, result
from app.cli.given import services_of
from app.corpus import Phases, read_corpus
from eval.attacks.extraction import Aim
from eval.attacks.suite import extraction_suite
from eval.gold import gold_rows
from eval.report import summary
from eval.report_files import report_folder, write_report
from eval.report_table import leakage_table
from ingest.read.sources import read_documents

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def run(arguments: argparse.Namespace) -> int:
    """The extraction attack: a table on standard error, the figures as one JSON line, files on request.

    1 if something keeps the figures from being a verdict: a failed document or attempt, or an unsanitized
    arm that the attack did not break.
    """
    aims = dict.fromkeys(Aim(aim) for aim in arguments.aim or Aim)
    suite = extraction_suite(list(aims), arguments.n, arguments.seed)
    services = services_of(arguments)
    folder = report_folder(Path(arguments.report)) if arguments.report else None
    keep_ids = None
    if arguments.collection:
        with services.open(arguments.collection) as collection:
            keep_ids = collection.manifest.keeps_ids
    gold = None
    if arguments.gold_field:
        gold = gold_rows(arguments.paths, arguments.gold_field, arguments.text_field, arguments.id_field)
    readings = read_documents(
        arguments.paths, text_field=arguments.text_field, id_field=arguments.id_field, stdin=sys.stdin.buffer
    )
    with progress("done") as bar:
        told = phases_on(bar)
        corpus = read_corpus(services, readings, gold, keep_ids=keep_ids, phases=told)
        report = extraction(
            services,
            corpus,
            suite,
            collection=arguments.collection,
            worst_case=arguments.generator == "verbatim",
            phases=told,
        )
    console().print(leakage_table(report))
    result(summary(report))
    if folder:
        _, _, page = write_report(report, folder)
        message(f"report: {page}")
    return 1 if report.problems else 0


def phases_on(bar: "Progress") -> Phases:
    """One bar below the other, each from when its phase begins."""
    tasks: dict[str, TaskID] = {}

    def told(phase: str, done: int, total: int | None) -> None:
        if phase not in tasks:
            tasks[phase] = bar.add_task(phase, total=total, count=done)
        bar.update(tasks[phase], completed=done, total=total, count=done)

    return told
