"""Fine-tuning a transformer as a privacy-risk model on scored snippets, as TRIP-RAG did DeBERTa-v3-base."""

import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.corpora.documents import MarkedText, spia_texts
from models.corpora.labels import label_map
from models.corpora.rubric import Snippet
from models.encoders.bert import batches
from models.encoders.windows import Limits, windows
from models.encoders.words import words_of
from models.errors import ConfigurationError
from models.risk import Job, LabeledText, Reader, TransformerRisk, head_shapes, jobs_in, mention_hazards
from models.training.optimizing import Progress, Rates, optimizer_of, take_step

if TYPE_CHECKING:
    from torch import Tensor

    Parameters = dict[str, Tensor]


HARMLESS = 0.05
"""Scores up to this, the rubric's general terms, are trained as zero hazard.

Otherwise the hazards of many such terms in a long text would add up.
"""
SCORES: Mapping[str, float] = {"DIRECT": 0.9, "QUASI": 0.45, "NO_MASK": 0.1}
"""Midpoints of the rubric's ranges closest to the annotators' categories."""
WEIGHT = 0.1
"""Weight of a weakly labeled mention relative to one scored under the rubric."""
PASSAGE = Limits(tokens=150, overlap=0)


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A text, its mentions with scores in [0, 1], and its weight. Private."""

    text: str = field(repr=False)
    places: tuple[tuple[int, int], ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    scores: tuple[float, ...] = field(repr=False)
    weight: float = 1.0

    @property
    def marked(self) -> LabeledText:
        """The text as a risk model reads it."""
        return LabeledText(self.text, self.places, self.labels)


def scored(snippet: Snippet) -> ScoredText:
    """A snippet as training data, with the mean scores of its passes."""
    return ScoredText(snippet.text, snippet.places, snippet.labels, snippet.scores)


def identifier_signals(data: Path, without: Collection[str]) -> list[ScoredText]:
    """Cases in passages of 150 words, if the corpus is there; not those ``without`` names (spia/TAB-...)."""
    if not (data / "spia" / "tab_train.jsonl").is_file():
        return []
    cases = spia_texts(data, "tab_train")
    return [passage for case in cases if f"spia/{case.id}" not in without for passage in _passages(case)]


def _passages(case: MarkedText) -> Iterator[ScoredText]:
    names = label_map("spia_cases")
    marks = sorted(case.marks, key=lambda mark: mark.start)
    for window in windows(len(case.text), words_of(case.text), PASSAGE):
        inside = [mark for mark in marks if window.start <= mark.start and mark.end <= window.end]
        if inside:
            places = tuple((mark.start - window.start, mark.end - window.start) for mark in inside)
            labels = tuple(names[mark.label][0] for mark in inside)
            scores = tuple(SCORES[mark.identifier] for mark in inside)
            yield ScoredText(case.text[window.start : window.end], places, labels, scores, WEIGHT)


def varied(
    texts: Sequence[ScoredText], stand_ins: Mapping[str, str], masked: float, chance: random.Random
) -> list[ScoredText]:
    """The texts; each is masked with probability ``masked``, its entities with at most that probability."""
    return [
        with_masked_entities(each, stand_ins, masked * chance.random(), chance)
        if chance.random() < masked
        else each
        for each in texts
    ]


def with_masked_entities(
    text: ScoredText, stand_ins: Mapping[str, str], share: float, chance: random.Random
) -> ScoredText:
    """The text with all mentions of each entity replaced with probability ``share``.

    Remaining mentions keep their scores, so that the model learns to score residual text. At least one of
    several non-overlapping entities remains.
    """
    names = {text.text[start:end].casefold() for start, end in text.places}
    gone = {name for name in sorted(names) if chance.random() < share}
    if names and gone == names:
        gone.remove(chance.choice(sorted(names)))
    pieces: list[str] = []
    places, labels, scores = [], [], []
    at = length = 0
    for (start, end), label, score in sorted(zip(text.places, text.labels, text.scores, strict=True)):
        if start < at:
            continue
        name = text.text[start:end]
        word = stand_ins.get(label, f"a {label}") if name.casefold() in gone else name
        length += start - at
        pieces += [text.text[at:start], word]
        if name.casefold() not in gone:
            places.append((length, length + len(word)))
            labels.append(label)
            scores.append(score)
        length += len(word)
        at = end
    pieces.append(text.text[at:])
    return ScoredText("".join(pieces), tuple(places), tuple(labels), tuple(scores), text.weight)


def hazard_loss(hazards: "Tensor", scores: Sequence[float], weights: Sequence[float]) -> "Tensor":
    """Cross-entropy between 1 - exp(-H) and the scores; the loss of the embedded model too."""
    import torch

    hazards = hazards.float().clamp(1e-4, 20.0)
    given, counts = torch.tensor([scores, weights], dtype=torch.float32, device=hazards.device)
    targets = ((given - HARMLESS) / (1 - HARMLESS)).clamp(0.0, 0.99)
    losses = -targets * torch.log(-torch.expm1(-hazards)) + (1 - targets) * hazards
    return (losses * counts).sum() / counts.sum()


REPORT_EVERY = 20
"""Steps between two reports."""


@dataclass(frozen=True, slots=True)
class TransformerRecipe(Rates):
    """Hyperparameters of fine-tuning; the transformer keeps its own dropout."""

    seed: int = 20261120
    epochs: int = 10
    patience: int = 3
    """Epochs without a lower loss on the development part after which training ends."""
    tokens: int = 2048
    """In a batch, padding included."""
    layer_rate: float = 3e-5
    head_rate: float = 1e-3
    masked: float = 0.5
    """Probability of masking mentions in a text, and the highest probability per entity."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of a model's scores with the gold scores, over all mentions of some texts."""

    mentions: int
    loss: float
    """Cross-entropy of a mention, weighted by its text, in nats."""
    mean_error: float
    """Mean absolute difference of the scores, in [0, 1]."""
    spearman: float | None
    """Rank correlation; None where all scores of one side are the same."""


