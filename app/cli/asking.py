"""The language model that a benchmark asks, and the further methods that it measures."""

import argparse
import hashlib
import hmac
import os
import sqlite3
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Lock
from types import TracebackType

from app.access.vault import Sealer
from app.compose import language_model_of
from app.data_dir import DataDir
from app.settings.load import Settings
from app.settings.report import files_of
from ingest.deciding.baselines.als_like import ALS_LIKE, AlsLike
from ingest.private_files import open_private
from ingest.protecting.whole_texts import BY_MODEL
from ingest.sanitize import Rewriter
from models.errors import ConfigurationError, LetheError
from models.language.asking import Answers, Asker, InMemory
from models.language.protocol import LanguageModel

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


def asker_of(
    arguments: argparse.Namespace, data: DataDir, folder: Path | None, stack: ExitStack
) -> Asker | None:
    """Asks the model of the settings; what it answers is kept sealed in ``folder``, or for this run alone.

    None without ``--ask-model``.

    Raises:
        ConfigurationError: There is no model, or it is remote and may not read raw text.
    """
    model = asked_model(arguments, data.settings)
    return None if model is None else asking(model, data, folder, stack)


def asked_model(arguments: argparse.Namespace, settings: Settings) -> LanguageModel | None:
    """The language model for ``--ask-model``, None without it; raises ConfigurationError as ``asker_of``."""
    if not arguments.ask_model:
        return None
    model = language_model_of(settings)
    if model is None:
        raise ConfigurationError(
            "--ask-model needs a language model: set generator.kind to llama_cpp or openai_compatible, "
            "name a file with --gguf, or a folder of requests and answers with --requests."
        )
    return model


def asking(model: LanguageModel, data: DataDir, folder: Path | None, stack: ExitStack) -> Asker:
    """Asks a model that was made already; what it answers is kept as by ``asker_of``."""
    answers: Answers = InMemory()
    if folder is not None:
        answers = stack.enter_context(SealedAnswers(folder / ANSWERS, data.key))
    at_once = data.settings.generator.at_once if data.settings.generator.kind == "openai_compatible" else 1
    chosen = data.settings.generator
    gguf = chosen.path if chosen.kind == "llama_cpp" else None
    return Asker(model, answers, at_once, repr(files_of([gguf] if gguf else [])))


def also_of(arguments: argparse.Namespace, asker: Asker | None, detector: str) -> Mapping[str, Rewriter]:
    """The methods of ``--also``, each once; ``detector`` is the name of the one that finds entities.

    Raises:
        ConfigurationError: A method needs a language model, and none is asked.
    """
    found: dict[str, Rewriter] = {}
    for name in arguments.also or ():
        if name == ALS_LIKE:
            found[name] = AlsLike(detector)
        elif asker is None:
            raise ConfigurationError(f"--also {name} rewrites by a language model: add --ask-model.")
        else:
            found[name] = BY_MODEL[name](asker)
    return found
