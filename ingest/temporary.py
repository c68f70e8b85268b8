"""Files that appear whole or not at all, and folders for the time of a process; what a killed one left goes.

Whoever makes one holds a lock on it, which ends with the process: what can be locked belongs to nobody.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

PREFIX = ".lethe-"
"""Of the temporary folders, and of files beside those that a user names."""
_SUFFIX = ".tmp"


@contextmanager
def temporary_file(folder: Path, prefix: str, content: bytes) -> Iterator[Path]:
    """A file on the disk with ``content``, deleted with the block unless it was moved."""
    # Not named by process id: in a container, a restarted process gets the same id.
    handle, temporary = _claimed(lambda: tempfile.mkstemp(dir=folder, prefix=prefix, suffix=_SUFFIX)[1])
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder for its owner alone, below that of the system for temporary files, deleted with the block."""
    above = parent or Path(tempfile.gettempdir())
    sweep(above)
    handle, folder = _claimed(lambda: tempfile.mkdtemp(dir=above, prefix=PREFIX, suffix=_SUFFIX))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def sweep(folder: Path, prefix: str = PREFIX) -> None:
    """Delete what killed processes of this user left in a folder."""
    with suppress(OSError):
        for left in folder.glob(f"{escape(prefix)}????????{_SUFFIX}"):
            with suppress(OSError):
                _delete_unclaimed(left)


def _delete_unclaimed(left: Path) -> None:
    handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.fstat(handle).st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    finally:
        os.close(handle)


def _claimed(make: Callable[[], str]) -> tuple[int, Path]:
    """A new file or folder with a lock on it, and the descriptor that holds it."""
    while True:
        path = Path(make())
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
            # Where nothing can be locked, nothing is swept.
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            # Else it was swept between the two.
            if path.exists():
                return handle, path
            os.close(handle)
