"""Detect the column separator of a ``.csv`` file: comma, semicolon, tab or bar."""

import csv
import re
from collections.abc import Sequence

SEPARATORS = (",", ";", "\t", "|")


def separator_of(first_lines: Sequence[str]) -> str:
    """The column separator, by the first lines of a table, the header among them; a comma if unsure.

    Only separators that split the header outside quotes count. Those that split all lines into equally many
    columns are preferred; of the rest, the most frequent in the header is taken.
    """
    if not first_lines:
        return SEPARATORS[0]
    named = re.sub(r'"[^"]*"', "", first_lines[0])
    parting = [each for each in SEPARATORS if each in named]
    even = [each for each in parting if _parts_evenly(first_lines, each)]
    return max(even or parting or SEPARATORS[:1], key=named.count)


def _parts_evenly(lines: Sequence[str], separator: str) -> bool:
    try:
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return False
    # A quoted field may go on behind the lines that are looked at, so the last row is left aside.
    return len({len(row) for row in rows[:-1] or rows}) == 1
