"""``lethe documents``."""

import argparse

from app.cli.console import result
from app.cli.given import data_of
from app.cli.people import for_people, show_rows
from app.rows import kept_row


def run(arguments: argparse.Namespace) -> int:
    """For people a table; for programs a JSON line per document: ids, time, size, and what was not read."""
    data = data_of(arguments)
    with data.open(arguments.collection) as collection:
        rows = map(kept_row, collection.store.documents())
        if for_people(arguments):
            show_rows(rows, ("doc_id", "kept_at", "characters", "passages"))
            return 0
        for row in rows:
            result(row)
    return 0
