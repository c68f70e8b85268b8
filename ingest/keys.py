"""The secret key for digests of ids and contents.

A reader of a collection must not be able to confirm a guessed text by computing its digest. By default the
key lies in the data folder, outside every collection. If others can read the data folder, set ``key_file``
to another place.
"""

import hashlib
import os
import secrets
import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath

from ingest.documents import Source
from ingest.private_files import private_folder
from ingest.temporary import sweep, temporary_file
from models.errors import ConfigurationError

_BYTES = 32


def secret_key(path: Path, *, make: bool = True) -> bytes:
    """Read the key file; the first call creates it, readable by its owner only.

    Without a file and with ``make`` false, returns a random key that is not saved.
    """
    try:
        if not make and not path.exists():
            return secrets.token_bytes(_BYTES)
        private_folder(path.parent)
        sweep(path.parent, _prefix(path))
        if not path.exists():
            _write_once(path, secrets.token_bytes(_BYTES))
        key = secret_in(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigurationError(
            f"{path}: {reason}. Lethe needs a data folder to write in, with free space: set --data-dir, "
            "LETHE_DATA_DIR or LETHE_KEY_FILE."
        ) from None
    if len(key) != _BYTES:
        raise ConfigurationError(
            f"{path} is damaged ({len(key)} bytes instead of {_BYTES}). Restore it from a backup; without it "
            "documents that are already kept cannot be recognized."
        )
    return key


def secret_in(path: Path) -> bytes:
    """The content of a key file that no other user of this machine can read.

    A file that belongs to root may be for a group of this process too. One on a file system that cannot be
    written, as containers mount secrets, has the rights that it was given outside.

    Raises:
        ConfigurationError: Others can read it, or write into it.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        others = status.st_mode & 0o077
        if status.st_uid == 0 != os.geteuid() and status.st_gid in (os.getegid(), *os.getgroups()):
            others &= ~0o040
        if others and not os.fstatvfs(file.fileno()).f_flag & os.ST_RDONLY:
            raise ConfigurationError(
                f"{path}: other users can read or change this key ({status.st_mode & 0o777:o}). Run "
                f"chmod 600 {shlex.quote(str(path))}, or make a new key if they may have read it."
            )
        return file.read()


def content_key(text: str, key: bytes, readers: Iterable[str] = ()) -> bytes:
    """A 16-byte keyed digest that identifies a text seen before, for the same groups of readers.

    So a copy for others is a document of its own, and neither opens nor closes the first.
    """
    digest = hashlib.blake2b(text.encode(), key=key, digest_size=16, person=b"lethe content")
    # No text has a lone byte 255 in it.
    digest.update(b"".join(b"\xff" + name.encode() for name in sorted(readers)))
    return digest.digest()


def source_of(path: str, key: bytes) -> Source:
    """The keyed digests of a file's or folder's canonical path (``ingest.read.paths.canonical``)."""
    own, *above = [path, *map(str, PurePath(path).parents)]
    return Source(_source_key(own, key), tuple(_source_key(folder, key) for folder in above))


def _source_key(path: str, key: bytes) -> bytes:
    encoded = path.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, key=key, digest_size=16, person=b"lethe source").digest()


def _prefix(path: Path) -> str:
    return f".{path.name}-"


def _write_once(path: Path, content: bytes) -> None:
    """Write a temporary file, then link it, so that concurrent processes get one key."""
    with temporary_file(path.parent, _prefix(path), content) as temporary, suppress(FileExistsError):
        os.link(temporary, path)
