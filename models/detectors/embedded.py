"""The embedded detector: our own GLiNER, run with torch alone over texts of any length."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from models.catalog import ModelRef
from models.detectors.need import WordNeeds
from models.detectors.network import MUSTS, NEED, label_vectors, need_logits, read_detector, word_logits
from models.detectors.words import FoundSpan, WordHit, pieces_of, spans_of, words_of
from models.encoders.bert import CLS, SEP, WIDTH, batches, embed, padded, run_layers
from models.encoders.minilm import MiniLM, released
from models.encoders.numbers import Numbers, cast
from models.encoders.windows import Limits, Window, windows
from models.errors import ConfigurationError, ModelUnavailable
from models.packs import packs
from models.trained import Trained

if TYPE_CHECKING:
    from torch import Tensor

    from models.encoders.bert import Weights

WINDOW = Limits(tokens=250, overlap=24, size=250)
"""Window limits in words and word pieces; neighboring windows overlap, so that each word has context."""
WEAK = frozenset(
    ("a", "an", "the", "and", "or", "but", "of", "in", "on", "at", "to", "for", "from", "by", "with", "as")
    + ("is", "was", "are", "were", "has", "had", "have", "will", "be", "been", "not", "that", "which", "who")
    + ("when", "it", "he", "she", "they", "i", "we", "you", "his", "her", "its", "their")
    + ("into", "than", "then")
)
"""Words that begin or end no mention, in lower case."""
_BATCH_TOKENS = 2048
_WINDOWS_AT_ONCE = 512
"""Bounds memory: the number of windows prepared at a time."""


@dataclass(frozen=True, slots=True)
class _Job:
    """One window of one text, as the network reads it. Private."""

    text: int
    window: Window
    ids: list[int] = field(repr=False)
    firsts: list[int] = field(repr=False)


Profile = Literal["balanced", "recall"]
"""Threshold profile: the best balance, or fewer misses with more false positives."""


def load_detector(
    model: ModelRef,
    labels: Sequence[str],
    profile: Profile = "balanced",
    threshold: float | None = None,
    numbers: Numbers = "float32",
) -> "EmbeddedDetector":
    """A detector that ``lethe models train-detector`` made; without a ``threshold`` by its own ones.

    Raises ModelUnavailable where its files are not there or not whole, ConfigurationError without labels.
    """
    return load_detectors(model, labels, (profile,), threshold, numbers)[0]


def load_detectors(
    model: ModelRef,
    labels: Sequence[str],
    profiles: Sequence[Profile],
    threshold: float | None = None,
    numbers: Numbers = "float32",
    device: str = "cpu",
) -> "list[EmbeddedDetector]":
    """As ``load_detector``, one for each profile and on a device; all share their weights."""
    if not labels:
        raise ConfigurationError("The detector has no labels to look for: give at least one.")
    trained = read_detector(model)
    chosen = [_thresholds(trained, labels, profile, threshold) for profile in profiles]
    learned = trained.card.get("labels", ())
    first = EmbeddedDetector(trained.name, trained.weights, labels, chosen[0], learned, numbers, device)
    return [first, *(first.at(others) for others in chosen[1:])]


def _thresholds(
    trained: Trained, labels: Sequence[str], profile: Profile, threshold: float | None
) -> dict[str, float]:
    try:
        fitted = trained.card["thresholds"][profile]
    except (KeyError, TypeError):
        raise ModelUnavailable(
            f"The detector model {trained.name} has no thresholds for the profile {profile}:",
            "train it again with 'lethe models train-detector'.",
        ) from None
    return {label: threshold or float(fitted.get(label, fitted[""])) for label in labels}


class EmbeddedDetector:
    """Finds the spans of a text that fit labels given as words. Safe to use from several threads."""

    def __init__(
        self,
        name: str,
        weights: "Weights",
        labels: Sequence[str],
        thresholds: Mapping[str, float],
        learned: Iterable[str] = (),
        numbers: Numbers = "float32",
        device: str = "cpu",
    ) -> None:
        """``weights`` are those of training; ``thresholds`` in (0, 1) hold for every label.

        ``learned`` are the label names used in training, empty if unknown. Raises KeyError for a label
        without a threshold.
        """
        import torch

        self.name = name
        self.learned = frozenset(learned)
        self.labels = tuple(dict.fromkeys(labels))
        self._released = released(device)
        own = {name: weight.to(device) for name, weight in weights.items()}
        self._weights = cast({**self._released.weights, **own}, numbers)
        self._device = device
        self._heads = {name.removesuffix(".weight") for name in weights}
        self._limits = _logits([thresholds[label] for label in self.labels], device)
        with torch.inference_mode():
            self._vectors = label_vectors(self._weights, MiniLM(device).means(self.labels))

    def at(self, thresholds: Mapping[str, float]) -> "EmbeddedDetector":
        """The same detector with other thresholds; both share their weights."""
        other = copy(self)
        other._limits = _logits([thresholds[label] for label in self.labels], self._device)
        return other

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        """The spans of each text, by start; spans of one label do not overlap, those of two may.

        The answer for a text depends on its neighbors only as far as floating-point sums do.
        """
        return [spans for spans, _ in self.judged(texts)]

    def judged(self, texts: Sequence[str]) -> list[tuple[list[FoundSpan], WordNeeds | None]]:
        """The spans of each text, and what its words need; None of a model that did not learn needs."""
        places = [words_of(text) for text in texts]
        found: list[list[WordHit]] = [[] for _ in texts]
        read: list[list[_Reading]] = [[] for _ in texts]
        for reading in self._readings(texts, places):
            found[reading.job.text] += reading.hits
            read[reading.job.text].append(reading)
        return [
            (spans_of(hits, words), _joined(text, words, readings) if NEED in self._heads else None)
            for text, hits, words, readings in zip(texts, found, places, read, strict=True)
        ]

    def hits(self, texts: Sequence[str], places: Sequence[Sequence[tuple[int, int]]]) -> list[list[WordHit]]:
        """The words of each text that reach the threshold of a label, window after window.

        ``places`` are the words of each text.
        """
        hits: list[list[WordHit]] = [[] for _ in texts]
        for reading in self._readings(texts, places):
            hits[reading.job.text] += reading.hits
        return hits

    def _readings(
        self, texts: Sequence[str], places: Sequence[Sequence[tuple[int, int]]]
    ) -> "Iterator[_Reading]":
        """Every window, in the order of the texts, whatever order they are read in."""
        for jobs in packs(self._jobs(texts, places), _WINDOWS_AT_ONCE):
            read: dict[int, _Reading] = {}
            for rows in batches([len(job.ids) for job in jobs], _BATCH_TOKENS, self._device):
                read.update(zip(rows, self._read([jobs[row] for row in rows]), strict=True))
            yield from (read[row] for row in range(len(jobs)))

    def _jobs(self, texts: Sequence[str], places: Sequence[Sequence[tuple[int, int]]]) -> Iterator[_Job]:
        for number, (text, words) in enumerate(zip(texts, places, strict=True)):
            pieces = pieces_of(self._released.tokenizer, [text[start:end] for start, end in words])
            sizes = [len(piece) for piece in pieces]
            for window in windows(len(text), words, WINDOW, sizes):
                ids, firsts = [CLS], []
                for piece in pieces[window.first : window.last]:
                    firsts.append(len(ids))
                    ids += piece
                if firsts:
                    yield _Job(number, window, [*ids, SEP], firsts)

    def _read(self, jobs: Sequence[_Job]) -> "list[_Reading]":
        """For each window the words that reach the threshold of a label, and what all its words need."""
        import torch

        with torch.inference_mode():
            ids, real = padded([job.ids for job in jobs], self._device)
            firsts, is_word = padded([job.firsts for job in jobs], self._device)
            states = run_layers(self._weights, embed(self._weights, ids), real)
            of_words = torch.gather(states, 1, firsts[:, :, None].expand(-1, -1, WIDTH))
            inside, begin = word_logits(self._weights, of_words, self._vectors)
            hit = (inside >= self._limits) & is_word[:, :, None]
            scores, begins = inside[hit].sigmoid().tolist(), (begin[hit] >= 0).tolist()
            needs = _needs_of(self._weights, of_words) if NEED in self._heads else None
        found: list[list[WordHit]] = [[] for _ in jobs]
        for (row, word, column), score, first in zip(hit.nonzero().tolist(), scores, begins, strict=True):
            found[row].append(WordHit(jobs[row].window.first + word, self.labels[column], score, first))
        return [
            _Reading(job, hits, () if needs is None else [each[row, : len(job.firsts)] for each in needs])
            for row, (job, hits) in enumerate(zip(jobs, found, strict=True))
        ]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read of a window: hits, and the arrays of ``WordNeeds`` in their order. Private."""

    job: _Job = field(repr=False)
    hits: list[WordHit] = field(repr=False)
    needs: Sequence[NDArray[Any]] = field(repr=False)


