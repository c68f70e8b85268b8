"""The thread of the server that has a process work on jobs, and ends it when asked to."""

import secrets
import sys
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from threading import Event, Thread

from app.jobs.table import Job, Jobs, Kind
from app.jobs.uploads import Order, Upload, Uploads
from app.jobs.work import work
from app.settings.load import Settings
from models.errors import LetheError

_LOOKS = 0.25
"""Seconds between two looks at a process that works."""
_TRIED_AGAIN = 10.0
"""Seconds after which jobs are tried again that could not be begun."""
_PAUSE = 2.0
"""Seconds after which a process is started anew that ended by itself."""
_ENDING = 5.0
"""Seconds that a process may take to end before it is killed."""


class Runner:
    """Has one process at a time work on the jobs of a data folder.

    The process holds models of its own: a job slows no search by more than its share of the cores, and
    its end costs no memory. A job whose process dies is begun again, and one that was running when the server
    was killed goes on where it was, since what is stored already is recognized.
    """

    def __init__(self, settings: Settings, jobs: Jobs, uploads: Uploads) -> None:
        self.jobs = jobs
        self._settings, self._uploads = settings, uploads
        self._awake, self._ending = Event(), Event()
        self._thread = Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Take up what was left, then what comes."""
        self.jobs.hand_back(blame=False)
        for job_id in {*self._uploads.job_ids()} - {each.job_id for each in self.jobs.unfinished()}:
            self._uploads.forget(job_id)
        self._awake.set()
        self._thread.start()

    def busy_with(self, collection: str) -> bool:
        """Whether a job that is not over will write to a collection."""
        return any(each.collection == collection and not each.dry_run for each in self.jobs.unfinished())

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
        """A new job, ordered by a key or, "", by everybody; raises LetheError if it cannot be kept."""
        job_id = secrets.token_hex(8)
        # Before the job is there to be taken.
        self._uploads.keep(job_id, order, files)
        try:
            job = self.jobs.create(job_id, kind, collection, key_id=key_id, dry_run=dry_run)
        except LetheError:
            self._uploads.forget(job_id)
            raise
        self._awake.set()
        return job

    def cancel(self, job_id: str) -> Job:
        """Ask for the end of a job. What is stored by then stays. Raises UnknownJob."""
        job = self.jobs.cancel(job_id)
        if job.over:
            self._uploads.forget(job_id)
        return job

    def stop(self) -> None:
        """End the process; its job waits for the next start."""
        self._ending.set()
        self._awake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._ending.is_set():
            self._awake.wait()
            self._awake.clear()
            try:
                # No process works here: what runs by the table was left by one whose end could not be noted.
                self._settle(blame=False)
                while not self._ending.is_set() and self.jobs.waits():
                    self._watch()
            except Exception as error:
                # A full disk, or no process to be had: that passes, and the jobs wait for it.
                sys.stderr.write(f"lethe: jobs wait ({type(error).__name__}), and are tried again\n")
                self._ending.wait(_TRIED_AGAIN)
                self._awake.set()

    def _watch(self) -> None:
        """One process, from its start to its end."""
        # Not forked: the server's threads may hold locks.
        process = get_context("spawn").Process(target=work, args=(self._settings,), name="lethe jobs")
        process.start()
        asked = False
        try:
            while process.is_alive() and not asked:
                process.join(_LOOKS)
                asked = self._ending.is_set() or self.jobs.cancelling()
        finally:
            _end(process)
        self._settle(blame=not asked)
        if process.exitcode and not asked:
            sys.stderr.write(f"lethe: the process of jobs ended with code {process.exitcode}\n")
            # One that cannot even begin is not tried again at once.
            self._ending.wait(_PAUSE)

    def _settle(self, *, blame: bool) -> None:
        """Let jobs wait again whose process is gone, and delete what was sent for those that are over.

        ``blame`` is whether that was the job's doing.
        """
        self.jobs.hand_back(blame=blame)
        for job_id in self._uploads.job_ids():
            if self.jobs.is_over(job_id):
                self._uploads.forget(job_id)


def _end(process: BaseProcess) -> None:
    """End a process that may have ended by itself."""
    process.terminate()
    process.join(_ENDING)
    if process.is_alive():
        process.kill()
        process.join()
