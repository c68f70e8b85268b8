"""Whether Ray may write to a disk what it holds, as it does by default when memory is full."""

import os
import socket
from pathlib import Path

from models.errors import LetheError

MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory."""
HOW = "see deploy/ray/README.md"


def refuse_disks() -> None:
    """Refuse a machine whose Ray may write what it holds to a disk, as it does when its memory is full.

    Raises:
        LetheError: It would, or it cannot be found out.
    """
    folders = _folders_of_ray(Path(f"/proc/{os.getppid()}/cmdline"))
    on_disk = [str(folder) for folder in folders if not in_memory(folder)]
    if on_disk or not folders:
        place = on_disk[0] if on_disk else "an unknown place"
        raise LetheError(
            f"Ray on {socket.gethostname()} may write documents to {place}, and raw text is never "
            "put on a disk. Start it with --plasma-directory and --object-spilling-directory below "
            f"{MEMORY}; {HOW}."
        )


def _folders_of_ray(command: Path) -> list[Path]:
    """Where the Ray process that started this one keeps objects, and where those that do not fit."""
    try:
        words = command.read_bytes().decode("utf-8", "surrogateescape").split("\0")
    except OSError:
        return []
    named = dict(word.partition("=")[::2] for word in words)
    found = [named.get(name, "") for name in ("--plasma_directory", "--fallback_directory")]
    return [Path(each) for each in found] if all(found) else []


def in_memory(folder: Path) -> bool:
    """Whether the files of a folder lie in memory; false if that cannot be found out."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    place = folder.resolve()
    within = [(len(point), number, kind)
              for number, (_, point, kind, *_) in enumerate(map(str.split, mounts.splitlines()))
              if place.is_relative_to(point)]  # fmt: skip
    # Of two on one place the later one covers the other.
    return bool(within) and max(within)[2] in ("tmpfs", "ramfs")