def _needs_of(weights: "Weights", of_words: "Tensor") -> list[NDArray[Any]]:
    """The arrays of ``WordNeeds``, each with an axis for the rows before."""
    begins, musts, kinds, identifiers = need_logits(weights, of_words)
    found = (begins[..., 0].sigmoid(), musts.softmax(-1), kinds.argmax(-1), identifiers.argmax(-1))
    return [each.cpu().numpy() for each in found]


def _joined(text: str, places: Sequence[tuple[int, int]], readings: Sequence[_Reading]) -> WordNeeds:
    """The windows of a text as one; of a word in two of them, the reading farther from an edge counts."""
    arrays: list[list[NDArray[Any]]] = [[], [], [], []]
    for number, reading in enumerate(readings):
        window = reading.job.window
        first = window.first if not number else (window.first + readings[number - 1].job.window.last) // 2
        last = window.last
        if number + 1 < len(readings):
            last = (readings[number + 1].job.window.first + window.last) // 2
        for array, part in zip(arrays, reading.needs, strict=True):
            array.append(part[first - window.first : last - window.first])
    shapes = ((0,), (0, MUSTS), (0,), (0,))
    types = (np.float32, np.float32, np.int64, np.int64)
    joined = [
        np.concatenate([np.empty(shape, kind), *each])
        for shape, kind, each in zip(shapes, types, arrays, strict=True)
    ]
    gaps = ((one[1], other[0]) for one, other in pairwise(places))
    lines = frozenset(word for word, gap in enumerate(gaps, start=1) if "\n" in text[slice(*gap)])
    weak = frozenset(word for word, (start, end) in enumerate(places) if _is_weak(text[start:end]))
    begins, musts, kinds, identifiers = joined
    return WordNeeds(places, begins, musts, kinds, identifiers, lines, weak)


def _logits(limits: Sequence[float], device: str) -> "Tensor":
    import torch

    return torch.tensor([log(limit / (1 - limit)) for limit in limits], device=device)


def _is_weak(word: str) -> bool:
    return word in WEAK or not any(map(str.isalnum, word))
