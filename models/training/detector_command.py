"""Making a detector from a folder of corpora: read, train, fit thresholds, write."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.embedded_detector import EmbeddedDetector
from models.errors import ConfigurationError
from models.trained import write_trained
from models.training.corpora import corpora_in, read_corpora
from models.training.detector import Recipe, train_detector
from models.training.examples import Example
from models.training.optimizing import Progress
from models.training.phrases import PHRASES
from models.training.synthetic.generate import synthetic_examples
from models.training.thresholds import LOWEST, PROFILES, apart, fit, tallied
from models.words import words_of

if TYPE_CHECKING:
    from torch import Tensor

SYNTHETIC = 25_000
"""Invented texts beside the corpora; so many that few are read twice."""
FITTED_TEXTS = 2_000
"""At most so many texts are read to fit thresholds."""


def make_detector(
    data: Path,
    output: Path,
    recipe: Recipe,
    leave_out: Collection[str],
    report: Callable[[Progress], None],
    finish: Recipe | None,
) -> dict[str, Any]:
    """Train on ``data`` by ``recipe``, then by ``finish``; write the detector into ``output``; its card.

    Raises ConfigurationError where the folder holds no corpus that is known.
    """
    used = [name for name in corpora_in(data) if name not in leave_out]
    if not used:
        raise ConfigurationError(f"{data} holds no corpus that the detector could learn from.")
    trained_on, development = apart(
        [*read_corpora(data, "train", leave_out), *synthetic_examples(SYNTHETIC, recipe.seed)]
    )
    began = time.time()
    steps = recipe.steps + (0 if finish is None else finish.steps)

    def told(progress: Progress, before: int = 0) -> None:
        report(Progress(before + progress.step, steps, progress.loss))

    weights = train_detector(trained_on, recipe, told)
    if finish is not None:
        weights = train_detector(trained_on, finish, partial(told, before=recipe.steps), start=weights)
    seconds = time.time() - began
    thresholds = fitted(weights, development[:: max(1, len(development) // FITTED_TEXTS)])
    card = {
        "name": "lethe-detector",
        "kind": "GLiNER bi-encoder, span mode markerV0, and heads over words",
        "licence": "apache-2.0",
        "recipe": asdict(recipe),
        "finish": None if finish is None else asdict(finish),
        "left_out": sorted(leave_out),
        "labels": learned_names(trained_on),
        "examples": dict(sorted(Counter(example.corpus for example in trained_on).items())),
        "characters": sum(len(example.text) for example in trained_on),
        "seconds": round(seconds),
        "trained": time.strftime("%Y-%m-%d"),
        "thresholds": thresholds,
    }
    write_trained(output, "detector", weights, card)
    return card


def learned_names(examples: Sequence[Example]) -> list[str]:
    """The labels that mentions of the examples have, by every name that training asks for them by."""
    labels = {mention.label for example in examples for mention in example.mentions}
    return sorted({name for label in labels for name in (label, *PHRASES.get(label, ()))})


def fitted(weights: "dict[str, Tensor]", development: Sequence[Example]) -> dict[str, dict[str, float]]:
    """For each profile the threshold of each label; under the empty name that of all others."""
    labels = sorted({label for example in development for label in example.asked})
    # The thresholds must fit the weights as they are kept, in 16 bits.
    kept = {name: weight.half().float() for name, weight in weights.items()}
    detector = EmbeddedDetector("new", kept, labels, dict.fromkeys(labels, LOWEST))
    texts = [example.text for example in development]
    places = [words_of(text) for text in texts]
    tallies = tallied(development, places, detector.hits(texts, places))
    return {profile.name: fit(tallies, profile) for profile in PROFILES}
