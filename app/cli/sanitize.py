"""``lethe sanitize``."""

import argparse
from dataclasses import replace
from pathlib import Path

from app.cli.console import message, result
from app.cli.given import data_of, documents_of, under_public_ids
from app.compose import system_of
from app.ingesting import walk_of
from app.rows import sanitized_row
from app.sanitized_files import FileRefused, SanitizedFiles
from ingest.documents import SanitizedDocument
from ingest.errors import SanitizationError
from ingest.pipeline import Limits, batches
from models.errors import ConfigurationError


def run(arguments: argparse.Namespace) -> int:
    """One JSON object per document; failures go to standard error."""
    if arguments.overwrite and not arguments.output:
        raise ConfigurationError("--overwrite goes with --output: name the folder, or leave out --overwrite.")
    data = data_of(arguments)
    system = system_of(data.settings)
    if arguments.collection:
        with data.open(arguments.collection) as collection:
            system = replace(system, scale=collection.manifest.scale)
    sanitizer = system.sanitizer()
    files = None
    if arguments.output:
        files = SanitizedFiles(
            Path(arguments.output),
            arguments.paths,
            overwrite=arguments.overwrite,
            walk=walk_of(data.settings),
        )
    unread: list[str] = []
    failed = 0
    limits = data.settings.ingest
    documents = documents_of(arguments, data.settings, unread)
    for batch in batches(documents, Limits(limits.batch_documents, limits.batch_characters)):
        outcomes = sanitizer.sanitize(under_public_ids(data, batch))
        for document, outcome in zip(batch, outcomes, strict=True):
            try:
                _show(outcome, files)
            except (SanitizationError, FileRefused) as error:
                message(f"{document.place}: {error}")
                failed += 1
    return 1 if failed or unread else 0


def _show(outcome: SanitizedDocument | SanitizationError, files: SanitizedFiles | None) -> None:
    if isinstance(outcome, SanitizationError):
        raise outcome
    row = sanitized_row(outcome)
    if files is not None:
        path = files.write(outcome.doc_id, outcome.text)
        row = {**{name: value for name, value in row.items() if name != "text"}, "file": str(path)}
    result(row)
