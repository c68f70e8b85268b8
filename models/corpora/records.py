"""Read a corpus line by line; errors give the line number and never its text."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from models.errors import ConfigurationError

Row = dict[str, Any]
Parsed = TypeVar("Parsed")


def parsed_lines(path: Path, parse: Callable[[Row, int], Parsed]) -> Iterator[Parsed]:
    """``parse(row, number)`` of every JSON line of ``path`` (gzip where it ends so); numbers run from 0.

    Raises ConfigurationError where a file is missing, or a line is not in the layout that ``parse`` reads.
    """
    if not path.is_file():
        raise ConfigurationError(
            f"The training file {path} is missing: put it there, or leave its corpus out."
        )
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(_readable(path, lines)):
            yield _parsed(path, line, number, parse)


def _readable(path: Path, lines: Any) -> Iterator[str]:
    count = 0
    try:
        for line in lines:
            count += 1
            yield line
    except (OSError, EOFError, UnicodeDecodeError, zlib.error):
        raise _broken(path, count) from None


def _parsed(path: Path, line: str, number: int, parse: Callable[[Row, int], Parsed]) -> Parsed:
    try:
        return parse(json.loads(line), number)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, SyntaxError, RecursionError):
        # No cause: it would quote the text.
        raise _broken(path, number) from None


def _broken(path: Path, number: int) -> ConfigurationError:
    return ConfigurationError(
        f"Line {number + 1} of {path} is not in the layout of its corpus: "
        "restore the file, or leave the corpus out."
    )
