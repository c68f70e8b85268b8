"""``lethe erase``."""

import argparse
from dataclasses import asdict

from app.cli.console import result
from app.cli.given import services_of


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per document: what went, and the search for what is left of it."""
    services = services_of(arguments)
    traces = 0
    with services.open(arguments.collection) as collection:
        for doc_id in services.public_ids(arguments.doc_id):
            erasure = collection.erase(doc_id)
            traces += erasure.traces_found
            result(asdict(erasure))
    return 1 if traces else 0
