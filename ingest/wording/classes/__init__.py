"""Tables of classes: a line is a class and, behind a colon, the cue words of its members."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def table(name: str) -> Mapping[str, tuple[str, ...]]:
    """Class to cue words, in the order of the file: the first class with a cue counts."""
    found: dict[str, tuple[str, ...]] = {}
    for line in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, _, cues = line.partition(":")
            found[kind.strip()] = tuple(cue.strip() for cue in cues.split(","))
    return found
