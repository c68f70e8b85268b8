"""``lethe ingest``."""

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from app.access.trail import Found, recorded
from app.cli.console import message, printable, progress, result
from app.cli.given import data_of, fields_of, readings_of
from app.cli.people import for_people, show_ingest
from app.compose import system_of
from app.dry_run import dry_run
from app.ingesting import Elsewhere, failed_before, ingest, read_limits_of, walk_of, workers_for
from app.jobs.audits import after_erasure
from ingest.pipeline import MAX_FAILURES, Tally
from ingest.read.paths import shown
from ingest.read.sources import total_bytes
from ingest.readers import groups_in
from models.errors import ConfigurationError

if TYPE_CHECKING:
    from app.data_dir import DataDir
    from ingest.read.paths import Walk
    from retrieval.system import System


def run(arguments: argparse.Namespace) -> int:
    """The summary is one JSON line, or words and tables for people; failures also go to standard error."""
    data = data_of(arguments)
    readers = groups_in([] if arguments.readers is None else [arguments.readers])
    sync = _folders(arguments.paths) if arguments.sync else ()
    # Refused before anything is shown: a name that is no collection's may hold anything.
    data.folder(arguments.collection)
    walk = _failed(arguments, data) if arguments.retry_failed else walk_of(data.settings)
    system = system_of(data.settings, writes=not arguments.dry_run)
    doing = f"{'dry run' if arguments.dry_run else 'ingest'} into {arguments.collection}"
    reported = 0
    with progress("documents") as bar:
        total = None if "-" in arguments.paths else total_bytes(arguments.paths, walk)
        task = bar.add_task(doing, total=total, count=0)

        def on_progress(tally: Tally) -> None:
            nonlocal reported
            for failure in tally.failures[reported:]:
                line = printable(f"lethe: {failure.place}: {failure.reason}")
                # One line each, whatever the width: lines are searched and counted.
                bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
            reported = max(reported, len(tally.failures))
            count = tally.sampled or tally.read + tally.failed
            phase = "measuring a sample" if tally.sampled else doing
            bar.update(task, description=phase, completed=tally.bytes_done, count=count)

        readings = readings_of(arguments, data.settings, walk)
        if arguments.dry_run:
            tally, counted = dry_run(system, data, arguments.collection, readings, on_progress)
            found = {"dry_run": True, **tally.summary(), **counted.summary()}
        else:
            with (
                _elsewhere(arguments, system, data, readers, walk) as there,
                _noted(arguments, data) as erasing,
            ):
                workers = 1 if there else workers_for(data.settings, total)
                tally = ingest(
                    system, data, arguments.collection, readings, on_progress, sync, workers, there, readers
                )
                erasing.counts["documents"] = tally.erased
            if tally.erased:
                after_erasure(data, arguments.collection)
            found = dict(tally.summary())
        bar.update(task, completed=total or tally.bytes_read)
    if tally.failed > MAX_FAILURES:
        message(f"{tally.failed - MAX_FAILURES} more documents could not be kept")
    if tally.taken:
        message(
            f"{tally.taken} documents replaced others with the same ids from other files. Where ids are not "
            "unique across files, name another field with --id-field, or use one collection per file"
        )
    if tally.unsure:
        message(
            f"{tally.unsure} documents were not seen and not erased: their files could not be read completely"
        )
    if for_people(arguments):
        show_ingest({"collection": arguments.collection, **found})
    else:
        result({"collection": arguments.collection, **found})
    return 1 if tally.failed else 0


def _noted(arguments: argparse.Namespace, data: "DataDir") -> AbstractContextManager[Found]:
    """The entry in the trail of a run that may erase."""
    if not arguments.sync:
        return nullcontext(Found())
    return recorded(data, "lethe ingest --sync", "erase", arguments.collection)


@contextmanager
def _elsewhere(
    arguments: argparse.Namespace, system: "System", data: "DataDir", readers: frozenset[str], walk: "Walk"
) -> Iterator[Elsewhere | None]:
    """The Ray cluster of the settings, if they name one."""
    chosen = data.settings.ingest
    if chosen.ray is None:
        yield None
        return
    from app.on_ray import OnRay, refuse_standard_input
    from ingest.on_ray.connection import LOCAL, connected

    refuse_standard_input(arguments.paths)
    workers = workers_for(data.settings, None) if chosen.ray == LOCAL else chosen.workers
    # Ray prints what it wants an operator to know, and standard output is for the summary.
    with (
        Path(os.devnull).open("w") as nowhere,
        redirect_stdout(nowhere),
        connected(chosen.ray, workers) as cluster,
    ):
        fields = fields_of(arguments)
        limits = read_limits_of(data.settings)
        yield OnRay(cluster, data, arguments.paths, fields, limits, system.own_entities, readers, walk)


def _failed(arguments: argparse.Namespace, data: "DataDir") -> "Walk":
    if arguments.sync or "-" in arguments.paths:
        raise ConfigurationError(
            "--retry-failed reads single files again: name files or folders, and leave out --sync and "
            "standard input."
        )
    return failed_before(data, arguments.collection, arguments.paths)


def _folders(paths: Sequence[str]) -> Sequence[str]:
    others = [path for path in paths if not Path(path).is_dir()]
    if others:
        raise ConfigurationError(
            f"--sync works on whole folders, and {shown(others[0])} is not one. Name folders, or leave out "
            "--sync and remove documents with lethe erase."
        )
    return paths
