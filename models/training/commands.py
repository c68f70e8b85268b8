"""The commands ``lethe models train-...``: train, measure, write."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from models.attributes import KnownTexts, weights_of
from models.catalog import ModelRef, describe, folder_of
from models.corpora.rubric import BLOCK, Snippet, held_out, read_snippets, records_of, shipped_snippets
from models.errors import ConfigurationError
from models.fields import weights_of as weights_of_fields
from models.judges import ClaimPair, information
from models.local_files import quiet
from models.risk import Reader, TransformerRisk, read_encoder
from models.trained import write_trained
from models.training.attributes import AttributeRecipe, trained_head
from models.training.fields import (
    FeaturesOf,
    FieldRecipe,
    field_examples,
    field_names,
    is_held_back,
    right_share,
    train_head,
)
from models.training.judge import JudgeRecipe, aligned, train_judge, within_bounds
from models.training.optimizing import Progress
from models.training.transformer_risk import (
    TransformerRecipe,
    agreement,
    fine_tune,
    identifier_signals,
    scored,
)

if TYPE_CHECKING:
    from torch import Tensor

FEWEST = 2
"""Minimum number of user snippets for training."""
HELD_BACK = 8
"""Every eighth document's claims are held back from the judge."""
DEVELOPMENT = 10
"""Every tenth block of neighboring snippets is the development part for early stopping."""


def _snippets(data: Path | None, labels: Path | None) -> tuple[list[Snippet], list[Snippet]]:
    """The training snippets, including a user's own in ``labels``, and the held-out ones."""
    learned, measured = held_out(shipped_snippets(data))
    own = read_snippets(labels) if labels is not None else []
    if labels is not None and len(own) < FEWEST:
        raise ConfigurationError(f"{labels} holds {len(own)} snippets: give at least {FEWEST}.")
    return [*learned, *own], measured


def _when(began: float) -> dict[str, Any]:
    return {"seconds": round(time.time() - began), "trained": time.strftime("%Y-%m-%d")}


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def make_transformer_risk(
    encoder: ModelRef,
    data: Path | None,
    labels: Path | None,
    output: Path,
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    report: Callable[[Progress], None],
) -> dict[str, Any]:
    """Fine-tune ``encoder`` on the shipped snippets, or with them on a user's own; the model's card.

    ``data`` is the folder of the corpora that some snippets refer to; without it these are left out.
    ``stand_ins`` has for each label what is put in an entity's place. Raises ConfigurationError where a file
    does not do, ModelUnavailable where the transformer is not on this machine.
    """
    snippets, measured = _snippets(data, labels)
    folder, name = folder_of(encoder, "risk"), Path(encoder.name).name
    if output.resolve() == folder.resolve():
        raise ConfigurationError(
            f"{output} holds the transformer itself: write the model into another folder."
        )
    reader = read_encoder(encoder, name)
    learned, development = split(snippets)
    texts = [scored(snippet) for snippet in learned]
    if data is not None:
        texts += identifier_signals(data, without=records_of([*measured, *development]))
    stops = [scored(snippet) for snippet in development]
    began = time.time()
    head = fine_tune(reader, texts, stops, stand_ins, recipe, report)
    model = TransformerRisk(name, reader, head)
    known, pulled = describe(encoder.name), encoder.source == "hub"
    card = {
        "name": f"{name}-risk" if labels is None else f"{name}-risk+own",
        "kind": "transformer fine-tuned with a hazard head",
        # Of a folder only its name.
        "encoder": encoder.name if pulled else folder.name,
        "revision": folder.name if pulled else None,
        "licence": known.licence if known else "that of the transformer",
        "recipe": asdict(recipe),
        "snippets": _counted(snippet.domain for snippet in learned),
        "scored_mentions": sum(len(snippet.places) for snippet in learned),
        "further_mentions": sum(len(text.places) for text in texts if text.weight < 1),
        **_when(began),
        "development": asdict(agreement(model, stops)),
        "held_out": asdict(agreement(model, [scored(snippet) for snippet in measured])),
    }
    write_transformer_risk(output, reader, head, card)
    return card


def write_transformer_risk(
    folder: Path, reader: Reader, head: "Mapping[str, Tensor]", card: Mapping[str, Any]
) -> None:
    """Write the transformer as its library does, and head and card beside it; all weights in 16 bits."""
    halved = {name: weight.half() for name, weight in reader.network.state_dict().items()}
    with quiet():
        reader.network.save_pretrained(folder, state_dict=halved)
        reader.tokenizer.save_pretrained(folder)
    write_trained(folder, "risk", head, card)


