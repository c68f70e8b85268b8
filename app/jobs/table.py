"""The table of jobs: what the server was given to do, and how far it is.

It holds counts, places in uploads and samples of what a dry run would write, never a word of a text, an id of
a document or the name of a file.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from app.access.database import connected, readable
from models.errors import LetheError

Kind = Literal["ingest", "resanitize", "audit"]
KINDS: tuple[Kind, ...] = get_args(Kind)
State = Literal["waiting", "running", "done", "failed", "cancelled"]
STATES: tuple[State, ...] = get_args(State)
MOST_ATTEMPTS = 3
"""How often a job is begun: one that ends its process each time is not begun for ever.

The first time it shares a process with others; after that it has one for itself, so that it ends no other's.
"""
MOST_AT_ONCE = 8
"""Jobs of as many keys that a process does side by side."""
MOST_KEPT = 10_000
"""Jobs after which one that is over is forgotten."""
MOST_SHOWN = 200
"""Jobs of one listing, the newest first."""

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS jobs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        job_id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        collection TEXT NOT NULL,
        dry_run INTEGER NOT NULL,
        key_id TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        cancelling INTEGER NOT NULL DEFAULT 0,
        created TEXT NOT NULL,
        started TEXT,
        ended TEXT,
        progress TEXT NOT NULL DEFAULT '{}',
        summary TEXT,
        error TEXT
    ) STRICT
"""
_COLUMNS = (
    "job_id, kind, collection, dry_run, key_id, state, created, started, ended, progress, summary, error"
)
_IN_LANE = """
    kind IN (SELECT value FROM json_each(:kinds))
    AND coalesce((attempts > (state = 'running')) = :again, TRUE) AND coalesce(job_id = :only, TRUE)
"""
_TURNS = """
    WITH turns AS (
        SELECT key_id, kind = 'audit' AS audits, max(started) AS served, max(state = 'running') AS busy,
        sum(state = 'running') AS running FROM jobs GROUP BY 1, 2
    )
"""
"""Of each key, audits apart: when a job of it was begun last, and whether one runs."""
_NEXT = f"""
    {_TURNS} SELECT job_id FROM jobs JOIN turns ON jobs.key_id = turns.key_id AND audits = (kind = 'audit')
    WHERE state = 'waiting' AND NOT busy AND {_IN_LANE} AND (
        audits OR dry_run OR collection NOT IN (
            SELECT collection FROM jobs WHERE state = 'running' AND kind != 'audit' AND NOT dry_run
        )
    ) ORDER BY served, number
"""
_AHEAD = f"""
    {_TURNS}, places AS (
        SELECT job_id, audits, served, number, busy + row_number() OVER (
            PARTITION BY jobs.key_id, audits ORDER BY number
        ) AS place FROM jobs JOIN turns ON jobs.key_id = turns.key_id AND audits = (kind = 'audit')
        WHERE state = 'waiting'
    ) SELECT job_id, row_number() OVER (PARTITION BY audits ORDER BY place, served, number) - 1
    + (SELECT sum(running) FROM turns WHERE turns.audits = places.audits) FROM places
"""


@dataclass(frozen=True, slots=True)
class Lane:
    """Which jobs a process does: those of some kinds, of which ``at_once`` may run side by side.

    ``again`` are those whose process ended before they were done, None for all; ``only`` is one of them. The
    process stays for ``stays`` seconds after the last, since the next need not wait for its models then.
    """

    kinds: Sequence[Kind] = KINDS
    again: bool | None = None
    only: str | None = None
    at_once: int = 1
    stays: float = 0.0

    def asked(self) -> Mapping[str, object]:
        """The values of ``_IN_LANE``."""
        return {"kinds": json.dumps(self.kinds), "again": self.again, "only": self.only}


EVERY = Lane()
"""All jobs."""


