"""API keys: created, listed and revoked; only digests of them are stored.

A key is ``lethe_``, eight digits that name it, and 43 characters of a random secret. The secret has 256 bits,
so a plain digest of it cannot be searched for.
"""

import hashlib
import json
import re
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hmac import compare_digest
from pathlib import Path
from typing import Literal, get_args

from app.access.database import connected, readable
from models.errors import ConfigurationError

Scope = Literal["query", "ingest", "erase", "audit", "reveal", "admin"]
"""What a key allows: to ask and search, add documents, erase them, audit, see originals, and all else."""
SCOPES: tuple[Scope, ...] = get_args(Scope)

_KEY = re.compile(r"lethe_(?P<id>[0-9a-f]{8})_(?P<secret>[A-Za-z0-9_-]{43})")
_COLUMNS = "key_id, name, scopes, collections, created, revoked, groups"
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS keys (
        key_id TEXT PRIMARY KEY,
        digest BLOB NOT NULL,
        name TEXT NOT NULL,
        scopes TEXT NOT NULL,
        collections TEXT,
        created TEXT NOT NULL,
        revoked TEXT,
        groups TEXT NOT NULL DEFAULT '[]'
    ) STRICT
"""


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret. ``collections`` are those that it is granted, None for all.

    ``groups`` are those whose documents it reads, beside those for everybody. Times are ISO 8601 in UTC.
    """

    key_id: str
    name: str
    scopes: frozenset[Scope]
    collections: frozenset[str] | None
    created: str
    revoked: str | None = None
    groups: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def reads(self) -> frozenset[str] | None:
        """The groups whose documents it reads, None for all: who manages keys could make one for any."""
        return None if "admin" in self.scopes else self.groups

    def allows(self, scope: Scope, collection: str | None = None) -> bool:
        """Whether it may do something, with a collection if one is given."""
        granted = collection is None or self.collections is None or collection in self.collections
        return granted and scope in self.scopes and self.revoked is None


class UnknownKey(ConfigurationError):
    """An id that no key has."""

    def __init__(self) -> None:
        super().__init__("There is no key with this id. GET /v1/keys and `lethe keys` list them.")


EVERYBODY = Key("", "everybody", frozenset(SCOPES), None, "")
"""Stands for callers of a server on loopback for which no key was ever made."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key with its secret text, which is shown once."""

    key: Key
    text: str = field(repr=False)


class Keys:
    """The keys of a data folder. Safe to share between threads and processes."""

    def __init__(self, folder: Path) -> None:
        """Raises LetheError if the file cannot be opened."""
        self._lock = threading.Lock()
        self._connection = connected(folder, _SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def create(
        self,
        name: str,
        scopes: frozenset[Scope],
        collections: frozenset[str] | None,
        groups: frozenset[str] = frozenset(),
    ) -> NewKey:
        """A new key.

        Raises:
            ConfigurationError: It has no name, no scope, or no collection to use it on.
        """
        if not name.strip() or not name.isprintable() or len(name) > 100:
            raise ConfigurationError("Name the key after who will use it, in up to 100 characters.")
        if not scopes or not scopes.issubset(SCOPES):
            raise ConfigurationError(f"A key needs scopes, and these only: {', '.join(SCOPES)}.")
        if collections is not None and not collections:
            raise ConfigurationError("Grant the key a collection, or leave the collections out for all.")
        key = Key(secrets.token_hex(4), name, scopes, collections, _now(), groups=groups)
        secret = secrets.token_urlsafe(32)
        granted = None if collections is None else json.dumps(sorted(collections))
        allowed, read = json.dumps(sorted(scopes)), json.dumps(sorted(groups))
        row = (key.key_id, _digest(secret), name, allowed, granted, key.created, None, read)
        with self._open() as connection:
            connection.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return NewKey(key, f"lethe_{key.key_id}_{secret}")

    def any(self) -> bool:
        """Whether a key was ever made."""
        with self._open() as connection:
            return connection.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None

    def all(self) -> list[Key]:
        """Every key, revoked ones too, the oldest first."""
        with self._open() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM keys ORDER BY rowid").fetchall()
        return [_key(row) for row in rows]

    def get(self, key_id: str) -> Key | None:
        """A key by id, revoked or not; None if there is none."""
        return next((each for each in self.all() if each.key_id == key_id), None)

    def revoke(self, key_id: str) -> Key:
        """Let a key allow nothing any more; one that was revoked before keeps its time.

        Raises:
            ConfigurationError: There is no such key.
        """
        with self._open() as connection:
            connection.execute(
                "UPDATE keys SET revoked = ? WHERE key_id = ? AND revoked IS NULL", (_now(), key_id)
            )
        key = self.get(key_id)
        if key is None:
            raise UnknownKey
        return key

    def caller(self, text: str | None) -> Key | None:
        """The key that a request brings, None for none that is known and not revoked."""
        found = _KEY.fullmatch(text or "")
        if found is None:
            return None
        with self._open() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS}, digest FROM keys WHERE key_id = ? AND revoked IS NULL", (found["id"],)
            ).fetchone()
        if row is None or not compare_digest(bytes(row[-1]), _digest(found["secret"])):
            return None
        return _key(row[:-1])

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock, readable():
            yield self._connection


def key_row(key: Key) -> Mapping[str, object]:
    """A key as JSON, without its secret."""
    return {
        "key_id": key.key_id,
        "name": key.name,
        "scopes": sorted(key.scopes),
        "collections": None if key.collections is None else sorted(key.collections),
        "groups": sorted(key.groups),
        "created": key.created,
        "revoked": key.revoked,
    }


def _key(row: tuple[str, ...]) -> Key:
    key_id, name, scopes, collections, created, revoked, groups = row
    granted = None if collections is None else frozenset(json.loads(collections))
    allowed, read = frozenset(json.loads(scopes)), frozenset(json.loads(groups))
    return Key(key_id, name, allowed, granted, created, revoked, read)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