def make_judge(
    pairs: Sequence[tuple[ClaimPair, Sequence[str]]],
    output: Path,
    recipe: JudgeRecipe,
    report: Callable[[Progress], None],
) -> dict[str, Any]:
    """Train on claims with the parts of their texts; write the claim-support model; its card.

    Every eighth document is held back, to say on how many of its pairs the model keeps to the rules. Raises
    ConfigurationError where the pairs do not show all three levels.
    """
    began = time.time()
    learned: list[tuple[ClaimPair, Sequence[str]]] = []
    held_back: list[tuple[ClaimPair, Sequence[str]]] = []
    for pair, parts in pairs:
        last = crc32(pair.group.encode()) % HELD_BACK == 0
        (held_back if last else learned).append((pair, parts))
    told = information(part for _, parts in learned for part in parts)
    weights = train_judge(aligned(learned, told), told, recipe, report)
    card = {
        "name": "lethe-judge",
        "kind": "ordinal head over aligned token states of the frozen MiniLM",
        "licence": "apache-2.0",
        "recipe": asdict(recipe),
        "examples": _counted(pair.kind for pair, _ in learned),
        "corpora": _counted(pair.group.split()[0] for pair, _ in learned),
        "held_back": len(held_back),
        "within_bounds": within_bounds(weights, aligned(held_back, told)),
        **_when(began),
    }
    write_trained(output, "judge", weights, card)
    return card


def make_attributes(
    texts: Sequence[KnownTexts], output: Path, recipe: AttributeRecipe, report: Callable[[str], None]
) -> dict[str, Any]:
    """Train a head for each attribute and write those that are better than guessing; the card.

    Better is a head that is right more often than the most frequent value of each corpus, on people that it
    did not learn from; the others are named in the card. Raises ConfigurationError where none is.
    """
    began = time.time()
    heads, figures = [], {}
    for each in texts:
        head, found = trained_head(each, recipe, report)
        figures[each.attribute] = found.figures
        if found.beats_prior:
            heads.append(head)
    if not heads:
        raise ConfigurationError("No head is better than guessing: give more text of the corpora.")
    shipped = {head.attribute: list(head.values) for head in heads}
    card = {
        "name": "lethe-attributes",
        "kind": "conditional logits over vectors of the frozen MiniLM and counted clues",
        "licence": "apache-2.0",
        "recipe": asdict(recipe),
        "examples": _counted(name for each in texts for name in each.corpora),
        "values": shipped,
        "left_out": sorted(figures.keys() - shipped.keys()),
        "held_apart": figures,
        **_when(began),
    }
    write_trained(output, "attributes", weights_of(heads), card)
    return card


def make_fields(
    features_of: FeaturesOf, output: Path, recipe: FieldRecipe, report: Callable[[str], None]
) -> dict[str, Any]:
    """Train and write the head of fields; the card, with figures of one that learned nine in ten names."""
    began = time.time()
    examples = field_examples(recipe.records, recipe.seed)
    held_back = [each for each in examples if is_held_back(each)]
    learned = [each for each in examples if not is_held_back(each)]
    report(f"learning from {len(learned):,} fields, to measure")
    figures = right_share(train_head(learned, features_of, recipe), held_back, features_of)
    report(f"learning from {len(examples):,} fields")
    head = train_head(examples, features_of, recipe)
    card = {
        "name": "lethe-fields",
        "learned": "|".join(field_names()),
        "kind": "multinomial logits over hashed words, letters and shapes of names and cells",
        "licence": "apache-2.0",
        "recipe": asdict(recipe),
        "kinds": list(head.kinds),
        "examples": len(examples),
        "names_not_learned": figures,
        **_when(began),
    }
    write_trained(output, "fields", weights_of_fields(head), card)
    return card


def split(snippets: Sequence[Snippet]) -> tuple[list[Snippet], list[Snippet]]:
    """The training and the development part, every tenth block of five neighbors; no record is in both."""
    development, others = list[Snippet](), list[Snippet]()
    for number, snippet in enumerate(snippets):
        last = number // BLOCK % DEVELOPMENT == DEVELOPMENT - 1
        (development if last else others).append(snippet)
    records = records_of(development)
    return [snippet for snippet in others if snippet.record not in records], development
