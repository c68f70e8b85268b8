"""The embedded detector: our own GLiNER, run with torch alone over texts of any length."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Literal

from models.catalog import ModelRef
from models.detectors.network import label_vectors, read_detector, word_logits
from models.detectors.words import FoundSpan, WordHit, pieces_of, spans_of, words_of
from models.encoders.bert import CLS, SEP, WIDTH, batches, embed, padded, run_layers
from models.encoders.minilm import MiniLM, released
from models.encoders.windows import Limits, Window, windows
from models.errors import ConfigurationError, ModelUnavailable
from models.packs import packs

if TYPE_CHECKING:
    from models.encoders.bert import Weights

WINDOW = Limits(tokens=250, overlap=24, size=250)
"""Window limits in words and word pieces; neighboring windows overlap, so that each word has context."""
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
    model: ModelRef, labels: Sequence[str], profile: Profile = "balanced", threshold: float | None = None
) -> "EmbeddedDetector":
    """A detector that ``lethe models train-detector`` made; without a ``threshold`` by its own ones.

    Raises ModelUnavailable where its files are not there or not whole, ConfigurationError without labels.
    """
    if not labels:
        raise ConfigurationError("The detector has no labels to look for: give at least one.")
    trained = read_detector(model)
    try:
        fitted = trained.card["thresholds"][profile]
    except (KeyError, TypeError):
        raise ModelUnavailable(
            f"The detector model {trained.name} has no thresholds for the profile {profile}:",
            "train it again with 'lethe models train-detector'.",
        ) from None
    chosen = {label: threshold or float(fitted.get(label, fitted[""])) for label in labels}
    return EmbeddedDetector(trained.name, trained.weights, labels, chosen, trained.card.get("labels", ()))


class EmbeddedDetector:
    """Finds the spans of a text that fit labels given as words. Safe to use from several threads."""

    def __init__(
        self,
        name: str,
        weights: "Weights",
        labels: Sequence[str],
        thresholds: Mapping[str, float],
        learned: Iterable[str] = (),
    ) -> None:
        """``weights`` are those of training; ``thresholds`` in (0, 1) hold for every label.

        ``learned`` are the label names used in training, empty if unknown. Raises KeyError for a label
        without a threshold.
        """
        import torch

        self.name = name
        self.learned = frozenset(learned)
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
        places = [words_of(text) for text in texts]
        found = self.hits(texts, places)
        return [spans_of(hits, words) for hits, words in zip(found, places, strict=True)]

    def hits(self, texts: Sequence[str], places: Sequence[Sequence[tuple[int, int]]]) -> list[list[WordHit]]:
        """The words of each text that reach the threshold of a label, window after window.

        ``places`` are the words of each text.
        """
        hits: list[list[WordHit]] = [[] for _ in texts]
        for jobs in packs(self._jobs(texts, places), _WINDOWS_AT_ONCE):
            of_jobs: list[list[WordHit]] = [[] for _ in jobs]
            for rows in batches([len(job.ids) for job in jobs], _BATCH_TOKENS):
                for row, of_job in zip(rows, self._read([jobs[row] for row in rows]), strict=True):
                    of_jobs[row] = of_job
            # In the order of the text, whatever order the windows were read in.
            for job, of_job in zip(jobs, of_jobs, strict=True):
                hits[job.text] += of_job
        return hits

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

    def _read(self, jobs: Sequence[_Job]) -> list[list[WordHit]]:
        """For each window the words that reach the threshold of a label."""
        import torch

        with torch.inference_mode():
            ids, real = padded([job.ids for job in jobs])
            firsts, is_word = padded([job.firsts for job in jobs])
            states = run_layers(self._weights, embed(self._weights, ids), real)
            of_words = torch.gather(states, 1, firsts[:, :, None].expand(-1, -1, WIDTH))
            inside, begin = word_logits(self._weights, of_words, self._vectors)
            hit = (inside >= self._limits) & is_word[:, :, None]
            scores, begins = inside[hit].sigmoid().tolist(), (begin[hit] >= 0).tolist()
        found: list[list[WordHit]] = [[] for _ in jobs]
        for (row, word, column), score, first in zip(hit.nonzero().tolist(), scores, begins, strict=True):
            found[row].append(WordHit(jobs[row].window.first + word, self.labels[column], score, first))
        return found
