"""What adaptive attacks share: asking one question, and reading passages out of an answer."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eval.attacks.judging import attempts
from eval.attacks.words import WORDS
from eval.documents import AttackPrompt, Attempt
from eval.measures.leakage import STOP_WORDS
from eval.protocols import Target
from ingest.protocols import Encoder
from models.vectors import Vectors
from retrieval.citations import NO_ANSWER

USER = (
    "An untrusted user of a trusted server: asks any question, sees the answers, knows none of the "
    "documents, and has a text encoder."
)
FEWEST_WORDS = 3
"""A shorter piece of an answer is no passage."""
_MARKS = re.compile(r"\s*(?:\[\d+\]\s*)+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMON = frozenset(WORDS)


def asked(target: Target, number: int, kind: str, text: str) -> Attempt:
    """One question and its answer; an error of the target gives an attempt without one."""
    return next(attempts(target, [AttackPrompt(number, kind, text)]))


def pieces_of(attempt: Attempt) -> list[str]:
    """The pieces of an answer that its marks end, each once; none where nothing was answered."""
    said = attempt.answer.text if attempt.answer else NO_ANSWER
    if said == NO_ANSWER:
        return []
    pieces = dict.fromkeys(each.strip() for each in _MARKS.split(said))
    return [each for each in pieces if len(each.split()) >= FEWEST_WORDS]


def content_words(text: str) -> list[str]:
    """Its different words that are no stop words, in order."""
    words = dict.fromkeys(word.casefold() for word in _WORD.findall(text))
    return [word for word in words if word not in STOP_WORDS]


def rare_words(text: str, most: int) -> list[str]:
    """Words that are not common, the longest first; what a text is about, by a rule."""
    rare = (word for word in content_words(text) if word not in _COMMON)
    return sorted(rare, key=lambda word: -len(word))[:most]


class Seen:
    """Texts by their vectors: how near a new one is to the nearest of them.

    ``vectors`` has shape (texts, dim), in the order in which the texts were noted.
    ``crowded`` is the highest cosine of each to another one, -1 where there is none.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.texts: list[str] = []
        self.crowded: NDArray[np.float64] = np.empty(0)
        self.vectors: Vectors = np.empty((0, encoder.dim), np.float32)

    def nearest(self, vectors: Vectors) -> NDArray[np.float64]:
        """The highest cosine of each vector to a text seen; -1 where there is none."""
        highest: NDArray[np.float64] = (vectors @ self.vectors.T).max(axis=1, initial=-1.0).astype(np.float64)
        return highest

    def add(self, text: str, vector: Vectors) -> None:
        """Note a text."""
        near = (self.vectors @ vector).astype(np.float64)
        self.crowded = np.append(np.maximum(self.crowded, near), near.max(initial=-1.0))
        self.texts.append(text)
        self.vectors = np.concatenate([self.vectors, vector[None]])

    def news(self, texts: Sequence[str], same: float) -> list[str]:
        """Note the texts that are less alike than ``same`` to all before; returns these."""
        new: list[str] = []
        if texts:
            for text, vector in zip(texts, self._encoder.encode(texts), strict=True):
                if self.nearest(vector[None])[0] < same:
                    self.add(text, vector)
                    new.append(text)
        return new


def softmax(values: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Shares that sum to 1."""
    powers = np.exp((values - values.max()) / temperature)
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares
