"""Errors of collections."""

import errno
import os

from models.errors import LetheError


class CollectionError(LetheError):
    """A collection is missing, in use, mismatched, or cannot be written."""


class CollectionBusy(CollectionError):
    """Another process is writing to a collection; it will end."""


DISK_FULL = (
    "the disk is full or cannot be written. Free some space and run the same command again: "
    "what was written so far is whole, and it goes on from there."
)


def unwritable(error: OSError) -> str:
    """Why a file of a collection cannot be written, and what to do; without the message of the error."""
    if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return DISK_FULL
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    return f"{reason}. Lethe needs a data folder to write in: set --data-dir or LETHE_DATA_DIR."
