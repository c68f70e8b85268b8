"""What a language model answered, sealed in a file of a run, which can so go on where it was cut short.

The file says nothing without the data folder's key: answers are sealed, and their places are keyed digests.
"""

import hashlib
import hmac
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Lock
from types import TracebackType

from app.access.sealing import Sealer
from ingest.private_files import open_private
from models.errors import LetheError

ANSWERS = "answers.sqlite"
_PURPOSE = "answers of language models"


class SealedAnswers:
    """The answers of a run in ``path``, which is made where it is not there. Safe to use from threads.

    Raises:
        LetheError: The file cannot be opened, or is no file of answers.
    """

    def __init__(self, path: Path, key: bytes) -> None:
        self._sealer = Sealer(key, _PURPOSE)
        self._key = hmac.digest(key, f"lethe places of {_PURPOSE}".encode(), hashlib.sha256)
        self._lock = Lock()
        self._path = path
        try:
            os.close(open_private(path, os.O_RDWR))
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (place TEXT PRIMARY KEY, sealed BLOB NOT NULL)"
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from None

    def __enter__(self) -> "SealedAnswers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def get(self, key: bytes) -> str | None:
        """The answer to the question with this digest; raises Unsealable where the file was altered."""
        place = self._place(key)
        with self._lock, closing(self._ask("SELECT sealed FROM answers WHERE place = ?", place)) as found:
            row = found.fetchone()
        return None if row is None else self._sealer.opened(row[0], place).decode("utf-8", "surrogatepass")

    def put(self, key: bytes, answer: str) -> None:
        """Keep an answer."""
        place = self._place(key)
        sealed = self._sealer.seal(answer.encode("utf-8", "surrogatepass"), place)
        with self._lock:
            self._ask("INSERT OR REPLACE INTO answers VALUES (?, ?)", place, sealed).close()

    def _place(self, key: bytes) -> str:
        return hmac.new(self._key, key, hashlib.sha256).hexdigest()

    def _ask(self, statement: str, *values: object) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> LetheError:
        return LetheError(
            f"{self._path} cannot be used ({type(error).__name__}): name another folder with --output, or "
            "delete the file, and all is asked anew."
        )
