"""The threads of the server that have processes work on jobs, and end them when asked to."""

import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from threading import Event, Lock, Thread

from app.jobs.audits import forget_leftovers
from app.jobs.table import MOST_AT_ONCE, Job, Jobs, Kind, Lane
from app.jobs.uploads import Order, Upload, Uploads
from app.jobs.work import work
from app.settings.load import Settings
from models.errors import LetheError
from retrieval.errors import CollectionError

LANES = (
    Lane(("ingest", "resanitize"), again=False, at_once=MOST_AT_ONCE, stays=600.0),
    *[Lane(("ingest", "resanitize"), again=True)] * 2,
    Lane(("audit",)),
)
"""A process each: one for what writes to collections, and one for each job that has to be alone.

That is an audit, and what ran in a process that has died: it may be what ended it.
"""
_LOOKS = 0.25
"""Seconds between two looks at a process that works."""
_TRIED_AGAIN = 10.0
"""Seconds after which jobs are tried again that could not be begun, or had to wait for another lane's."""
_PAUSE = 2.0
"""Seconds after which a process is started anew that ended by itself."""
_ENDING = 5.0
"""Seconds that a process may take to end before it is killed."""
_CANCELS_WITHIN = 5.0
"""Seconds in which a job that is cancelled ends by itself; then its process is ended, with all its jobs."""
_ENDS_WITHIN = 30.0
"""Seconds in which an audit ends that was cancelled."""


class Runner:
    """Has processes work on the jobs of a data folder, one for each of the ``LANES``.

    A process holds models of its own: a job slows no search by more than its share of the cores, and
    its end costs no memory. A job whose process dies is begun again, away from the others, and one that was
    running when the server was killed goes on where it was, since what is stored already is recognized.
    """

    def __init__(self, settings: Settings, jobs: Jobs, uploads: Uploads) -> None:
        self.jobs = jobs
        self._settings, self._uploads = settings, uploads
        self._lock, self._erasing = Lock(), Counter[str]()
        self._lanes = [_Watcher(self, settings, lane) for lane in LANES]
        self._alone = set[str]()

    def start(self) -> None:
        """Take up what was left, then what comes."""
        self.jobs.hand_back(blame=False)
        for job_id in {*self._uploads.job_ids()} - {each.job_id for each in self.jobs.unfinished()}:
            self._uploads.forget(job_id)
        self.tidy()
        for lane in self._lanes:
            lane.start()

    def busy_with(self, collection: str) -> bool:
        """Whether a job that is not over will write to a collection."""
        return any(
            each.collection == collection and each.kind != "audit" and not each.dry_run
            for each in self.jobs.unfinished()
        )

    def submit(
        self,
        kind: Kind,
        collection: str,
        order: Order,
        files: Sequence[Upload] = (),
        *,
        key_id: str,
        dry_run: bool = False,
    ) -> Job:
        """A new job, ordered by a key or, "", by everybody.

        Raises:
            CollectionError: Documents of the collection to audit are being erased, or it is audited already.
            LetheError: The job cannot be kept.
        """
        job_id = secrets.token_hex(8)
        # Before the job is there to be taken.
        self._uploads.keep(job_id, order, files)
        try:
            with self._lock:
                if kind == "audit":
                    self._check_audit(collection)
                job = self.jobs.create(job_id, kind, collection, key_id=key_id, dry_run=dry_run)
        except LetheError:
            self._uploads.forget(job_id)
            raise
        self.wake()
        return job

    def cancel(self, job_id: str) -> Job:
        """Ask for the end of a job. What is stored by then stays. Raises UnknownJob."""
        job = self.jobs.cancel(job_id)
        if job.over:
            self._uploads.forget(job_id)
        return job

    @contextmanager
    def erasing(self, collection: str) -> Iterator[None]:
        """While documents of a collection are erased: its audits are over, and no other is accepted.

        Raises:
            CollectionError: An audit does not end.
        """
        with self._lock:
            self._erasing[collection] += 1
        try:
            until = time.monotonic() + _ENDS_WITHIN
            while not self.jobs.end_audits(collection):
                if time.monotonic() > until:
                    raise CollectionError("An audit of this collection does not end. Send this again later.")
                time.sleep(_LOOKS)
            self.tidy()
            yield
        finally:
            with self._lock:
                self._erasing[collection] -= 1

    def _check_audit(self, collection: str) -> None:
        if self._erasing[collection]:
            raise CollectionError("Documents of this collection are being erased. Send this again later.")
        if self.jobs.audits(collection):
            raise CollectionError("An audit of this collection is not over: wait for it, or cancel it.")

    def stop(self) -> None:
        """End the processes; their jobs wait for the next start."""
        for lane in self._lanes:
            lane.ending.set()
        self.wake()
        for lane in self._lanes:
            lane.join()

    def wake(self) -> None:
        """Let all lanes look for jobs."""
        for lane in self._lanes:
            lane.awake.set()

    @contextmanager
    def work_of(self, lane: Lane) -> Iterator[Lane | None]:
        """What a new process of a lane is to do, which is one job where it does them one by one; or None."""
        with self._lock:
            job_id = next((each for each in self.jobs.next(lane) if each not in self._alone), None)
            if alone := lane.at_once == 1 and job_id is not None:
                self._alone.add(job_id)
        try:
            yield None if job_id is None else replace(lane, only=job_id) if alone else lane
        finally:
            if alone:
                with self._lock:
                    self._alone.discard(job_id)

    def tidy(self) -> None:
        """Delete what was sent for jobs that are over, and what audits left that are not done."""
        for job_id in self._uploads.job_ids():
            if self.jobs.is_over(job_id):
                self._uploads.forget(job_id)
        forget_leftovers(self._settings, self.jobs)


