"""``lethe synthesize``."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random, SystemRandom
from typing import TypeVar

from app.cli.console import current_phase_on, message, progress, result
from app.cli.given import documents_of, readings_of, settings_of
from app.rows import synthetic_row
from app.synthesizing import Asked, Synthesis, by_model, by_ngrams
from eval.progress import Progress
from ingest.documents import Document
from ingest.private_files import check_new, write_new
from ingest.read.sources import STDIN
from models.errors import ConfigurationError, LetheError

ORDER, PER_DOCUMENT = 3, 100

Read = TypeVar("Read")


def run(arguments: argparse.Namespace) -> int:
    """Invented documents in the file of --output, one JSON line on standard output that says what they keep.

    1 if a document could not be read.
    """
    output = Path(arguments.output)
    _check(arguments, output)
    with progress("done") as bar:
        made, read, unread = _made(arguments, current_phase_on(bar))
    rows = [json.dumps(synthetic_row(each), ensure_ascii=False) for each in made.documents]
    write_new(output, "".join(f"{row}\n" for row in rows))
    about = {"file": str(output), "documents": len(rows), "synthetic": True, "truthful": False}
    result({**about, **made.figures, "documents_read": read, "documents_unread": unread})
    for sentence in made.sentences:
        message(sentence)
    return int(unread > 0)


def _check(arguments: argparse.Namespace, output: Path) -> None:
    of_model = {"--code": arguments.code, "--epochs": arguments.epochs}
    of_ngrams = {
        "--order": arguments.order,
        "--per-document": arguments.per_document,
    }
    for name, value in (of_ngrams if arguments.model else of_model).items():
        if value is None:
            continue
        if arguments.model:
            raise ConfigurationError(f"{name} is of n-grams, and not for --model. Leave one of them out.")
        raise ConfigurationError(f"{name} goes with --model. Name both, or leave {name} out.")
    if arguments.code and STDIN in arguments.paths:
        raise ConfigurationError("--code reads records twice, which standard input cannot be: name a file.")
    check_new(output, "--output")


def _made(arguments: argparse.Namespace, reported: Progress) -> tuple[Synthesis, int, int]:
    """What was invented, from how many documents, and how many could not be read."""
    rng = SystemRandom() if arguments.seed is None else Random(arguments.seed)
    asked = Asked(arguments.count, arguments.epsilon, arguments.delta, seeded=arguments.seed is not None)
    if arguments.model:
        from models.language.tuning import load_causal

        model = load_causal(arguments.model)
        documents, unread = _read(arguments, lambda document: document, reported)
        texts, codes = [document.text for document in documents], _codes(arguments, documents)
        made = by_model(model, texts, codes, asked, arguments.epochs, rng, reported)
        return made, len(documents), unread
    from ingest.synthesizing.word_pieces import tokens_of

    tokens, unread = _read(arguments, lambda document: tokens_of(document.text), reported)
    order, most = arguments.order or ORDER, arguments.per_document or PER_DOCUMENT
    return by_ngrams(tokens, asked, order, most, rng, reported), len(tokens), unread


def _codes(arguments: argparse.Namespace, documents: Sequence[Document]) -> list[tuple[str, ...]]:
    """The control codes of each document: what the fields of --code say, read as texts of the records."""
    found: list[dict[str, str]] = []
    for name in arguments.code or ():
        fields = argparse.Namespace(**{**vars(arguments), "text_field": name})
        read = (reading.item for reading in readings_of(fields, settings_of(arguments)))
        # By place: two records may have one id.
        said = {each.place: " ".join(each.text.split()) for each in read if isinstance(each, Document)}
        if missing := [document.place for document in documents if document.place not in said]:
            raise LetheError(
                f"{missing[0]}: has no text in the field {name!r}, and {len(missing) - 1:,} more have none. "
                "Name a field of --code that all records have."
            )
        found.append(said)
    return [tuple(each[document.place] for each in found) for document in documents]


def _read(
    arguments: argparse.Namespace, taken: Callable[[Document], Read], reported: Progress
) -> tuple[list[Read], int]:
    """What is taken of each document, and how many could not be read."""
    documents: list[Read] = []
    unread: list[str] = []
    for document in documents_of(arguments, settings_of(arguments), unread):
        documents.append(taken(document))
        reported("reading", len(documents), None)
    if not documents:
        raise LetheError("There is no document to learn from: none of the paths could be read.")
    return documents, len(unread)
