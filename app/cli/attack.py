"""``lethe attack``."""

import argparse
import sys
from pathlib import Path

from app.attacking import extraction, gold_rows, read_corpus
from app.cli.console import console, message, progress, result
from app.cli.given import services_of
from eval.attacks.extraction import Aim
from eval.attacks.suite import extraction_suite
from eval.report import summary
from eval.report_files import report_folder, write_report
from eval.report_table import leakage_table
from ingest.read.sources import read_documents


def run(arguments: argparse.Namespace) -> int:
    """The extraction attack: a table on standard error, the figures as one JSON line, files on request."""
    services = services_of(arguments)
    folder = report_folder(Path(arguments.report)) if arguments.report else None
    gold = None
    if arguments.gold_field:
        gold = gold_rows(arguments.paths, arguments.gold_field, arguments.text_field, arguments.id_field)
    message("reading the corpus")
    readings = read_documents(
        arguments.paths, text_field=arguments.text_field, id_field=arguments.id_field, stdin=sys.stdin.buffer
    )
    corpus = read_corpus(services, readings, gold)
    aims = [Aim(aim) for aim in arguments.aim or list(Aim)]
    suite = extraction_suite(aims, arguments.n, arguments.seed)
    with progress("attempts") as bar:
        task = bar.add_task("attack", total=None, count=0)
        report = extraction(
            services,
            corpus,
            suite,
            collection=arguments.collection,
            worst_case=arguments.generator == "verbatim",
            progress=lambda done, total: bar.update(task, completed=done, total=total, count=done),
        )
    console().print(leakage_table(report))
    result(summary(report))
    if folder:
        _, _, page = write_report(report, folder)
        message(f"report: {page}")
    return 0 if all(arm.not_measured == 0 for arm in report.arms) else 1
