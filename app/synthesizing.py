"""Synthetic documents by either method, and what is promised of the documents that it learned from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from eval.progress import Progress
from ingest.synthesizing.accounting import ACCOUNTANT, default_delta, guaranteed
from ingest.synthesizing.documents import SyntheticDocument
from ingest.synthesizing.ngrams import drawn, learned
from models.errors import ConfigurationError

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
