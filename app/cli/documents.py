"""``lethe documents``: the documents of a collection, or one of them."""

import argparse

from app.cli.console import result
from app.cli.given import data_of
from app.cli.people import for_people, show_document, show_rows
from app.erasing import names_of
from app.rows import document_row, kept_row
from retrieval.collection import UnknownDocument


def run(arguments: argparse.Namespace) -> int:
    """For people a table; for programs a JSON line per document: ids, time, size, and what was not read."""
    data = data_of(arguments)
    with data.open(arguments.collection) as collection:
        if arguments.document is not None:
            names = names_of(data, collection, arguments.document)
            passages = next(filter(None, map(collection.store.passages_of, names)), None)
            if not passages:
                raise UnknownDocument(
                    f"{arguments.collection} has no such document: lethe documents -c {arguments.collection} "
                    "lists all."
                )
            if for_people(arguments):
                show_document(passages)
            else:
                result(document_row(passages, collection.store.ledger(passages[0].doc_id)))
            return 0
        rows = map(kept_row, collection.store.documents())
        if for_people(arguments):
            show_rows(rows, ("title", "doc_id", "kept_at", "characters", "passages"))
            return 0
        for row in rows:
            result(row)
    return 0
