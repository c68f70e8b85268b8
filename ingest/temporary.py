"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_file(folder: Path, prefix: str, content: bytes) -> Iterator[Path]:
    """A file on the disk with ``content``, deleted with the block unless it was moved."""
    # Not named by process id: in a container, a restarted process gets the same id.
    handle, name = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
