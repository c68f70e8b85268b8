"""What the process does that works on jobs: several side by side, until none waits."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from app.access.keys import Keys
from app.access.vault import originals
from app.data_dir import DataDir
from app.jobs.rights import missing_scope
from app.jobs.table import EVERY, Job, Jobs, Lane
from app.jobs.uploads import Order, Uploads
from app.machine import begin_apart
from app.rows import error_text, for_clients
from app.settings.load import Settings
from app.settings.places import places_of
from models.errors import LetheError
from retrieval.errors import CollectionBusy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eval.studies.audit.report import AuditReport
    from ingest.pipeline import Tally
    from ingest.read.reading import Reading
    from retrieval.system import System

PAUSE = 0.25
"""Seconds between two notes of how far a job is, or two looks at a collection that is not free."""
LOOKS = 0.1
"""Seconds between two looks for a job that may begin."""
WAITS = 600.0
"""Seconds for which a job waits for others that write to its collection."""


class Cancelled(BaseException):
    """Ends a job where it reports how far it is. No part takes it for a document that cannot be sanitized."""


def work(settings: Settings, lane: Lane = EVERY) -> None:
    """Do every job of a lane that waits, and those that come soon after."""
    # Were the server killed, another would start a process of its own for the same job.
    begin_apart()
    try:
        _work(settings, lane)
    except Exception as error:
        # A traceback could quote a document.
        raise SystemExit(f"lethe: the process of jobs ended ({type(error).__name__})") from None


def _work(settings: Settings, lane: Lane = EVERY) -> None:
    data = DataDir(settings)
    desk = _Desk(settings, Jobs(settings.data_dir), Uploads(settings.data_dir, data.key))
    threads: list[Thread] = []
    until = time.monotonic()
    while not desk.broken:
        threads = [each for each in threads if each.is_alive()]
        job = desk.jobs.take(lane) if len(threads) < lane.at_once else None
        if job is not None:
            # Ended with the process, which waits for none of them.
            threads.append(Thread(target=desk.do, args=(job,), daemon=True))
            threads[-1].start()
        elif threads:
            threads[0].join(LOOKS)
        elif not desk.jobs.waits(lane):
            if time.monotonic() >= until:
                return
            time.sleep(LOOKS)
            continue
        else:
            # Another process does what it waits for.
            time.sleep(LOOKS)
        until = time.monotonic() + lane.stays
    raise desk.broken[0]


@dataclass(frozen=True, slots=True)
class _Desk:
    """What the jobs of a process share. ``broken`` has why no more can be done."""

    settings: Settings
    jobs: Jobs
    uploads: Uploads
    models: "_Models" = field(default_factory=lambda: _Models())
    pool: Lock = field(default_factory=Lock)
    """Held by the one job that has worker processes; the others work in their threads."""
    broken: list[Exception] = field(default_factory=list)

    def do(self, job: Job) -> None:
        """Do a job, and note how it ended."""
        try:
            summary, error = self._outcome(job)
            if error is None:
                self.jobs.finish(job.job_id, summary)
            else:
                self.jobs.fail(job.job_id, error)
        except Cancelled:
            self.jobs.end(job.job_id)
        except Exception as error:
            self.broken.append(error)
            return
        # Not before the end is written: a job that waits again needs what was sent.
        self.uploads.forget(job.job_id)

    def _outcome(self, job: Job) -> tuple[dict[str, Any], str | None]:
        try:
            summary = self._once_free(job)
            for row in summary.get("failures", ()):
                row["reason"] = for_clients(row["reason"])
            return summary, None
        except LetheError as error:
            return {}, error_text(error, places_of(self.settings))
        except Exception as error:
            # Its message may quote a document.
            return {}, f"Internal error {type(error).__name__}. What was stored before is whole."

    def _once_free(self, job: Job) -> dict[str, Any]:
        """What it returns, tried again while another writes to the collection: an erasure ends soon."""
        until = time.monotonic() + WAITS
        while True:
            try:
                return _done(job, self)
            except CollectionBusy:
                if time.monotonic() > until:
                    raise
                if job.job_id in self.jobs.cancelling():
                    raise Cancelled from None
                time.sleep(PAUSE)

    def report(self, job: Job, progress: Mapping[str, int]) -> None:
        """Note how far a job is; raises Cancelled if its end was asked for."""
        if self.jobs.report(job.job_id, progress):
            raise Cancelled


class _Models:
    """The models of a process, loaded once for all its threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._system: System | None = None

    def system(self, settings: Settings, key: bytes) -> "System":
        """The system of settings that differ from those of other calls in the policy alone.

        Lists in files count as they are now. Models use one thread each: jobs side by side fill the cores.
        """
        from app.compose import encoder_of, like, system_of
        from app.policies import own_entities_of

        with self._lock:
            made = self._system
            if made is None or made.own_entities != own_entities_of(settings.policy).digest(key):
                encoder = made.encoder if made else encoder_of(settings, threads=1)
                made = system_of(settings, encoder=encoder, key=key)
            self._system = made = like(made, settings, key)
            return made


def _done(job: Job, desk: _Desk) -> dict[str, Any]:
    from app.dry_run import dry_run
    from app.ingesting import ingest, workers_for

    settings, uploads = desk.settings, desk.uploads
    order, total = uploads.order(job.job_id), uploads.bytes_of(job.job_id)
    _check_allowed(job, order, settings)
    if job.kind == "audit":
        return _audited(job, order, desk)
    chosen = DataDir(settings).settings_for(job.collection, order.policy)
    # A dry run makes no key for digests either.
    data = DataDir(chosen, writes=not job.dry_run)
    on_progress = _reporter(job, desk, total)
    system = desk.models.system(chosen, data.key)
    with ExitStack() as stack:
        readings = _readings(job, order, data, uploads, stack)
        if job.dry_run:
            tally, counted = dry_run(system, data, job.collection, readings, on_progress)
            return {**tally.summary(), **counted.summary()}
        workers = workers_for(chosen, total)
        if workers > 1 and desk.pool.acquire(blocking=False):
            stack.callback(desk.pool.release)
        else:
            workers = 1
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


def _audited(job: Job, order: Order, desk: _Desk) -> dict[str, Any]:
    """Audit a collection; the report lies in the folder of the job from then on."""
    from app.auditing import audit_of
    from app.jobs.audits import kept_report, report_folder_of
    from eval.corpora.corpus import read_corpus
    from eval.experiment import SYSTEMS
    from eval.rows import FILE as ROWS
    from eval.rows import AnotherRun
    from eval.studies.audit.options import Options

    def on_progress(phase: str, done: int, total: int | None) -> None:
        if phase == SYSTEMS and total:
            desk.report(job, {"systems_done": done, "systems": total})

    settings, uploads = desk.settings, desk.uploads
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


def _reporter(job: Job, desk: _Desk, total: int) -> "Callable[[Tally], None]":
    noted = 0.0

    def note(tally: "Tally") -> None:
        nonlocal noted
        if tally.begun and time.monotonic() - noted < PAUSE:
            return
        noted = time.monotonic()
        desk.report(
            job,
            {
                "bytes_read": tally.bytes_read,
                "bytes_done": tally.bytes_done,
                "bytes_total": total,
                "documents_read": tally.read,
                "documents_kept": tally.kept,
                "documents_failed": tally.failed,
                "sampled": tally.sampled,
            },
        )

    return note