class _Watcher:
    """A thread that has one process at a time work on the jobs of a lane."""

    def __init__(self, runner: Runner, settings: Settings, lane: Lane) -> None:
        self.awake, self.ending = Event(), Event()
        self._runner, self._settings, self._lane = runner, settings, lane
        self._jobs = runner.jobs
        self._left: tuple[Lane, bool] | None = None
        self._thread = Thread(target=self._run, name=f"{lane.kinds[0]} jobs", daemon=True)

    def start(self) -> None:
        """Take up what waits, then what comes."""
        self.awake.set()
        self._thread.start()

    def join(self) -> None:
        """Wait for the end that was asked for."""
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self.ending.is_set():
            self.awake.wait(_TRIED_AGAIN)
            self.awake.clear()
            try:
                while not self.ending.is_set() and self._works():
                    pass
            except Exception as error:
                # A full disk, or no process to be had: that passes, and the jobs wait for it.
                sys.stderr.write(f"lethe: jobs wait ({type(error).__name__}), and are tried again\n")
                self.ending.wait(_TRIED_AGAIN)
                self.awake.set()

    def _works(self) -> bool:
        """Have a process do what waits; False if nothing does."""
        if self._left is not None:
            self._settle(*self._left)
        with self._runner.work_of(self._lane) as lane:
            if lane is not None:
                self._watch(lane)
            return lane is not None

    def _watch(self, lane: Lane) -> None:
        """One process, from its start to its end."""
        # Not forked: the server's threads may hold locks.
        process = get_context("spawn").Process(target=work, args=(self._settings, lane), name="lethe jobs")
        process.start()
        asked = False
        patience: dict[str, float] = {}
        try:
            while process.is_alive() and not asked:
                process.join(_LOOKS)
                now = time.monotonic()
                patience = {job_id: patience.get(job_id, now) for job_id in self._jobs.cancelling(lane)}
                late = any(now - since > _CANCELS_WITHIN for since in patience.values())
                asked = late or self.ending.is_set()
        finally:
            _end(process)
        self._settle(lane, not asked)
        # What ran in it may be for another lane now, or what waited for it may begin.
        self._runner.wake()
        if process.exitcode and not asked:
            sys.stderr.write(f"lethe: the process of jobs ended with code {process.exitcode}\n")
            # One that cannot even begin is not tried again at once.
            self.ending.wait(_PAUSE)

    def _settle(self, lane: Lane, blame: bool) -> None:
        """Let jobs wait again whose process is gone, and delete what is not needed any more.

        ``blame`` is whether that was the job's doing. If it cannot be noted, that is made up for later.
        """
        self._left = lane, blame
        self._jobs.hand_back(lane, blame=blame)
        self._left = None
        self._runner.tidy()


def _end(process: BaseProcess) -> None:
    """End a process that may have ended by itself."""
    process.terminate()
    process.join(_ENDING)
    if process.is_alive():
        process.kill()
        process.join()
