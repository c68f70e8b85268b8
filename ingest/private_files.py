"""Files and folders for their owner alone: 600 and 700, whatever the umask of the process is."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from ingest.temporary import PREFIX, sweep, temporary_file
from models.errors import ConfigurationError, LetheError

_OTHERS = 0o077


def private_folder(folder: Path) -> None:
    """Make a folder and those missing above it; one that is there stays as it is. Raises OSError."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def close_to_others(path: Path) -> None:
    """Take the rights of others from what an earlier version made, if it is there and ours."""
    with suppress(OSError):
        status = path.stat()
        if status.st_mode & _OTHERS and status.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)


def open_private(path: Path, flags: int) -> int:
    """The descriptor of a file, made if it is missing and closed to others if it is there. Raises OSError."""
    handle = os.open(path, flags | os.O_CREAT, 0o600)
    # Not of a terminal or /dev/null, which are nobody's files.
    if stat.S_ISREG(os.fstat(handle).st_mode):
        try:
            os.fchmod(handle, 0o600)
        except OSError:
            os.close(handle)
            raise
    return handle


def write_private(path: Path, text: str) -> None:
    """Write a file that its owner alone may read. Raises OSError."""
    with os.fdopen(open_private(path, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
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
        folder = path.absolute().parent
        sweep(folder)
        with temporary_file(folder, PREFIX, text.encode()) as temporary:
            os.link(temporary, path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(f"{path}: could not be written ({reason}). Name another file.") from None
