"""The public surface of a RAG system, as an attacker meets it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ingest.protocols import Encoder
from models.vectors import Vectors
from retrieval.documents import Answer
from retrieval.protocols import Generator, Retriever

QUESTIONS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class RagTarget:
    """Retrieve ``k`` passages, then generate."""

    retriever: Retriever
    generator: Generator
    k: int

    def ask(self, question: str) -> Answer:
        """The answer with the passages it was made from."""
        return self.generator.generate(question, self.retriever.retrieve([question], self.k)[0])


class RememberedQuestions:
    """An encoder that has read some questions before, in batches, and answers others like the one it wraps.

    The arms of an attack are asked the same questions, one at a time: encoding them then would take most of
    the attack. ``progress`` is told how many are encoded, and how many there are.
    """

    def __init__(
        self,
        encoder: Encoder,
        questions: Sequence[str],
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self._encoder = encoder
        self._known: dict[str, Vectors] = {}
        distinct = list(dict.fromkeys(questions))
        for first in range(0, len(distinct), QUESTIONS_AT_ONCE):
            batch = distinct[first : first + QUESTIONS_AT_ONCE]
            self._known |= zip(batch, encoder.encode(batch), strict=True)
            progress(len(self._known), len(distinct))

    @property
    def name(self) -> str:
        """That of the wrapped encoder."""
        return self._encoder.name

    @property
    def dim(self) -> int:
        """That of the wrapped encoder."""
        return self._encoder.dim

    @property
    def max_tokens(self) -> int:
        """That of the wrapped encoder."""
        return self._encoder.max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Those of the wrapped encoder."""
        return self._encoder.token_spans(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, dim), without the wrapped encoder if all texts are remembered."""
        if texts and all(text in self._known for text in texts):
            return np.stack([self._known[text] for text in texts])
        return self._encoder.encode(texts)


class RememberingEncoder:
    """An encoder that reads every text once: for indexes of one corpus that differ in few passages.

    Vectors are remembered for as long as it lives.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Vectors] = {}
        self.name, self.dim, self.max_tokens = encoder.name, encoder.dim, encoder.max_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Those of the wrapped encoder."""
        return self._encoder.token_spans(text)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, dim); only what is new goes to the wrapped encoder."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new or not texts:
            vectors = self._encoder.encode(new)
            if not texts:
                return vectors
            self._known |= zip(new, vectors, strict=True)
        return np.stack([self._known[text] for text in texts])
