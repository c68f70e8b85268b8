"""``lethe documents``."""

import argparse

from app.cli.console import result
from app.cli.given import data_of
from app.rows import kept_row


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per document: ids, time of ingest, size, and what was not read."""
    data = data_of(arguments)
    with data.open(arguments.collection) as collection:
        for document in collection.store.documents():
            result(kept_row(document))
    return 0