class UnknownJob(LetheError):
    """There is no such job, or the caller may not see it."""

    def __init__(self) -> None:
        super().__init__("There is no such job; GET /v1/jobs lists those that the key may see.")


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is now. Times are ISO 8601 in UTC; ``progress`` counts bytes and documents.

    ``key_id`` is that of the key that ordered it, "" where the server asked for none. ``summary`` is that of
    a finished run, ``error`` why it failed. While it waits, ``ahead`` counts the jobs that run and those
    whose turn comes first.
    """

    job_id: str
    kind: Kind
    collection: str
    dry_run: bool
    key_id: str
    state: State
    created: str
    started: str | None = None
    ended: str | None = None
    progress: Mapping[str, int] = field(default_factory=dict)
    summary: Mapping[str, Any] | None = field(default=None, repr=False)
    error: str | None = None
    ahead: int | None = None

    @property
    def over(self) -> bool:
        """Whether nothing will change any more."""
        return self.state in ("done", "failed", "cancelled")


class Jobs:
    """The jobs of a data folder. Each call opens the file anew: safe between threads and processes."""

    def __init__(self, folder: Path) -> None:
        """Raises LetheError if the file cannot be opened."""
        self._folder = folder
        connected(folder, _SCHEMA).close()

    def create(self, job_id: str, kind: Kind, collection: str, *, key_id: str, dry_run: bool) -> Job:
        """A new waiting job, ordered by a key or, "", by everybody."""
        row = (job_id, kind, collection, dry_run, key_id, "waiting", _now())
        with self._open() as connection:
            connection.execute(
                "INSERT INTO jobs (job_id, kind, collection, dry_run, key_id, state, created) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            connection.execute(
                "DELETE FROM jobs WHERE state IN ('done', 'failed', 'cancelled') AND number <= "
                "(SELECT max(number) FROM jobs) - ?",
                (MOST_KEPT,),
            )
        return self.get(job_id)

    def get(self, job_id: str) -> Job:
        """A job by id; raises UnknownJob."""
        found = self._select("WHERE job_id = ?", (job_id,))
        if not found:
            raise UnknownJob
        return found[0]

    def newest(self) -> list[Job]:
        """The last ``MOST_SHOWN`` jobs, the newest first."""
        return self._select(f"ORDER BY number DESC LIMIT {MOST_SHOWN}")

    def unfinished(self) -> list[Job]:
        """Those that wait or run, the oldest first."""
        return self._select("WHERE state IN ('waiting', 'running') ORDER BY number")

    def audits(self, collection: str) -> list[Job]:
        """The audits of a collection that are not over, the oldest first."""
        return [each for each in self.unfinished() if each.kind == "audit" and each.collection == collection]

    def end_audits(self, collection: str) -> bool:
        """Cancel the audits of a collection, since documents are erased; whether all of them are over.

        They hold what is erased: originals that were sent, and texts in memory.
        """
        return all([self.cancel(each.job_id, _ERASED).over for each in self.audits(collection)])

    def waits(self, lane: Lane = EVERY) -> bool:
        """Whether a job of a lane waits."""
        return bool(self._ids("state = 'waiting'", lane))

    def next(self, lane: Lane = EVERY) -> list[str]:
        """The waiting jobs of a lane that may begin, in the order of their turns."""
        with self._open() as connection:
            return [job_id for (job_id,) in connection.execute(_NEXT, lane.asked())]

    def take(self, lane: Lane = EVERY) -> Job | None:
        """The waiting job of a lane whose turn it is, which is running from now on; None if there is none.

        Keys take turns: the one for which a job was begun the longest ago comes first, with its oldest job.
        No key has two at once, and no two jobs write to a collection. One that was begun ``MOST_ATTEMPTS``
        times is given up instead.
        """
        with self._open() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'failed', ended = ?, error = ? "
                "WHERE state = 'waiting' AND attempts >= ?",
                (_now(), _GIVEN_UP, MOST_ATTEMPTS),
            )
            row = connection.execute(
                "UPDATE jobs SET state = 'running', started = coalesce(started, :now), "
                f"attempts = attempts + 1 WHERE job_id = ({_NEXT} LIMIT 1) RETURNING {_COLUMNS}",
                {"now": _now(), **lane.asked()},
            ).fetchone()
        return None if row is None else _job(row)

    def report(self, job_id: str, progress: Mapping[str, int]) -> bool:
        """Note how far a job is; whether its end was asked for."""
        with self._open() as connection:
            query = "UPDATE jobs SET progress = ? WHERE job_id = ? RETURNING cancelling"
            row = connection.execute(query, (json.dumps(progress), job_id)).fetchone()
        return row is not None and bool(row[0])

    def finish(self, job_id: str, summary: Mapping[str, Any]) -> None:
        """Note the end of a job."""
        self._update(
            job_id,
            "state = 'done', error = NULL, ended = ?, summary = ?",
            _now(),
            json.dumps(summary, ensure_ascii=False),
        )

    def fail(self, job_id: str, error: str) -> None:
        """Note why a job failed."""
        self._update(job_id, "state = 'failed', ended = ?, error = ?", _now(), error)

    def cancel(self, job_id: str, why: str | None = None) -> Job:
        """Ask for the end of a job; a waiting one ends at once. Raises UnknownJob.

        ``why`` is what its error says then, if whoever ordered it did not ask.
        """
        with self._open() as connection:
            connection.execute(
                "UPDATE jobs SET error = ?, cancelling = state = 'running', "
                "ended = CASE state WHEN 'waiting' THEN ? END, "
                "state = CASE state WHEN 'waiting' THEN 'cancelled' ELSE state END "
                "WHERE job_id = ? AND state IN ('waiting', 'running')",
                (why, _now(), job_id),
            )
        return self.get(job_id)

    def cancelling(self, lane: Lane = EVERY) -> list[str]:
        """The running jobs of a lane whose end was asked for."""
        return self._ids("state = 'running' AND cancelling", lane)

    def end(self, job_id: str) -> None:
        """Note that a job has ended because that was asked for."""
        self._update(job_id, "state = 'cancelled', ended = ?", _now())

    def hand_back(self, lane: Lane = EVERY, *, blame: bool) -> None:
        """Let jobs of a lane wait again whose process is gone; those whose end was asked for are over.

        With ``blame`` the attempt counts: the process ended while nobody had asked it to.
        """
        with self._open() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'cancelled', ended = :now "
                f"WHERE state = 'running' AND cancelling AND {_IN_LANE}",
                {"now": _now(), **lane.asked()},
            )
            connection.execute(
                "UPDATE jobs SET state = 'waiting', attempts = attempts - :forgiven "
                f"WHERE state = 'running' AND {_IN_LANE}",
                {"forgiven": not blame, **lane.asked()},
            )

    def is_over(self, job_id: str) -> bool:
        """Whether there is such a job, and nothing will change of it any more."""
        return any(each.over for each in self._select("WHERE job_id = ?", (job_id,)))

    def counts(self) -> dict[str, int]:
        """The number of jobs in each state."""
        with self._open() as connection:
            found = dict(connection.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
        return {state: found.get(state, 0) for state in STATES}

    def _select(self, which: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Job]:
        with self._open() as connection:
            found = [_job(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM jobs {which}", values)]
            some_wait = any(each.state == "waiting" for each in found)
            ahead = dict(connection.execute(_AHEAD).fetchall()) if some_wait else {}
        return [replace(each, ahead=ahead.get(each.job_id)) for each in found]

    def _ids(self, which: str, lane: Lane) -> list[str]:
        with self._open() as connection:
            query = f"SELECT job_id FROM jobs WHERE {which} AND {_IN_LANE}"
            return [job_id for (job_id,) in connection.execute(query, lane.asked())]

    def _update(self, job_id: str, what: str, *values: object) -> None:
        with self._open() as connection:
            connection.execute(f"UPDATE jobs SET {what} WHERE job_id = ?", (*values, job_id))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = connected(self._folder)
        try:
            with readable():
                yield connection
        finally:
            connection.close()


_GIVEN_UP = (
    f"Its process ended {MOST_ATTEMPTS} times before it was done, perhaps for want of memory. Send fewer "
    "documents at once, or give the server more memory."
)


_ERASED = "Documents of the collection were to be erased. Begin the audit again."


def job_row(job: Job) -> Mapping[str, object]:
    """A job as JSON."""
    summary = None if job.summary is None else dict(job.summary)
    found = summary.pop("failures", []) if summary else []
    row = {name: getattr(job, name) for name in ("job_id", "kind", "collection", "dry_run", "state", "ahead")}
    times = {name: getattr(job, name) for name in ("created", "started", "ended")}
    return {
        **row,
        **times,
        "progress": dict(job.progress),
        "failures": found,
        "summary": summary,
        "error": job.error,
    }


def _job(row: Sequence[Any]) -> Job:
    job = Job(*row)
    return replace(
        job,
        dry_run=bool(job.dry_run),
        progress=json.loads(row[9]),
        summary=None if row[10] is None else json.loads(row[10]),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
