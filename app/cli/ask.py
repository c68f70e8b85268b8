"""``lethe ask``."""

import argparse
import time

from app.cli.console import result
from app.cli.given import services_of
from app.rows import answer_row


def run(arguments: argparse.Namespace) -> int:
    """One JSON line: the answer, its citations, the passages, and how long it took from the start."""
    started = time.perf_counter()
    services = services_of(arguments)
    with services.open(arguments.collection) as collection:
        passages = services.retriever(collection).retrieve(
            [arguments.question], services.settings.retrieval.k
        )[0]
        answer = services.generator.generate(arguments.question, passages)
    seconds = round(time.perf_counter() - started, 2)
    result({"question": arguments.question, **answer_row(answer), "seconds": seconds})
    return 0
