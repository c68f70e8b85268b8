"""Files that hold private words, or that somebody will read as theirs: for their owner alone."""

import os
from pathlib import Path

from ingest.temporary import temporary_file
from models.errors import ConfigurationError, LetheError


def write_private(path: Path, text: str) -> None:
    """Write a file that its owner alone may read. Raises OSError."""
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as file:
        # A file that was there keeps its mode when it is opened.
        path.chmod(0o600)
        file.write(text)


def check_new(path: Path, option: str) -> None:
    """Before long work. Raises ConfigurationError where something is there, or no folder for it."""
    if path.exists() or path.is_symlink():
        raise ConfigurationError(f"{option}: {path} is there already. Name a new one.")
    if not path.absolute().parent.is_dir():
        raise ConfigurationError(f"{option}: the folder of {path} is not there. Make it, or name another.")


def write_new(path: Path, text: str) -> None:
    """Write a file whole, and never over another one.

    Raises LetheError where it could not be written.
    """
    try:
        with temporary_file(path.absolute().parent, ".lethe-", text.encode()) as temporary:
            os.link(temporary, path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(f"{path}: could not be written ({reason}). Name another file.") from None
