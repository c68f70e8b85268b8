"""``lethe search``."""

import argparse

from app.cli.console import result
from app.cli.given import data_of
from app.cli.people import for_people, show_passages
from app.compose import (
    defending,
    encoder_of,
    generating_model_of,
    retriever_of,
    sanitizer_of,
    search_of,
    searching,
)
from app.rows import passage_row


def run(arguments: argparse.Namespace) -> int:
    """The passages, best first; for programs one JSON line each."""
    data = data_of(arguments)
    with data.open(arguments.collection) as collection:
        encoder = encoder_of(data.settings)
        sanitizer = sanitizer_of(data.settings, collection, encoder)
        model = generating_model_of(data.settings) if data.settings.retrieval.rewrite_questions else None
        bare = retriever_of(collection, encoder, search_of(data.settings))
        retriever = searching(collection, bare, sanitizer, defending(data.settings, model))
        (found,) = retriever.retrieve([arguments.question], data.settings.retrieval.k)
    if for_people(arguments):
        show_passages(arguments.question, found)
        return 0
    for retrieved in found:
        result(passage_row(retrieved))
    return 0
