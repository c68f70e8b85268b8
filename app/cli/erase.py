"""``lethe erase``."""

import argparse
from dataclasses import asdict

from app.cli.console import message, result
from app.cli.given import services_of
from retrieval.collection import UnknownDocument


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per document: what went, and the search for what is left of it."""
    services = services_of(arguments)
    failed = False
    gone: set[str] = set()
    with services.open(arguments.collection) as collection:
        for doc_id in services.public_ids(arguments.doc_id):
            if doc_id in gone:
                continue
            try:
                erasure = collection.erase(doc_id)
            except UnknownDocument as error:
                message(str(error))
                failed = True
                continue
            gone |= {erasure.doc_id, *erasure.also_known_as}
            failed |= erasure.traces_found > 0
            result(asdict(erasure))
    return 1 if failed else 0
