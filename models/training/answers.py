"""Teaching the answer reader on questions over the marked passages.

``questions.jsonl`` has for each question the places of the sentences that answer it, often none. A passage is
read as it would be found in a collection, with its marks replaced, and sometimes as it was written; and with
some questions a passage is read that another one would have been found for, in which nothing answers.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from models.answers import HEADS, LOWER, Row, logits, rows_of
from models.catalog import ModelRef
from models.corpora.passages import FOLDER, Passage, Rendered, passages
from models.corpora.rubric import rows_of as lines_of
from models.encoders.bert import run_layers
from models.encoders.e5 import LAYERS, Trunk, trunk
from models.encoders.numbers import fastest
from models.trained import read_trained, write_trained
from models.training.optimizing import Progress, Rates, optimizer_of, packed, take_step, with_new_head

if TYPE_CHECKING:
    from torch import Tensor

Span = tuple[int, int]
RenderedOf = Callable[[Passage, bool, random.Random], Rendered]
"""A passage with its marks replaced, or as it was written."""
HELD_BACK = 12
"""One passage of so many is held back, to say how often the reader is right."""


@dataclass(frozen=True, slots=True)
class AnswerRecipe:
    """How it is taught. ``plain`` and ``elsewhere`` are shares of questions that are asked once more.

    With ``plain`` they are asked of the passage as it was written, with ``elsewhere`` of another passage.
    """

    rates: Rates = Rates(layer_rate=1.5e-4, head_rate=1e-3, warmup=0.06)
    epochs: float = 1.0
    pieces: int = 6000
    """Pieces of a step."""
    plain: float = 0.1
    elsewhere: float = 0.35
    beside: float = 0.5
    """The share that is read of rows without the answer, where another row of the text has it."""
    known: int = 9_550
    again: float = 0.3
    """Of so many first questions, which another answer reader that it starts from was taught, this share is
    asked again; without a start all are."""
    near: int = 6
    """Another passage is one of so many whose vectors are nearest to the question."""
    lead_weight: float = 0.3
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Example:
    """A row, which of its sentences answer, and of these which need the sentence before."""

    row: Row
    answers: Sequence[bool]
    led: Sequence[bool]
    question: str = field(repr=False)


def examples_of(
    rendered: RenderedOf, recipe: AnswerRecipe, model: Trunk, known: int
) -> tuple[list[Example], list[Example]]:
    """What is learned from, with the share ``recipe.again`` of the first ``known``, and what is held back."""
    chance = random.Random(recipe.seed)
    there = {each.name: each for each in passages("learn")}
    asked = _questions(known, recipe.again, chance)
    versions = {name: rendered(there[name], True, chance) for name in asked}
    near = _nearest(model, asked, versions, recipe.near)
    learned, held_back = list[Example](), list[Example]()
    for name, questions in asked.items():
        last = _is_held_back(name)
        plain = rendered(there[name], False, chance)
        for row in questions:
            question = str(row["question"])
            read = [(versions[name], row)]
            if not last and chance.random() < recipe.plain:
                read.append((plain, row))
            if not last and chance.random() < recipe.elsewhere:
                read.append((versions[chance.choice(near[question])], {"answers": []}))
            for version, gold in read:
                rows = [*_read(model, question, version, gold)]
                answered = any(any(each.answers) for each in rows)
                for each in rows:
                    if last:
                        held_back.append(each)
                    elif any(each.answers) or not answered or chance.random() < recipe.beside:
                        learned.append(each)
    return learned, held_back


def _questions(known: int, again: float, chance: random.Random) -> dict[str, list[dict[str, Any]]]:
    asked: dict[str, list[dict[str, Any]]] = {}
    for number, (_, row) in enumerate(lines_of(FOLDER / "questions.jsonl")):
        if number >= known or _is_held_back(str(row["id"])) or chance.random() < again:
            asked.setdefault(str(row["id"]), []).append(dict(row))
    return asked


def _is_held_back(passage: str) -> bool:
    return crc32(passage.encode()) % HELD_BACK == 0


def _read(model: Trunk, question: str, version: Rendered, gold: dict[str, Any]) -> Iterator[Example]:
    words, text = model.splitter.words([question, version.text])
    told = [version.place_of((start, end)) for start, end in gold["answers"]]
    lead = version.place_of(tuple(gold["lead"])) if gold.get("lead") else None
    answers = [any(covers(sentence, each) for each in told) for sentence in version.sentences]
    leads = [lead is not None and covers(sentence, lead) for sentence in version.sentences]
    for row in rows_of(words, text, version.sentences):
        led = [bool(number) and leads[number - 1] for number in row.numbers]
        yield Example(row, [answers[number] for number in row.numbers], led, question)


def covers(sentence: Span, told: Span) -> bool:
    """Whether they share half of the shorter one, at least."""
    shared = min(sentence[1], told[1]) - max(sentence[0], told[0])
    return shared > 0 and 2 * shared >= min(sentence[1] - sentence[0], told[1] - told[0])


def _nearest(
    model: Trunk, asked: dict[str, list[dict[str, Any]]], versions: dict[str, Rendered], most: int
) -> dict[str, list[str]]:
    from models.encoders.e5 import E5Small

    encoder, names = E5Small(numbers=fastest()), list(asked)
    rows = encoder.encode([versions[name].text for name in names])
    found: dict[str, list[str]] = {}
    for name, questions in asked.items():
        texts = [str(row["question"]) for row in questions]
        similar = encoder.encode(texts) @ rows.T
        for text, row in zip(texts, similar, strict=True):
            first = [names[place] for place in np.argsort(-row)[: most + 1]]
            found[text] = [each for each in first if each != name][:most]
    return found


def make_answers(
    rendered: RenderedOf,
    output: Path,
    recipe: AnswerRecipe,
    report: Callable[[Progress], None],
    start: ModelRef | None = None,
) -> dict[str, Any]:
    """Teach an answer reader, from the encoder or from ``start``, and write it into ``output``; its card."""
    import torch

    began = time.time()
    torch.manual_seed(recipe.seed)
    model = trunk(numbers=fastest())
    learned, held_back = examples_of(rendered, recipe, model, recipe.known if start else 0)
    before = read_trained(start, "answers") if start else None
    if before:
        first = dict(before.weights)
    else:
        layers = {f"encoder.layer.{number}." for number in range(LOWER, LAYERS)}
        whole = trunk().weights.items()
        first = with_new_head({name: each for name, each in whole if name.startswith(tuple(layers))}, HEADS)
    weights = _taught(model, first, learned, recipe, report)
    card = {
        "name": "lethe-answers",
        "kind": "which sentence answers, by four layers over eight of multilingual-e5-small",
        "licence": "apache-2.0",
        "recipe": asdict(recipe),
        "started_from": before.card if before else "the encoder",
        "questions": len({each.question for each in learned}),
        "rows": len(learned),
        "held_back": shares_right(model, weights, held_back),
        "seconds": round(time.time() - began),
        "trained": time.strftime("%Y-%m-%d"),
    }
    write_trained(output, "answers", weights, card)
    return card


def _taught(
    model: Trunk,
    first: "dict[str, Tensor]",
    examples: Sequence[Example],
    recipe: AnswerRecipe,
    report: Callable[[Progress], None],
) -> "dict[str, Tensor]":
    import torch
    from torch.nn import functional
    from torch.nn.utils.rnn import pad_sequence

    chance = random.Random(recipe.seed)
    weights = with_new_head(first, {})
    optimizer = optimizer_of(weights, recipe.rates)
    kept = _lower(model, [each.row for each in examples])
    one = _batches(examples, chance, recipe.pieces)
    step, steps = 0, max(1, round(len(one) * recipe.epochs))
    while step < steps:
        for batch in one[: steps - step]:
            rows = [examples[number].row for number in batch]
            states = pad_sequence([kept[number].float() for number in batch], batch_first=True)
            lengths = torch.tensor([len(kept[number]) for number in batch])
            real = torch.arange(states.shape[1])[None, :] < lengths[:, None]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                states = run_layers(weights, states, real, range(LOWER, LAYERS), recipe.rates.dropout)
            losses = []
            for number, (told, none) in zip(batch, logits(weights, states.float(), rows), strict=True):
                each = examples[number]
                said = torch.log_softmax(torch.cat([none, told[:, 0]]), dim=0)
                right = torch.tensor(each.answers)
                if not right.any():
                    losses.append(-said[0])
                    continue
                led = torch.tensor(each.led).float()[right]
                led_loss = functional.binary_cross_entropy_with_logits(told[right][:, 1], led)
                losses += [-torch.logsumexp(said[1:][right], dim=0), recipe.lead_weight * led_loss]
            loss = torch.stack(losses).sum() / len(batch)
            step += 1
            take_step(optimizer, loss, weights, step, steps, recipe.rates)
            report(Progress(step, steps, float(loss)))
        one = _batches(examples, chance, recipe.pieces)
    return {name: weight.detach() for name, weight in weights.items()}


def _batches(examples: Sequence[Example], chance: random.Random, most: int) -> list[list[int]]:
    lengths = [len(each.row.pieces) for each in examples]
    order = sorted(range(len(examples)), key=lambda number: lengths[number] + 40 * chance.random())
    made = [*packed(order, lengths.__getitem__, most)]
    chance.shuffle(made)
    return made


def _lower(model: Trunk, rows: Sequence[Row]) -> "list[Tensor]":
    """The states that the taught layers read; they stay the same, so they are made once."""
    import torch

    made: dict[int, Tensor] = {}
    order = sorted(range(len(rows)), key=lambda number: len(rows[number].pieces))
    with torch.inference_mode():
        for some in packed(order, lambda number: len(rows[number].pieces), 8192):
            states, _ = model.states([rows[number].pieces for number in some], LOWER)
            for place, number in enumerate(some):
                made[number] = states[place, : len(rows[number].pieces)].bfloat16().clone()
    return [made[number] for number in range(len(rows))]


def shares_right(model: Trunk, weights: "dict[str, Tensor]", examples: Sequence[Example]) -> dict[str, float]:
    """How often the best sentence answers, of questions with an answer in their row.

    ``nothing`` is the share of rows without an answer whose best sentence is less likely than none.
    """
    import torch

    right, nothing, led = list[bool](), list[bool](), list[bool]()
    with torch.inference_mode():
        for each in examples:
            states, real = model.states([each.row.pieces], LOWER)
            states = run_layers(weights, states, real, range(LOWER, LAYERS))
            ((told, none),) = logits(weights, states, [each.row])
            best = int(told[:, 0].argmax())
            if any(each.answers):
                right.append(each.answers[best])
                rows = zip(told[:, 1], each.led, each.answers, strict=True)
                led += [(float(logit) > 0) == wanted for logit, wanted, said in rows if said]
            else:
                nothing.append(float(told[best, 0]) < float(none))
    shares = {"right": right, "nothing": nothing, "led": led}
    counts = {"questions": len(right), "unanswered": len(nothing)}
    return counts | {name: round(float(np.mean(hits)), 3) for name, hits in shares.items()}
