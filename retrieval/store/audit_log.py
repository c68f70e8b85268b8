"""What was done to a collection, as a chain: each entry's digest covers the one before it."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime

_BEGINNING = "0" * 64


def now() -> str:
    """The time in UTC, to the second, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def append(connection: sqlite3.Connection, event: Mapping[str, object]) -> None:
    """Add an event (counts and names of settings, never text) inside the caller's transaction."""
    last = connection.execute("SELECT seq, digest FROM audit_log ORDER BY seq DESC LIMIT 1").fetchone()
    seq, previous = (last[0] + 1, last[1]) if last else (1, _BEGINNING)
    at, entry = now(), json.dumps(event, sort_keys=True)
    row = (seq, at, entry, _digest(previous, seq, at, entry))
    connection.execute("INSERT INTO audit_log VALUES (?, ?, ?, ?)", row)


def first_broken(connection: sqlite3.Connection) -> int | None:
    """The number of the first entry that was altered, removed or slipped in; None if the chain holds.

    Entries cut off at the end cannot be seen from the chain alone.
    """
    previous, expected = _BEGINNING, 1
    for seq, at, event, digest in connection.execute("SELECT * FROM audit_log ORDER BY seq"):
        if seq != expected or digest != _digest(previous, seq, at, event):
            return expected
        previous, expected = digest, seq + 1
    return None


def _digest(previous: str, seq: int, at: str, event: str) -> str:
    return hashlib.sha256(f"{previous}\n{seq}\n{at}\n{event}".encode()).hexdigest()
