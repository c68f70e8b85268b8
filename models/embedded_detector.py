"""The embedded detector: our own GLiNER, run with torch alone over texts of any length."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import TYPE_CHECKING, Literal

from models.bert import CLS, SEP, WIDTH, batches, embed, padded, run_layers
from models.catalog import ModelRef
from models.errors import ConfigurationError, ModelUnavailable
from models.gliner_forward import WIDEST, label_vectors, span_logits
from models.minilm import MiniLM, released
from models.packs import packs
from models.trained import read_trained
from models.windows import FoundSpan, Limits, Window, merge, windows
from models.words import pieces_of, words_of

if TYPE_CHECKING:
    from models.bert import Weights

WINDOW = Limits(tokens=250, overlap=2 * WIDEST, size=250)
"""Words, of at most so many word pieces; neighbors share twice the widest span, so each is seen whole."""
_BATCH_TOKENS = 2048
_WINDOWS_AT_ONCE = 512
"""Bounds memory: so many windows are laid out before any of them is read."""


@dataclass(frozen=True, slots=True)
class _Job:
    """One window of one text, as the network reads it. Private."""

    text: int
    window: Window
    ids: list[int] = field(repr=False)
    firsts: list[int] = field(repr=False)


Profile = Literal["balanced", "recall"]
"""Which of a detector's fitted thresholds hold: the best balance, or fewer misses for more false alarms."""


def load_detector(
    model: ModelRef, labels: Sequence[str], profile: Profile = "balanced", threshold: float | None = None
) -> "EmbeddedDetector":
    """A detector that ``lethe models train-detector`` made; without a ``threshold`` by its own ones.

    Raises ModelUnavailable where its files are not there or not whole, ConfigurationError without labels.
    """
    if not labels:
        raise ConfigurationError("The detector has no labels to look for: give at least one.")
    trained = read_trained(model, "detector")
    try:
        fitted = trained.card["thresholds"][profile]
    except (KeyError, TypeError):
        raise ModelUnavailable(
            f"The detector model {trained.name} has no thresholds for the profile {profile}:",
            "train it again with 'lethe models train-detector'.",
        ) from None
    chosen = {label: threshold or float(fitted.get(label, fitted[""])) for label in labels}
    return EmbeddedDetector(trained.name, trained.weights, labels, chosen)


class EmbeddedDetector:
    """Finds the spans of a text that fit labels given as words. Safe to use from several threads."""

    def __init__(
        self, name: str, weights: "Weights", labels: Sequence[str], thresholds: Mapping[str, float]
    ) -> None:
        """``weights`` are those of training; ``thresholds`` in (0, 1) hold for every label.

        Raises KeyError for a label without a threshold.
        """
        import torch

        self.name = name
        self.labels = tuple(dict.fromkeys(labels))
        self._released = released()
        self._weights = {**self._released.weights, **weights}
        limits = [thresholds[label] for label in self.labels]
        self._limits = torch.tensor([log(limit / (1 - limit)) for limit in limits])
        with torch.inference_mode():
            self._vectors = label_vectors(self._weights, MiniLM().means(self.labels))

    def find(self, texts: Sequence[str]) -> list[list[FoundSpan]]:
        """The spans of each text, by start; spans of one label do not overlap, those of two may.

        The answer for a text depends on its neighbors only as far as floating-point sums do.
        """
        found: list[list[tuple[Window, list[FoundSpan]]]] = [[] for _ in texts]
        places = [words_of(text) for text in texts]
        for jobs in packs(self._jobs(texts, places), _WINDOWS_AT_ONCE):
            for rows in batches([len(job.ids) for job in jobs], _BATCH_TOKENS):
                chosen = [jobs[row] for row in rows]
                for job, spans in zip(chosen, self._read(chosen, places), strict=True):
                    found[job.text].append((job.window, spans))
        return [widened(merge(of_text, words), words) for of_text, words in zip(found, places, strict=True)]

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

    def _read(
        self, jobs: Sequence[_Job], places: Sequence[Sequence[tuple[int, int]]]
    ) -> list[list[FoundSpan]]:
        import torch

        with torch.inference_mode():
            hits, scores = self._hits(jobs)
        found: list[list[FoundSpan]] = [[] for _ in jobs]
        for (row, first, more, column), score in zip(hits, scores, strict=True):
            words = places[jobs[row].text]
            begin = jobs[row].window.first + first
            found[row].append(
                FoundSpan(words[begin][0], words[begin + more][1], self.labels[column], 1 / (1 + exp(-score)))
            )
        return [disjoint(spans) for spans in found]

    def _hits(self, jobs: Sequence[_Job]) -> tuple[list[list[int]], list[float]]:
        """Row, first word, further words and label of each span that reaches its limit, and its logit."""
        import torch
        from torch.nn import functional

        ids, real = padded([job.ids for job in jobs])
        firsts, is_word = padded([job.firsts for job in jobs])
        states = run_layers(self._weights, embed(self._weights, ids), real)
        of_words = torch.gather(states, 1, firsts[:, :, None].expand(-1, -1, WIDTH))
        logits = span_logits(self._weights, of_words, self._vectors)
        inside = functional.pad(is_word, (0, WIDEST - 1)).unfold(1, WIDEST, 1)
        hit = (logits >= self._limits) & inside[:, :, :, None]
        return hit.nonzero().tolist(), logits[hit].tolist()


def disjoint(spans: Sequence[FoundSpan]) -> list[FoundSpan]:
    """Of overlapping spans of one label the one with the best score, as GLiNER decodes them."""
    kept: dict[str, list[FoundSpan]] = {}
    for span in sorted(spans, key=lambda s: (-s.score, s.start, s.end, s.label)):
        others = kept.setdefault(span.label, [])
        if all(span.end <= other.start or other.end <= span.start for other in others):
            others.append(span)
    return [span for of_label in kept.values() for span in of_label]


def widened(spans: Sequence[FoundSpan], words: Sequence[tuple[int, int]]) -> list[FoundSpan]:
    """Spans by start, those of one label disjoint; wide mentions, which were learned in pieces, are whole.

    What is at least as wide as a span can be and touches the next of its label is one with it. So are spans
    that overlap: two windows that see different parts of a wide mention cut it at different words.
    """
    numbers = {start: number for number, (start, _) in enumerate(words)}
    last: dict[str, FoundSpan] = {}
    done: list[FoundSpan] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end, s.label)):
        before = last.pop(span.label, None)
        if before is not None and _continues(before, span, words, numbers):
            end = max(before.end, span.end)
            span = FoundSpan(before.start, end, span.label, max(before.score, span.score))
        elif before is not None:
            done.append(before)
        last[span.label] = span
    return sorted([*done, *last.values()], key=lambda s: (s.start, s.end, s.label))


def _continues(
    before: FoundSpan, span: FoundSpan, words: Sequence[tuple[int, int]], numbers: Mapping[int, int]
) -> bool:
    if span.start < before.end:
        return True
    first, second = numbers.get(before.start), numbers.get(span.start)
    if first is None or second is None or second - first < WIDEST:
        return False
    return words[second - 1][1] == before.end
