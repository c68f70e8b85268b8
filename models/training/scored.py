"""Texts with scored mentions: from snippets, from weak labels, and augmented for training."""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from models.corpora.documents import MarkedText, spia_texts
from models.corpora.labels import label_map
from models.corpora.rubric import Snippet
from models.encoders.windows import Limits, windows
from models.encoders.words import words_of
from models.risk.protocol import LabeledText

if TYPE_CHECKING:
    from torch import Tensor

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
    """The training cases in passages of 150 words; none where the corpus is not in the folder.

    ``without`` names the records that are measured on, as ``spia/TAB-...``: these are left out.
    """
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
            yield ScoredText(
                text=case.text[window.start : window.end],
                places=tuple((mark.start - window.start, mark.end - window.start) for mark in inside),
                labels=tuple(names[mark.label][0] for mark in inside),
                scores=tuple(SCORES[mark.identifier] for mark in inside),
                weight=WEIGHT,
            )


def varied(
    texts: Sequence[ScoredText], stand_ins: Mapping[str, str], masked: float, chance: random.Random
) -> list[ScoredText]:
    """The texts; each is masked with probability ``masked``, its entities with at most that probability."""
    return [
        with_masked_entities(text, stand_ins, masked * chance.random(), chance)
        if chance.random() < masked
        else text
        for text in texts
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
    given = torch.tensor(scores, dtype=torch.float32, device=hazards.device)
    counts = torch.tensor(weights, dtype=torch.float32, device=hazards.device)
    targets = ((given - HARMLESS) / (1 - HARMLESS)).clamp(0.0, 0.99)
    losses = -targets * torch.log(-torch.expm1(-hazards)) + (1 - targets) * hazards
    return (losses * counts).sum() / counts.sum()
