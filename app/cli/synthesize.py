"""``lethe synthesize``."""

import argparse
import json
import math
import os
from pathlib import Path
from random import Random, SystemRandom

from app.cli.console import current_phase_on, message, progress, result
from app.cli.given import readings_of, settings_of
from app.rows import synthetic_row
from eval.progress import Progress
from ingest.errors import UnreadableDocument
from ingest.synthesizing.accounting import ACCOUNTANT, Guarantee, default_delta, guaranteed
from ingest.synthesizing.documents import synthetic_documents
from ingest.synthesizing.ngrams import METHOD, drawn, learned
from ingest.synthesizing.word_pieces import text_of, tokens_of
from ingest.temporary import temporary_file
from models.errors import ConfigurationError, LetheError

LARGE = 10.0
"""From this epsilon on the promise says next to nothing: a bet on a document is won in 99.995% of cases."""


def run(arguments: argparse.Namespace) -> int:
    """Invented documents in the file of --output, one JSON line on standard output that says what they keep.

    1 if a document could not be read.
    """
    output = Path(arguments.output)
    _check_new(output)
    rng = SystemRandom() if arguments.seed is None else Random(arguments.seed)
    with progress("done") as bar:
        reported = current_phase_on(bar)
        documents, unread = _read(arguments, reported)
        guarantee = _guarantee(arguments, len(documents))
        model = learned(documents, arguments.order, guarantee, rng, reported)
        texts = []
        for tokens in drawn(model, arguments.count, rng):
            texts.append(text_of(tokens))
            reported("inventing", len(texts), arguments.count)
    privacy = _privacy(guarantee, arguments.seed)
    rows = map(synthetic_row, synthetic_documents(texts, METHOD, privacy))
    _write(output, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    kept = {
        "file": str(output),
        "documents": len(texts),
        "truthful": False,
        "method": METHOD,
        "privacy": privacy,
        "ngrams_kept": list(model.kept),
    }
    result({**kept, **_figures(guarantee), "documents_read": len(documents), "documents_unread": unread})
    for sentence in _in_words(guarantee, arguments.seed):
        message(sentence)
    return int(unread > 0)


def _check_new(output: Path) -> None:
    if output.exists() or output.is_symlink():
        raise ConfigurationError(f"--output: {output} is there already. Name a new file.")
    if not output.absolute().parent.is_dir():
        raise ConfigurationError(f"--output: the folder of {output} is not there. Make it, or name another.")


def _read(arguments: argparse.Namespace, reported: Progress) -> tuple[list[list[int]], int]:
    """The tokens of the documents, and how many could not be read."""
    documents: list[list[int]] = []
    unread = 0
    for reading in readings_of(arguments, settings_of(arguments)):
        if isinstance(reading.item, UnreadableDocument):
            message(str(reading.item))
            unread += 1
        else:
            documents.append(tokens_of(reading.item.text))
            reported("reading", len(documents), None)
    if not documents:
        raise LetheError("There is no document to learn from: none of the paths could be read.")
    return documents, unread


def _guarantee(arguments: argparse.Namespace, n_documents: int) -> Guarantee | None:
    if math.isinf(arguments.epsilon):
        return None
    delta = arguments.delta or default_delta(n_documents)
    return guaranteed(arguments.epsilon, delta, arguments.per_document, arguments.order)


def _privacy(guarantee: Guarantee | None, seed: int | None) -> str:
    if guarantee is None:
        return "none: epsilon is infinite"
    promised = f"epsilon {guarantee.epsilon:g}, delta {guarantee.delta:.6g} for each document"
    return promised if seed is None else f"none: {promised}, but drawn from a seed"


def _figures(guarantee: Guarantee | None) -> dict[str, object]:
    if guarantee is None:
        return {"epsilon": None, "delta": None}
    return {
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "accountant": ACCOUNTANT,
        "rho": guarantee.rho,
        "per_document": guarantee.per_document,
        "noise_variance": guarantee.variance,
        "threshold": guarantee.threshold,
    }


def _in_words(guarantee: Guarantee | None, seed: int | None) -> list[str]:
    if guarantee is None:
        return ["no guarantee: epsilon is infinite, and the file quotes single documents. Keep it private."]
    epsilon, delta = guarantee.epsilon, guarantee.delta
    # (e^epsilon + delta) / (e^epsilon + 1), without a number too large.
    won = (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    said = [
        f"whether a document was read or not changes the probability of any output by at most e^{epsilon:g}-"
        f"fold, but for {delta:.6g}: a bet on it at even odds is won in at most {won:.3%} of cases.",
        "this is promised of each document, not of a person with several, and takes the number of documents "
        "as public.",
        f"what {guarantee.threshold:,} documents or so share may be in the file word by word: learn from "
        "sanitized documents.",
    ]
    if epsilon >= LARGE:
        said.append(f"an epsilon of {epsilon:g} promises next to nothing. Below 10 it begins to count.")
    if seed is not None:
        said.append("the guarantee is void: whoever guesses the seed takes the noise away. Leave out --seed.")
    return said


def _write(output: Path, content: str) -> None:
    """Write the file whole, readable by its owner only, and never over another one."""
    try:
        with temporary_file(output.absolute().parent, ".lethe-", content.encode()) as temporary:
            os.link(temporary, output)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LetheError(f"{output}: could not be written ({reason}). Name another file.") from None
