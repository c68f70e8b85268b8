"""The secret under which ids and contents are digested.

Whoever reads a collection must not be able to test a guess ("was this the text that stood here?") by
computing the digest. By default the key lies in the data folder, beside the collections and not in one;
where the whole data folder may be read by others, ``key_file`` in the settings puts it elsewhere.
"""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

from models.errors import ConfigurationError

_BYTES = 32


def secret_key(path: Path) -> bytes:
    """The key in a file that is made at the first call; readable by its owner only."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _write_once(path, secrets.token_bytes(_BYTES))
        key = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigurationError(
            f"{path}: {reason}. Lethe needs a folder to write in: set --data-dir, LETHE_DATA_DIR or "
            "LETHE_KEY_FILE."
        ) from None
    if len(key) != _BYTES:
        raise ConfigurationError(
            f"{path} is damaged ({len(key)} bytes instead of {_BYTES}). Restore it from a backup; without it "
            "documents that are already kept cannot be recognized."
        )
    return key


def content_key(text: str, key: bytes) -> bytes:
    """16 bytes by which a text is recognized as one that was read before."""
    return hashlib.blake2b(text.encode(), key=key, digest_size=16, person=b"lethe content").digest()


def _write_once(path: Path, content: bytes) -> None:
    """Written whole under another name and then linked, so that two processes get one key."""
    # A name that is new: in a container, a process that was killed here comes back with the same number.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
    finally:
        temporary.unlink()
