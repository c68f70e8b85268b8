"""``lethe search``."""

import argparse

from app.cli.console import result
from app.cli.given import data_of
from app.compose import encoder_of, retriever_of, search_of
from app.rows import passage_row


def run(arguments: argparse.Namespace) -> int:
    """One JSON line per passage, best first."""
    data = data_of(arguments)
    with data.open(arguments.collection) as collection:
        retriever = retriever_of(collection, encoder_of(data.settings), search_of(data.settings))
        for retrieved in retriever.retrieve([arguments.question], data.settings.retrieval.k)[0]:
            result(passage_row(retrieved))
    return 0
