"""Files that hold private words."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file that its owner alone may read. Raises OSError."""
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as file:
        # A file that was there keeps its mode when it is opened.
        path.chmod(0o600)
        file.write(text)
