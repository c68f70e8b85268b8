"""The trail: who did what with which collection, as a chain that only the data folder's key can write.

It holds times, ids of keys, names of actions and collections, outcomes and counts, never a text, a question
or the name of a file.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace

from app.access.database import connected, readable
from app.access.keys import Scope
from app.data_dir import DataDir
from models.errors import LetheError
from retrieval.store.chain import Chain, Link

BEGUN, DONE, FAILED = "begun", "done", "failed"
CONSOLE = "console"
"""Stands for the key where somebody used the command line."""


class TrailNotWritten(LetheError):
    """The trail cannot be written, so that what it would not hold is refused."""

    def __init__(self, reason: LetheError) -> None:
        super().__init__(f"The trail cannot be written, so this was refused. {reason}")


@dataclass(frozen=True, slots=True)
class Entry:
    """What somebody did. ``outcome`` is an HTTP status or ``BEGUN``, ``DONE``, ``FAILED``.

    ``collection`` is one that is there, or is made by this; ``about`` the id of a document, key or job.
    """

    key_id: str
    action: str
    scopes: tuple[Scope, ...]
    outcome: int | str
    collection: str | None = None
    about: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


class Trail:
    """The trail of a data folder. Safe to share between threads and processes."""

    def __init__(self, data: DataDir) -> None:
        """Raises LetheError if the file cannot be opened."""
        key = hashlib.blake2b(data.key, digest_size=32, person=b"lethe trail").digest()
        self._chain = Chain("trail", key)
        self._lock = threading.Lock()
        self._folder = data.settings.data_dir
        self._connection = connected(self._folder, self._chain.schema)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def write(self, entry: Entry, *, lasting: bool = False) -> None:
        """Add an entry; a ``lasting`` one outlives a power cut from then on, as all before it do.

        Raises:
            TrailNotWritten: The file cannot be written.
        """
        try:
            with self._lock, readable(), self._transaction(lasting):
                self._chain.append(self._connection, _event(entry))
        except LetheError as error:
            raise TrailNotWritten(error) from None

    @contextmanager
    def _transaction(self, lasting: bool) -> Iterator[None]:
        execute = self._connection.execute
        # What a process that is killed has committed is there without a sync; only a power cut undoes it.
        execute(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")
        execute("BEGIN IMMEDIATE")
        try:
            yield
            execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                execute("ROLLBACK")
            raise

    def rows(self) -> Iterator[Mapping[str, object]]:
        """Every entry, in order."""
        with self._lock, readable():
            for link in self._chain.links(self._connection):
                yield {"entry": link.number, "at": link.at, **json.loads(link.event), "digest": link.digest}

    def head(self) -> Link | None:
        """The last entry; its number and digest, kept elsewhere, show later whether the end was cut off."""
        with self._lock, readable():
            return self._chain.last(self._connection)

    def between(
        self,
        after: int,
        before: int,
        most: int,
        collections: Collection[str] | None = None,
        *,
        newest: bool = False,
    ) -> list[Link]:
        """The entries with numbers between two, ``most`` of them at most, the oldest or the newest first.

        With ``collections``, only those that name one of them.
        """
        # What somebody has written over an entry need not be JSON.
        named = "CASE WHEN json_valid(event) THEN json_extract(event, '$.collection') END"
        which = "" if collections is None else f"AND {named} IN (SELECT value FROM json_each(?))"
        order = f"ORDER BY seq {'DESC' if newest else 'ASC'} LIMIT ?"
        query = f"SELECT * FROM {self._chain.table} WHERE seq > ? AND seq < ? {which} {order}"
        given = () if collections is None else (json.dumps([*collections]),)
        with self._reading() as connection:
            return [Link(*row) for row in connection.execute(query, (after, before, *given, most))]

    def first_broken(self, head: tuple[int, str] | None = None) -> int | None:
        """The number of the first entry that does not fit (``Chain.first_broken``)."""
        with self._reading() as connection:
            return self._chain.first_broken(connection, head)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        # A connection of its own: every answer waits for its entry, and a long chain takes seconds to read.
        with readable(), closing(connected(self._folder)) as connection:
            yield connection


def _event(entry: Entry) -> dict[str, object]:
    said = {"key_id": entry.key_id, "action": entry.action, "scopes": list(entry.scopes)}
    beside = {"collection": entry.collection, "about": entry.about, "counts": dict(entry.counts)}
    return {**said, "outcome": entry.outcome, **{name: value for name, value in beside.items() if value}}


@dataclass(slots=True)
class Found:
    """What is known of an action once it is done."""

    about: str | None = None
    counts: dict[str, int] = field(default_factory=dict)


@contextmanager
def recorded(data: DataDir, action: str, scope: Scope, collection: str | None = None) -> Iterator[Found]:
    """Write an entry before and after what the command line does in the block, which says what it found.

    Raises:
        TrailNotWritten: Nothing was done, or what was done is not to be shown.
    """
    named = collection if collection and data.holds(collection) else None
    found, outcome = Found(), FAILED
    with closing(Trail(data)) as trail:
        entry = Entry(CONSOLE, action, (scope,), BEGUN, named)
        trail.write(entry, lasting=True)
        try:
            yield found
            outcome = DONE
        finally:
            ended = replace(entry, outcome=outcome, about=found.about, counts=found.counts)
            trail.write(ended, lasting=True)
