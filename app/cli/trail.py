"""``lethe trail show | head | verify``; without a second verb it shows."""

import argparse
import json
from contextlib import closing
from pathlib import Path

from app.access.trail import Trail
from app.cli.console import message, result
from app.cli.given import data_of
from models.errors import ConfigurationError


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per entry, the oldest first."""
    with closing(Trail(data_of(arguments))) as trail:
        for row in trail.rows():
            result(row)
    return 0


def head(arguments: argparse.Namespace) -> int:
    """One JSON line: number and digest of the last entry."""
    with closing(Trail(data_of(arguments))) as trail:
        last = trail.head()
    result({"entry": last.number, "digest": last.digest} if last else {"entry": 0, "digest": ""})
    return 0


def verify(arguments: argparse.Namespace) -> int:
    """One JSON line: whether the chain holds. 1 if it does not."""
    kept = _head_in(Path(arguments.head)) if arguments.head else None
    with closing(Trail(data_of(arguments))) as trail:
        last, broken = trail.head(), trail.first_broken(kept)
    result({"entries": last.number if last else 0, "first_broken": broken})
    if broken is None:
        return 0
    message(
        f"the trail is broken at entry {broken}: it was altered, removed, slipped in or cut off, or written "
        "under another key file."
    )
    return 1


def _head_in(path: Path) -> tuple[int, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return int(found["entry"]), str(found["digest"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = type(error).__name__
    raise ConfigurationError(f"{path}: this is no head of a trail ({reason}). `lethe trail head` writes one.")