def fine_tune(
    reader: Reader,
    texts: Sequence[ScoredText],
    development: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    report: Callable[[Progress], None],
) -> "Parameters":
    """Train the whole transformer in place, and return a new head; both with the best epoch's weights.

    The best epoch has the lowest loss on ``development``, which is held out. ``stand_ins`` has the
    replacement for each label. Raises ConfigurationError if either part has no mention.
    """
    import torch

    if not all(any(text.places for text in part) for part in (texts, development)):
        raise ConfigurationError(
            "No mention is scored to learn from or to tell when to stop: give more scored snippets."
        )
    torch.manual_seed(recipe.seed)
    chance = random.Random(recipe.seed)
    head = new_head(reader)
    best, best_loss, since = _copy(reader, head), math.inf, 0
    for _ in _epochs(reader, head, texts, stand_ins, recipe, chance, report):
        loss = agreement(TransformerRisk("", reader, head), development).loss
        if loss < best_loss:
            best, best_loss, since = _copy(reader, head), loss, 0
        elif (since := since + 1) == recipe.patience:
            break
    reader.network.load_state_dict(best[0])
    return best[1]


def new_head(reader: Reader) -> "Parameters":
    """A freshly initialized head for a transformer."""
    import torch

    made: Parameters = {}
    for name, shape in head_shapes(reader.network).items():
        bound = 1 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.0
        weight = torch.empty(shape).uniform_(-bound, bound)
        made[name] = weight.to(reader.network.device).requires_grad_(True)
    return made


def agreement(model: TransformerRisk, texts: Sequence[ScoredText]) -> Agreement:
    """Agreement of a model on ``texts``, which need at least one mention."""
    import torch
    from scipy.stats import rankdata

    hazards = [hazard for of_text in model.hazards([text.marked for text in texts]) for hazard in of_text]
    scores = np.array([score for text in texts for score in text.scores])
    weights = [text.weight for text in texts for _ in text.scores]
    loss = hazard_loss(torch.tensor(hazards), scores.tolist(), weights)
    found = -np.expm1(-np.array(hazards))
    one, other = rankdata(found), rankdata(scores)
    spearman = float(np.corrcoef(one, other)[0, 1]) if np.ptp(one) and np.ptp(other) else None
    return Agreement(len(hazards), float(loss), float(np.abs(found - scores).mean()), spearman)


def _epochs(
    reader: Reader,
    head: "Parameters",
    texts: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    chance: random.Random,
    report: Callable[[Progress], None],
) -> Iterator[None]:
    """Train, yielding after each epoch with the transformer in evaluation mode."""
    parameters = {f"encoder.{name}": weight for name, weight in reader.network.named_parameters()} | head
    optimizer = optimizer_of(parameters, recipe)
    # The number of batches per epoch depends slightly on the masked mentions.
    steps = recipe.epochs * len(list(_batches(reader, texts, stand_ins, recipe, random.Random(0))))
    step, losses = 0, list[float]()
    while step < steps:
        reader.network.train()
        for jobs, masked in _batches(reader, texts, stand_ins, recipe, chance):
            step += 1
            mentions = [(masked[job.text], number) for job in jobs for number, _, _ in job.mentions]
            scores = [text.scores[number] for text, number in mentions]
            hazards = mention_hazards(reader, head, jobs, [text.marked for text in masked], recipe.dropout)
            loss = hazard_loss(hazards, scores, [text.weight for text, _ in mentions])
            take_step(optimizer, loss, parameters, step, steps, recipe)
            losses.append(float(loss.detach()))
            if step % REPORT_EVERY == 0 or step == steps:
                report(Progress(step, steps, sum(losses) / len(losses)))
                losses.clear()
            if step == steps:
                break
        reader.network.eval()
        yield


def _batches(
    reader: Reader,
    texts: Sequence[ScoredText],
    stand_ins: Mapping[str, str],
    recipe: TransformerRecipe,
    chance: random.Random,
) -> Iterator[tuple[list[Job], list[ScoredText]]]:
    """The windows of every text, in batches of similar length, and the texts; some are masked at random."""
    masked = varied(texts, stand_ins, recipe.masked, chance)
    jobs = list(jobs_in(reader, [text.marked for text in masked]))
    chance.shuffle(jobs)
    # Lengths in steps of 16, within which the order stays at random.
    rows = list(batches([math.ceil(len(job.ids) / 16) * 16 for job in jobs], recipe.tokens))
    chance.shuffle(rows)
    for of_batch in rows:
        yield [jobs[row] for row in of_batch], masked


def _copy(reader: Reader, head: "Parameters") -> "tuple[Parameters, Parameters]":
    """All weights as they are now, in the processor's memory."""
    network, copied = (
        {name: weight.detach().cpu().clone() for name, weight in part.items()}
        for part in (reader.network.state_dict(), head)
    )
    return network, copied
