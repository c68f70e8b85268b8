"""``lethe ingest``."""

import argparse
import sys

from app.cli.console import message, progress, result
from app.cli.given import services_of
from app.ingesting import ingest
from ingest.pipeline import FAILURES_TOLD, Tally
from ingest.read.sources import read_documents, total_bytes


def run(arguments: argparse.Namespace) -> int:
    """The summary is one JSON line; what could not be kept is told on standard error as well."""
    services = services_of(arguments)
    told = 0
    with progress("documents") as bar:
        total = None if "-" in arguments.paths else total_bytes(arguments.paths)
        task = bar.add_task(f"ingest into {arguments.collection}", total=total, count=0)

        def on_progress(tally: Tally) -> None:
            nonlocal told
            for failure in tally.failures[told:]:
                told_one = f"lethe: {failure.place}: {failure.reason}"
                # One line each, whatever the width: lines are searched and counted.
                bar.console.print(told_one, markup=False, highlight=False, soft_wrap=True)
            told = len(tally.failures)
            doing = "measuring a sample" if tally.sampled else f"ingest into {arguments.collection}"
            count = tally.sampled or tally.read + tally.failed
            bar.update(task, description=doing, completed=tally.bytes_read, count=count)

        readings = read_documents(
            arguments.paths,
            text_field=arguments.text_field,
            id_field=arguments.id_field,
            stdin=sys.stdin.buffer,
        )
        tally = ingest(services, arguments.collection, readings, on_progress)
        bar.update(task, completed=total or tally.bytes_read)
    if tally.failed > FAILURES_TOLD:
        message(f"{tally.failed - FAILURES_TOLD} more documents could not be kept")
    result({"collection": arguments.collection, **tally.summary()})
    return 1 if tally.failed else 0
