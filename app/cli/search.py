"""``lethe search``."""

import argparse

from app.cli.console import result
from app.cli.given import data_of
from app.compose import encoder_of, sanitizer_of, searching
from app.rows import passage_row


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per passage, best first."""
    data = data_of(arguments)
    with data.open(arguments.collection) as collection:
        encoder = encoder_of(data.settings)
        sanitizer = sanitizer_of(data.settings, collection, encoder)
        retriever = searching(data.settings, collection, encoder, sanitizer)
        for retrieved in retriever.retrieve([arguments.question], data.settings.retrieval.k)[0]:
            result(passage_row(retrieved))
    return 0
