"""Making a privacy-risk model from scored snippets: read, train, measure, write."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from models.errors import ConfigurationError
from models.trained import write_trained
from models.training.identifier_signals import identifier_signals
from models.training.optimizing import Progress
from models.training.risk import RiskRecipe, ScoredText, train_risk
from models.training.rubric import Snippet, held_out, read_snippets, records_of, shipped_snippets

FEWEST = 2
"""Snippets of a user's own from which a model can be trained at all."""


def make_risk(
    data: Path | None,
    labels: Path | None,
    output: Path,
    stand_ins: Mapping[str, str],
    recipe: RiskRecipe,
    report: Callable[[Progress], None],
) -> dict[str, Any]:
    """Train on the shipped snippets, or with them on a user's own in ``labels``; the model's card.

    ``data`` is the folder of the corpora that some snippets refer to; without it these are left out.
    ``stand_ins`` has for each label what is put in an entity's place. Raises ConfigurationError where a
    file does not do.
    """
    trained_on, measured = held_out(shipped_snippets(data))
    own = read_snippets(labels) if labels is not None else []
    if labels is not None and len(own) < FEWEST:
        raise ConfigurationError(f"{labels} holds {len(own)} snippets: give at least {FEWEST}.")
    texts = [scored(snippet) for snippet in (*trained_on, *own)]
    if data is not None:
        texts += identifier_signals(data, without=records_of(measured))
    began = time.time()
    weights = train_risk(texts, stand_ins, recipe, report)
    card = {
        "name": "lethe-risk" if labels is None else "lethe-risk+own",
        "kind": "hazard head over MiniLM's token states",
        "licence": "apache-2.0",
        "recipe": asdict(recipe),
        "snippets": dict(sorted(Counter(snippet.domain for snippet in [*trained_on, *own]).items())),
        "scored_mentions": sum(len(snippet.places) for snippet in [*trained_on, *own]),
        "further_mentions": sum(len(text.places) for text in texts if text.weight < 1),
        "seconds": round(time.time() - began),
        "trained": time.strftime("%Y-%m-%d"),
    }
    write_trained(output, "risk", weights, card)
    return card


def scored(snippet: Snippet) -> ScoredText:
    """A snippet as training reads it: the mean of its passes."""
    return ScoredText(snippet.text, snippet.places, snippet.labels, snippet.scores)
