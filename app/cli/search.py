"""``lethe search``."""

import argparse

from app.cli.console import result
from app.cli.given import services_of
from app.rows import passage_row


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per passage, best first."""
    services = services_of(arguments)
    with services.open(arguments.collection) as collection:
        retriever = services.retriever(collection)
        for retrieved in retriever.retrieve([arguments.question], services.settings.retrieval.k)[0]:
            result(passage_row(retrieved))
    return 0
