"""``lethe synthesize``."""

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, TypeVar

from app.cli.console import current_phase_on, message, progress, result
from app.cli.given import documents_of, readings_of, settings_of
from app.rows import synthetic_row
from eval.progress import Progress
from ingest.documents import Document
from ingest.private_files import check_new, write_new
from ingest.read.sources import STDIN
from ingest.synthesizing.accounting import ACCOUNTANT, default_delta, guaranteed
from ingest.synthesizing.documents import SyntheticDocument
from ingest.synthesizing.ngrams import drawn, learned
from models.errors import ConfigurationError, LetheError

if TYPE_CHECKING:
    from models.language.tuning import CausalModel


DP_NGRAMS, NGRAMS = "DP n-gram synthesis, not DP-SGD", "n-gram synthesis"
DP_SGD, FINE_TUNING = "DP-SGD of a language model", "fine-tuning of a language model"
LARGE = 10.0
"""From this epsilon on the promise says next to nothing: a bet on a document is won in 99.995% of cases."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How many documents to invent, and what to promise: ``epsilon`` may be infinite, ``delta`` is for all n.

    A ``seeded`` generator voids the promise.
    """

    count: int
    epsilon: float
    delta: float | None
    seeded: bool

    @property
    def private(self) -> bool:
        """Whether anything is promised."""
        return not math.isinf(self.epsilon)

    def delta_of(self, n_documents: int) -> float:
        """The given delta, or that of so many documents.

        Raises:
            ConfigurationError: The given one would allow to publish one of them whole.
        """
        usual = default_delta(n_documents)
        if self.delta is not None and self.delta * n_documents >= 1:
            raise ConfigurationError(
                f"with a delta of {self.delta:g} one of {n_documents:,} documents could be published whole. "
                f"Leave out --delta, or give one below {usual:.2g}."
            )
        return usual if self.delta is None else self.delta


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The documents, the figures of how they were made, and sentences that say what is promised."""

    documents: Sequence[SyntheticDocument]
    figures: Mapping[str, object]
    sentences: Sequence[str]


def by_ngrams(
    documents: Sequence[Sequence[int]],
    asked: Asked,
    order: int,
    per_document: int,
    rng: Random,
    reported: Progress,
) -> Synthesis:
    """By noisy counts of n-grams, from the word pieces of documents.

    Raises:
        LetheError: There are too few documents to release anything.
    """
    from ingest.synthesizing.word_pieces import text_of

    delta = asked.delta_of(len(documents))
    guarantee = guaranteed(asked.epsilon, delta, per_document, order) if asked.private else None
    model = learned(documents, order, guarantee, rng, reported)
    texts = []
    for tokens in drawn(model, asked.count, rng):
        texts.append(text_of(tokens))
        reported("inventing", len(texts), asked.count)
    figures: dict[str, object] = {"ngrams_kept": list(model.kept)}
    if guarantee is None:
        return _synthesis(texts, NGRAMS, asked, delta, figures)
    figures |= {
        "accountant": ACCOUNTANT,
        "rho": guarantee.rho,
        "per_document": guarantee.per_document,
        "noise_variance": guarantee.variance,
        "threshold": guarantee.threshold,
    }
    shared = (
        f"what {guarantee.threshold:,} documents or so share may be in the file word by word: learn from "
        "sanitized documents."
    )
    return _synthesis(texts, DP_NGRAMS, asked, delta, figures, shared)


def by_model(
    model: "CausalModel",
    documents: Sequence[str],
    codes: Sequence[tuple[str, ...]],
    asked: Asked,
    epochs: int | None,
    rng: Random,
    reported: Progress,
) -> Synthesis:
    """By a language model that is fine-tuned on the documents behind their control codes, which are public.

    New documents are written behind codes of documents that are drawn at random.

    Raises:
        ModelUnavailable: opacus is needed and not installed, or cannot train this network.
    """
    from models.language.tuning import (
        CLIP,
        ORDINARY,
        PRIVATE,
        Recipe,
        fine_tune,
        fine_tune_privately,
        noise_for,
        prompt_of,
        written,
    )

    usual = PRIVATE if asked.private else ORDINARY
    recipe = Recipe(epochs or usual.epochs, usual.rate, usual.batch)
    delta = asked.delta_of(len(documents))
    records = [prompt_of(code) + text for code, text in zip(codes, documents, strict=True)]
    figures: dict[str, object] = {"epochs": recipe.epochs, "rate": recipe.rate}
    if asked.private:
        noise = noise_for(asked.epsilon, delta, len(records), recipe)
        fine_tune_privately(model, records, recipe, noise, rng, reported)
        figures |= {
            "accountant": noise.accountant,
            "epsilon_spent": noise.epsilon,
            "clip": CLIP,
            "noise_multiplier": noise.multiplier,
            "sample_rate": noise.sample_rate,
            "steps": noise.steps,
        }
    else:
        fine_tune(model, records, recipe, rng, reported)
    chosen = sorted(rng.choices(codes, k=asked.count))
    texts = []
    for text in written(model, [prompt_of(code) for code in chosen], rng):
        texts.append(text)
        reported("inventing", len(texts), asked.count)
    known = [
        "what the model learned before, and the control codes, are taken as public.",
        "what documents share may be in the file word by word: learn from sanitized documents.",
    ]
    if asked.private:
        known.append("the noise is torch's: floating-point numbers, and of a generator that can be guessed.")
    method = DP_SGD if asked.private else FINE_TUNING
    return _synthesis(texts, method, asked, delta, figures, *known, codes=chosen)


def _synthesis(
    texts: Sequence[str],
    method: str,
    asked: Asked,
    delta: float,
    figures: Mapping[str, object],
    *more: str,
    codes: Sequence[tuple[str, ...]] = (),
) -> Synthesis:
    if asked.private:
        privacy = f"epsilon {asked.epsilon:g}, delta {delta:.6g} for each document"
        privacy = f"none: {privacy}, but drawn from a seed" if asked.seeded else privacy
        promised: dict[str, object] = {"epsilon": asked.epsilon, "delta": delta}
        sentences = _in_words(asked, delta, more)
    else:
        privacy, promised = "none: epsilon is infinite", {"epsilon": None, "delta": None}
        sentences = [
            "no guarantee: epsilon is infinite, and the file quotes single documents. Keep it private.",
            *more,
        ]
    documents = [
        SyntheticDocument(f"synthetic-{number}", text, method, privacy, code)
        for number, (text, code) in enumerate(zip(texts, codes or [()] * len(texts), strict=True), 1)
    ]
    return Synthesis(documents, {"method": method, "privacy": privacy, **promised, **figures}, sentences)


def _in_words(asked: Asked, delta: float, more: Sequence[str]) -> list[str]:
    epsilon = asked.epsilon
    # (e^epsilon + delta) / (e^epsilon + 1), without a number too large.
    won = (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    said = [
        f"whether a document was read or not changes the probability of any output by at most e^{epsilon:g}-"
        f"fold, but for {delta:.6g}: a bet on it at even odds is won in at most {won:.3%} of cases.",
        "this is promised of each document as it was read, not of a person with several. The number of "
        "documents is taken as public.",
        *more,
    ]
    if epsilon >= LARGE:
        said.append(f"an epsilon of {epsilon:g} promises next to nothing. Below 10 it begins to count.")
    if asked.seeded:
        said.append("the guarantee is void: whoever guesses the seed takes the noise away. Leave out --seed.")
    return said


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
    of_ngrams = {"--order": arguments.order, "--per-document": arguments.per_document}
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
