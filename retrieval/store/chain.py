"""What was done, as a chain: each entry's digest covers the one before it.

A collection has one, and a server another, under a key: who cannot read that cannot write a chain that holds.
"""

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

_BEGINNING = "0" * 64


def now() -> str:
    """The time in UTC, to the second, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of a chain: ``event`` is JSON, counts and names of settings, never text."""

    number: int
    at: str
    event: str
    digest: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The chain in a ``table``; under a ``key`` its digests are HMACs."""

    table: str
    key: bytes = field(default=b"", repr=False)

    @property
    def schema(self) -> str:
        """The statement that makes the table where it is missing."""
        return (
            f"CREATE TABLE IF NOT EXISTS {self.table} (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, "
            "event TEXT NOT NULL, digest TEXT NOT NULL) STRICT"
        )

    def append(self, connection: sqlite3.Connection, event: Mapping[str, object]) -> None:
        """Add an event inside the caller's transaction."""
        last = self.last(connection)
        number, previous = (last.number + 1, last.digest) if last else (1, _BEGINNING)
        at, entry = now(), json.dumps(event, sort_keys=True)
        row = (number, at, entry, self._digest(previous, number, at, entry))
        connection.execute(f"INSERT INTO {self.table} VALUES (?, ?, ?, ?)", row)

    def links(self, connection: sqlite3.Connection) -> Iterator[Link]:
        """All entries, in order."""
        return (Link(*row) for row in connection.execute(f"SELECT * FROM {self.table} ORDER BY seq"))

    def last(self, connection: sqlite3.Connection) -> Link | None:
        """The last entry."""
        row = connection.execute(f"SELECT * FROM {self.table} ORDER BY seq DESC LIMIT 1").fetchone()
        return Link(*row) if row else None

    def first_broken(self, connection: sqlite3.Connection, head: tuple[int, str] | None = None) -> int | None:
        """The number of the first entry that was altered, removed or slipped in; None if the chain holds.

        Entries cut off at the end are seen only against a ``head``: number and digest of what was the last
        entry once.
        """
        previous, expected = _BEGINNING, 1
        for link in self.links(connection):
            digest = self._digest(previous, link.number, link.at, link.event)
            if link.number != expected or link.digest != digest:
                return expected
            if head and link.number == head[0] and link.digest != head[1]:
                return expected
            previous, expected = digest, expected + 1
        return expected if head and head[0] >= expected else None

    def _digest(self, previous: str, number: int, at: str, event: str) -> str:
        content = f"{previous}\n{number}\n{at}\n{event}".encode()
        if self.key:
            return hmac.digest(self.key, content, hashlib.sha256).hex()
        return hashlib.sha256(content).hexdigest()


AUDIT_LOG = Chain("audit_log")
"""That of a collection."""
