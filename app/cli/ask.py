"""``lethe ask``."""

import argparse
import time

from app.cli.console import result
from app.cli.given import data_of
from app.cli.people import for_people, show_answer
from app.compose import (
    answering,
    defending,
    encoder_of,
    generating_model_of,
    retriever_of,
    sanitizer_of,
    search_of,
    searching,
)
from app.rows import answer_row
from retrieval.writing import whole


def run(arguments: argparse.Namespace) -> int:
    """For people the answer with its passages; for programs a JSON line, with the seconds that it took."""
    started = time.perf_counter()
    data = data_of(arguments)
    with data.open(arguments.collection) as collection:
        encoder = encoder_of(data.settings)
        sanitizer = sanitizer_of(data.settings, collection, encoder)
        model = generating_model_of(data.settings)
        bare = retriever_of(collection, encoder, search_of(data.settings))
        retriever = searching(collection, bare, sanitizer, defending(data.settings, model))
        (passages,) = retriever.retrieve([arguments.question], data.settings.retrieval.k)
        generator = answering(data.settings, collection, encoder, model, sanitizer)
        answer = whole(generator.write(arguments.question, passages))
    seconds = round(time.perf_counter() - started, 2)
    if for_people(arguments):
        show_answer(arguments.question, answer)
        return 0
    result({"question": arguments.question, **answer_row(answer), "seconds": seconds})
    return 0
