"""The text encoder that all requests share."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future

import numpy as np

from ingest.protocols import Encoder
from models.vectors import Vectors

MOST_TEXTS = 64
"""Texts that are joined at most: the first of them waits for the last."""

_Asked = tuple[Sequence[str], Future[Vectors]]


class JoinedEncoder:
    """Joins what several threads ask for while others are at work: a model reads short texts faster together.

    At most ``at_once`` threads run the model; who comes alone waits for nobody. Vectors do not depend on what
    they are made with, but for rounding.
    """

    def __init__(self, encoder: Encoder, at_once: int) -> None:
        self._encoder = encoder
        self._turns = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._waiting: list[_Asked] = []

    @property
    def name(self) -> str:
        """The name of the encoder."""
        return self._encoder.name

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._encoder.dim

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model reads."""
        return self._encoder.max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token of the whole text."""
        return self._encoder.token_spans(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, dim); raises what the encoder raises for these texts."""
        found: Future[Vectors] = Future()
        with self._lock:
            self._waiting.append((texts, found))
        with self._turns:
            taken = self._taken(found)
            if len(taken) > 1:
                self._answer(taken)
            elif taken:
                return self._encoder.encode(texts)
        return found.result()

    def _taken(self, own: "Future[Vectors]") -> "list[_Asked]":
        """One's own texts with others that wait; none if another thread has taken them."""
        with self._lock:
            if not any(found is own for _, found in self._waiting):
                return []
            taken: list[_Asked] = []
            count = 0
            for each in sorted(self._waiting, key=lambda each: each[1] is not own):
                count += len(each[0])
                if taken and count > MOST_TEXTS:
                    break
                taken.append(each)
            self._waiting = [each for each in self._waiting if each not in taken]
            return taken

    def _answer(self, taken: "Sequence[_Asked]") -> None:
        try:
            vectors = self._encoder.encode([text for texts, _ in taken for text in texts])
            ends = np.cumsum([len(texts) for texts, _ in taken])
            for (_, found), rows in zip(taken, np.split(vectors, ends[:-1]), strict=True):
                found.set_result(rows)
        except Exception:
            # Which of the texts it was is not known: each caller is answered for its own.
            for texts, found in taken:
                _settle(found, self._encoder, texts)


def _settle(found: "Future[Vectors]", encoder: Encoder, texts: Sequence[str]) -> None:
    if found.done():
        return
    try:
        found.set_result(encoder.encode(texts))
    except Exception as error:
        found.set_exception(error)
