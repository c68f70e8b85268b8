"""What the process does that works on jobs: one after the other, until none waits."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from app.access.keys import Keys
from app.access.vault import originals
from app.data_dir import DataDir
from app.jobs.rights import missing_scope
from app.jobs.table import KINDS, Job, Jobs, Kind
from app.jobs.uploads import Order, Uploads
from app.machine import begin_apart
from app.rows import error_text
from app.settings.load import Settings
from app.settings.places import places_of
from models.errors import LetheError
from retrieval.errors import CollectionBusy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eval.studies.audit.report import AuditReport
    from ingest.pipeline import Tally
    from ingest.read.reading import Reading

PAUSE = 0.25
"""Seconds between two notes of how far a job is, or two looks at a collection that is not free."""
WAITS = 600.0
"""Seconds for which a job waits for others that write to its collection."""


def work(settings: Settings, kinds: Sequence[Kind] = KINDS) -> None:
    """Do every job of some kinds that waits."""
    # Were the server killed, another would start a process of its own for the same job.
    begin_apart()
    try:
        _work(settings, kinds)
    except Exception as error:
        # A traceback could quote a document.
        raise SystemExit(f"lethe: the process of jobs ended ({type(error).__name__})") from None


def _work(settings: Settings, kinds: Sequence[Kind] = KINDS) -> None:
    data = DataDir(settings)
    jobs, uploads = Jobs(settings.data_dir), Uploads(settings.data_dir, data.key)
    while job := jobs.take(kinds):
        summary, error = _outcome(job, settings, uploads, jobs)
        if error is None:
            jobs.finish(job.job_id, summary)
        else:
            jobs.fail(job.job_id, error)
        # Not before the end is written: a job that waits again needs what was sent.
        uploads.forget(job.job_id)


def _outcome(job: Job, settings: Settings, uploads: Uploads, jobs: Jobs) -> tuple[dict[str, Any], str | None]:
    try:
        return _once_free(partial(_done, job, settings, uploads, jobs)), None
    except LetheError as error:
        return {}, error_text(error, places_of(settings))
    except Exception as error:
        # Its message may quote a document.
        return {}, f"Internal error {type(error).__name__}. What was stored before is whole."


def _once_free(do: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What it returns, tried again while another writes to the collection: an erasure ends soon."""
    until = time.monotonic() + WAITS
    while True:
        try:
            return do()
        except CollectionBusy:
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE)


def _done(job: Job, settings: Settings, uploads: Uploads, jobs: Jobs) -> dict[str, Any]:
    from app.compose import system_of
    from app.dry_run import dry_run
    from app.ingesting import ingest, workers_for

    order, total = uploads.order(job.job_id), uploads.bytes_of(job.job_id)
    _check_allowed(job, order, settings)
    if job.kind == "audit":
        return _audited(job, order, settings, uploads, jobs)
    chosen = DataDir(settings).settings_for(job.collection, order.policy)
    # A dry run makes no key for digests either.
    data = DataDir(chosen, writes=not job.dry_run)
    on_progress = _reporter(jobs, job.job_id, total)
    system = system_of(chosen, writes=not job.dry_run)
    with ExitStack() as stack:
        readings = _readings(job, order, data, uploads, stack)
        if job.dry_run:
            tally, counted = dry_run(system, data, job.collection, readings, on_progress)
            return {**tally.summary(), **counted.summary()}
        workers = workers_for(chosen, total)
        readers = frozenset(order.readers)
        tally = ingest(system, data, job.collection, readings, on_progress, workers=workers, readers=readers)
        return dict(tally.summary())


def _readings(
    job: Job, order: Order, data: DataDir, uploads: Uploads, stack: ExitStack
) -> "Iterator[Reading]":
    """What was sent, or the originals of the vault."""
    from app.ingesting import read_limits_of
    from ingest.read.reading import Reading

    if order.source is None:
        return stack.enter_context(uploads.readings(job.job_id, read_limits_of(data.settings)))
    if order.source not in data.collections():
        raise LetheError("The collection whose originals were to be read is gone.")
    # Who ordered it may not read them all: a failure names the id alone.
    return (Reading(replace(each, metadata={}), 0) for _, each in originals(data, order.source))


def _audited(job: Job, order: Order, settings: Settings, uploads: Uploads, jobs: Jobs) -> dict[str, Any]:
    """Audit a collection; the report lies in the folder of the job from then on."""
    from app.auditing import audit_of
    from app.jobs.audits import kept_report, report_folder_of
    from eval.corpora.given import read_corpus
    from eval.experiment import SYSTEMS
    from eval.rows import FILE as ROWS
    from eval.rows import AnotherRun
    from eval.studies.audit.options import Options

    def on_progress(phase: str, done: int, total: int | None) -> None:
        if phase == SYSTEMS and total:
            jobs.report(job.job_id, {"systems_done": done, "systems": total})

    data, options, folder = DataDir(settings), Options(**order.audit), report_folder_of(settings, job.job_id)

    def audited() -> "AuditReport":
        with ExitStack() as stack:
            originals = partial(read_corpus, _readings(job, order, data, uploads, stack))
            return audit_of(data, job.collection, originals, options, on_progress, folder)

    try:
        report = audited()
    except AnotherRun:
        # The collection was written to while the audit waited for its process to be started again.
        (folder / ROWS).unlink()
        report = audited()
    return kept_report(report, folder)


def _check_allowed(job: Job, order: Order, settings: Settings) -> None:
    """Whether who ordered a job may still do so now that it begins, or goes on after a stop of the server.

    An order without a key is done as long as there is no key, and later too where nobody but this machine can
    reach the server.

    Raises:
        LetheError: The key was revoked, or may not do it any more.
    """
    with closing(Keys(settings.data_dir)) as keys:
        key = keys.get(job.key_id) if job.key_id else None
        if not job.key_id and (settings.server.alone or not keys.any()):
            return
    if not job.key_id:
        raise LetheError(
            "This was ordered without a key, and the server asks for one now. Send it again with a key."
        )
    if key is None or key.revoked:
        raise LetheError("The key that ordered this was revoked. Send it again with another key.")
    if missing_scope(key, job.kind, job.collection, order.source):
        raise LetheError("The key that ordered this may not do so any more. Send it again with another key.")


def _reporter(jobs: Jobs, job_id: str, total: int) -> "Callable[[Tally], None]":
    noted = 0.0

    def note(tally: "Tally") -> None:
        nonlocal noted
        if time.monotonic() - noted < PAUSE:
            return
        noted = time.monotonic()
        jobs.report(
            job_id,
            {
                "bytes_read": tally.bytes_read,
                "bytes_total": total,
                "documents_read": tally.read,
                "documents_kept": tally.kept,
                "documents_failed": tally.failed,
                "sampled": tally.sampled,
            },
        )

    return note
