"""The database of the server, ``server.db`` in the data folder: keys, jobs and the trail."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.private_files import private_folder
from models.errors import LetheError

FILE = "server.db"
VERSION = 3
"""Of its tables. Count it up for a change of tables that are there, and add the step to ``_upgrade``."""


def connected(folder: Path, schema: str = "") -> sqlite3.Connection:
    """A connection that commits each statement, after statements that make what is missing.

    Raises:
        LetheError: The file cannot be opened, or a newer Lethe wrote it.
    """
    path = folder / FILE
    try:
        private_folder(folder)
        # Made before SQLite makes it, which would let others read it; to close a file that is there would
        # take SQLite's locks on it away from this process.
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(f"{path}: {reason}. Set a data folder that you may write in.") from None
    with readable():
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        try:
            version = _check_version(connection)
            connection.execute("PRAGMA journal_mode=WAL")
            if schema:
                connection.execute(schema)
                if version < VERSION:
                    _upgrade(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _check_version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise LetheError(
            f"{FILE} was written by a newer Lethe (version {version}, this one reads {VERSION}). Use that "
            "version, or restore the data folder from a backup that is older."
        )
    return int(version)


def _upgrade(connection: sqlite3.Connection) -> None:
    """Bring tables of an older version to this one; what is done already is left."""
    connection.execute("BEGIN IMMEDIATE")
    # 1 to 2: jobs know the key that ordered them. Of those before it is not known: they count as everybody's.
    columns = [row[1] for row in connection.execute("PRAGMA table_info(jobs)")]
    if columns and "key_id" not in columns:
        connection.execute("ALTER TABLE jobs ADD COLUMN key_id TEXT NOT NULL DEFAULT ''")
    # 2 to 3: keys name groups of readers. Those before it name none.
    columns = [row[1] for row in connection.execute("PRAGMA table_info(keys)")]
    if columns and "groups" not in columns:
        connection.execute("ALTER TABLE keys ADD COLUMN groups TEXT NOT NULL DEFAULT '[]'")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


@contextmanager
def readable() -> Iterator[None]:
    """Translate SQLite errors into a sentence without a path: whoever calls the server may read it."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        raise LetheError(
            f"{FILE} cannot be read or written ({name}). Free some space, or restore the file from a backup "
            "of the data folder."
        ) from None
