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

_LOOKS = 0.25
"""Seconds between two looks at a process that works."""
_TRIED_AGAIN = 10.0
"""Seconds after which jobs are tried again that could not be begun."""
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
        self.jobs.hand_back()
        for job_id in {*self._uploads.job_ids()} - {each.job_id for each in self.jobs.unfinished()}:
            self._uploads.forget(job_id)
        self._awake.set()
        self._thread.start()

    def submit(
        self,
        kind: Kind,
        collection: str,
        order: Order,
        files: Sequence[Upload] = (),
        *,
        dry_run: bool = False,
    ) -> Job:
        """A new job; raises LetheError if what was sent cannot be kept."""
        job_id = secrets.token_hex(8)
        # Before the job is there to be taken.
        self._uploads.keep(job_id, order, files)
        job = self.jobs.create(job_id, kind, collection, dry_run=dry_run)
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
        try:
            while process.is_alive():
                process.join(_LOOKS)
                if self._ending.is_set() or self.jobs.cancelling():
                    break
        finally:
            _end(process)
        for job in self.jobs.hand_back():
            self._uploads.forget(job.job_id)
        if process.exitcode:
            # One that cannot even begin is not tried again at once.
            self._ending.wait(_LOOKS)


def _end(process: BaseProcess) -> None:
    """End a process that may have ended by itself."""
    process.terminate()
    process.join(_ENDING)
    if process.is_alive():
        process.kill()
        process.join()
