"""``lethe sanitize``."""

import argparse
import sys
from collections.abc import Iterator

from app.cli.console import message, result
from app.cli.given import services_of
from app.rows import sanitized_row
from ingest.documents import Document
from ingest.errors import SanitizationError, UnreadableDocument
from ingest.pipeline import Limits, batches
from ingest.read.sources import read_documents


def run(arguments: argparse.Namespace) -> int:
    """One JSON object per document; what could not be read or sanitized is told on standard error."""
    services = services_of(arguments)
    scale = services.scale
    if arguments.collection:
        with services.open(arguments.collection) as collection:
            scale = collection.manifest.scale
    sanitizer = services.sanitizer(scale=scale)
    failed = 0

    def readable() -> Iterator[Document]:
        nonlocal failed
        for reading in read_documents(
            arguments.paths,
            text_field=arguments.text_field,
            id_field=arguments.id_field,
            stdin=sys.stdin.buffer,
        ):
            if isinstance(reading.item, UnreadableDocument):
                message(str(reading.item))
                failed += 1
            else:
                yield reading.item

    limits = services.settings.ingest
    for batch in batches(readable(), Limits(limits.batch_documents, limits.batch_characters)):
        for outcome in sanitizer.sanitize(batch):
            if isinstance(outcome, SanitizationError):
                message(str(outcome))
                failed += 1
            else:
                result(sanitized_row(outcome))
    return 1 if failed else 0
